#include "scheduler/model/job.hpp"

namespace replay {

std::string_view to_text(Flexibility flexibility) {
  switch (flexibility) {
    case Flexibility::kRigid: return "rigid";
    case Flexibility::kMoldable: return "moldable";
    case Flexibility::kMalleable: return "malleable";
  }
  return "?";
}

}  // namespace replay
