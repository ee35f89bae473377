// How much jobs slow down when processes share a node: G-LOMARC-TS, section 4.9 and Table 4. Three slowdowns are
// modelled as distributions over bins of a tenth: SL_scr and SL_sno belong to one job and stand beside the trace,
// SL_cos to an ordered pair of jobs, and follows from their keys, so that no table of pairs is needed.
#pragma once

#include <array>
#include <cstdint>

namespace replay {

/// A column of Table 4: the percentages of the bins [0.9, 1.0), [1.0, 1.1) ... [1.7, 1.8).
struct SlowdownDistribution {
  std::array<int, 9> percent;

  /// The slowdown below which the share `u` of all lies; uniform inside a bin, as the paper gives no more than the
  /// bins.
  /// REQUIRES: 0 <= u < 1.
  [[nodiscard]] double quantile(double u) const;
};

/// SL_scr: several processes of a job on the cores of one CPU.
inline constexpr SlowdownDistribution kSameCpuSlowdowns{{0, 25, 17, 17, 13, 17, 8, 3, 0}};
/// SL_sno: several processes of a job on one node, on different CPUs.
inline constexpr SlowdownDistribution kSameNodeSlowdowns{{25, 45, 12, 5, 13, 0, 0, 0, 0}};
/// SL_cos: a job on the same CPUs as another one.
inline constexpr SlowdownDistribution kCoSchedulingSlowdowns{{0, 68, 17, 7, 3, 2, 1, 1, 1}};

/// The slowdowns that a file may state, of a job or of a pair: beyond them a job would run in no time, or for ever.
inline constexpr double kLeastStatedSlowdown = 1e-3, kMostStatedSlowdown = 1e6;

/// SL_cos of the job with key `job` while it runs beside the job with key `beside`; the other way round is another
/// draw. Keys are JobTraits::pair_key; the seed of a study is in them.
[[nodiscard]] double co_scheduling_slowdown(std::uint64_t job, std::uint64_t beside);

}  // namespace replay
