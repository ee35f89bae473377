#include "scheduler/model/event.hpp"

namespace replay {

std::string_view to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted: return "completed";
    case Outcome::kFailed: return "failed";
    case Outcome::kOverrun: return "overrun";
    case Outcome::kKilled: return "killed";
    case Outcome::kCancelled: return "cancelled";
    case Outcome::kRejected: return "rejected";
  }
  return "?";
}

std::string_view to_text(Verification verification) {
  switch (verification) {
    case Verification::kNone: return "none";
    case Verification::kPassed: return "passed";
    case Verification::kFailed: return "failed";
  }
  return "?";
}

}  // namespace replay
