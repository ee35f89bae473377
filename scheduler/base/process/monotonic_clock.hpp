// The common clock of all processes of a node and of the times in the segments: ns of CLOCK_MONOTONIC.
#pragma once

#include <time.h>

#include <cstdint>

namespace replay {

[[nodiscard]] inline std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace replay
