// Why a job is killed, and which outcome it has for that.
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler/model/event.hpp"

namespace replay {

enum class KillReason : std::uint8_t { kPolicy, kOverrun, kCancelled, kInterrupted };

[[nodiscard]] constexpr Outcome outcome_of(KillReason reason) {
  switch (reason) {
    case KillReason::kOverrun: return Outcome::kOverrun;
    case KillReason::kCancelled: return Outcome::kCancelled;
    case KillReason::kPolicy:
    case KillReason::kInterrupted: return Outcome::kKilled;
  }
  return Outcome::kKilled;
}

[[nodiscard]] constexpr std::string_view to_text(KillReason reason) {
  switch (reason) {
    case KillReason::kPolicy: return "policy";
    case KillReason::kOverrun: return "overrun";
    case KillReason::kCancelled: return "cancelled";
    case KillReason::kInterrupted: return "interrupted";
  }
  return "?";
}

}  // namespace replay
