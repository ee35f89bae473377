// Measured CPU utilisation of formula (3): the share of its time that a rank does not spend blocked in MPI. It is
// meaningful only while the job is expanded and runs: on a shared core a rank also waits for its turn, and a stopped
// rank does not run at all. So advance() is called before either of the two changes, and the meter adds up the right
// intervals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "launcher/agent/cores/job_segment.hpp"

namespace replay::launcher {

/// For one rank.
class CpuUseMeter {
 public:
  /// Everything from the last call until `now` counts if `was_expanded`.
  void advance(const JobSegment::Times& times, std::uint64_t now, bool was_expanded) {
    if (times.init == 0) return;  // MPI_Init is not part of the program
    const std::uint64_t end = std::max(from_, times.finalize != 0 ? std::min(times.finalize, now) : now);
    const std::uint64_t begin = std::max(from_, times.init);
    const std::uint64_t blocked = std::max(times.blocked, blocked_before_);
    if (was_expanded && end > begin) {
      expanded_ns_ += end - begin;
      blocked_ns_ += std::min(blocked - blocked_before_, end - begin);
    }
    from_ = end;
    blocked_before_ = blocked;
  }

  /// 0..1. Nothing: no time was counted.
  [[nodiscard]] std::optional<double> cpu_use() const {
    if (expanded_ns_ == 0) return std::nullopt;
    return 1.0 - static_cast<double>(blocked_ns_) / static_cast<double>(expanded_ns_);
  }

 private:
  std::uint64_t from_ = 0;
  std::uint64_t blocked_before_ = 0;
  std::uint64_t expanded_ns_ = 0;
  std::uint64_t blocked_ns_ = 0;
};

}  // namespace replay::launcher
