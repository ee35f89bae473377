// Estimate of what ending a job costs on emulated cores: from its ranks' last work to the report that none of its
// processes is left. The program is told the cost at its start and works that much less, so that its job lasts as long
// as it should. The cost grows with the ranks; the current speed of this machine is learned from the jobs that have
// ended on it.
//
// Measured with phases on emulated cores, 2 real ones with other work on them, 15 jobs of each size, smallest and
// median in ms: 1 rank 8 and 20, 2 ranks 16 and 24, 4 ranks 27 and 39, 8 ranks 46 and 59, 12 ranks 65 and 76, 16 ranks
// 95 and 115, 32 ranks 181 and 206. The cost is MPI_Finalize, one process after the other, and Hydra's exit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace replay::launcher {

class EndCost {
 public:
  /// ns. REQUIRES: ranks >= 1.
  [[nodiscard]] std::uint64_t expected(std::size_t ranks) const {
    return static_cast<std::uint64_t>(usual(ranks) * factor());
  }

  /// Records that a completed job of `ranks` ranks took `took_ns` to end.
  void learn(std::size_t ranks, std::uint64_t took_ns) {
    ratios_.push_back(static_cast<double>(took_ns) / usual(ranks));
    if (ratios_.size() > kMemory) ratios_.pop_front();
  }

  static constexpr std::size_t kMemory = 15;
  static constexpr double kLeast = 0.3;
  static constexpr double kMost = 4;

 private:
  // 9 ms + 5.5 ms per rank: between the two, 14.5 ms for 1 rank and 97 ms for 16.
  static constexpr double kPerJobNs = 9e6;
  static constexpr double kPerRankNs = 5.5e6;

  static double usual(std::size_t ranks) { return kPerJobNs + kPerRankNs * static_cast<double>(ranks); }

  /// A median, because one job that ended while the machine was busy elsewhere says nothing about the next.
  [[nodiscard]] double factor() const {
    if (ratios_.empty()) return 1;
    std::vector<double> sorted{ratios_.begin(), ratios_.end()};
    std::ranges::sort(sorted);
    return std::clamp(sorted[sorted.size() / 2], kLeast, kMost);
  }

  std::deque<double> ratios_;
};

}  // namespace replay::launcher
