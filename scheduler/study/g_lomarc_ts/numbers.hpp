// The numbers that Zeng and Sodan print: Job Scheduling with Lookahead Group Matchmaking for Time/Space Sharing on
// Multi-core Parallel Machines, JSSPP 2009 (LNCS 5798). Figures 6 to 9 have none; these are from Tables 5 and 6 and the
// text of sections 5.1 to 5.4.
#pragma once

#include <cstddef>

#include "scheduler/study/printed.hpp"

namespace replay::study {
namespace glomarc_paper {

// Table 5, and 3 and 5.1: the machine and the workloads.
inline constexpr int kNodes = 128, kCpusPerNode = 2, kCoresPerCpu = 2;
inline constexpr double kAlphaW1 = 10.33, kAlphaW2 = 9.83;
inline constexpr std::size_t kJobs = 10'000;
inline constexpr int kSeeds = 3;
inline constexpr double kShortUpTo = 600, kMediumUpTo = 10'800;  ///< s, of the request

// Table 6 and 5.1: what the sweeps vary, and what the figures need.
inline constexpr int kBlockSize = 16;
inline constexpr double kSlackFactor = 1.5;
inline constexpr int kHighLoad = 12;  ///< N_H, waiting jobs
/// s. The bound is not printed: the model's own, and that which the paper's numbers of W2 imply for all jobs.
inline constexpr double kBound = 30, kImpliedBound = 600;

inline constexpr double kEligiblePercent = 36;  ///< 5.2, of all jobs
inline constexpr double kMoreGroupsOnW2 = 25;   ///< 5.3, per cent, "about"
inline constexpr int kBestBlockSize = 12;       ///< 5.3, W2

}  // namespace glomarc_paper

/// By the page's tables. Gains: how much less relative response G-LOMARC-TS has, and how much more of the cores it uses in
/// phases of high load, in per cent, W1. Delays are for medium and for long jobs.
[[nodiscard]] inline const Printed& glomarc_printed() {
  static const Printed numbers{R"(
table 5   | short, jobs | medium, jobs | long, jobs | short, work | medium, work | long, work | serial | power of two
workloads |          64 |         19.5 |       16.5 |         0.5 |           26 |       73.5 |     24 |           75

gains         | mean
SSP, medium   | 34.9
SSP, long     | 53.2
SSP, all      | 35.5
CST, medium   | 19.4
CST, long     | 16.1
CST, all      | 13.9
CSTWS, medium | 28.6
CSTWS, long   | 31.5
CSTWS, all    | 23.2

core use | mean
SSP      | 26.8
CST      |  6.0
CSTWS    | 10.1

groups   | groups | jobs of a group | medium and long jobs in groups
W1, GLTS |   1500 |             2.5 |                           41.7
W2, GLTS |   2000 |             2.6 |

delays W1 | medium and long, mean | medium and long, 75 % | medium and long, 95 % |
  medium, mean | medium, 75 % | medium, 95 % | long, mean | long, 75 % | long, 95 %
GLTS      | 1 | 1.3 | 1.4 | 1 | 1.3 | 1.4 | 1 | 1.3 | 1.4

W2  | medium |  long | all, bound 600 s
SSP |   17.5 | 36.74 |            10.65
)"};
  return numbers;
}

}  // namespace replay::study
