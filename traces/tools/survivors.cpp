#include "traces/tools/survivors.hpp"

namespace replay {

void Survivors::keep(SwfRecord& record) {
  if (record.preceding >= 0 && (record.preceding == record.job || !numbers_.contains(record.preceding))) {
    record.preceding = -1;
    record.think_time = kUnknownTime;
    ++orphans_;
  }
  if (record.job >= 0) numbers_.insert(record.job);
}

}  // namespace replay
