// The numbers that Zeng and Sodan print: Job Scheduling with Lookahead Group Matchmaking for Time/Space Sharing on
// Multi-core Parallel Machines, JSSPP 2009 (LNCS 5798). Figures 6 to 9 have none; these are from Tables 5 and 6 and the
// text of sections 5.1 to 5.4.
#pragma once

#include <cstddef>

namespace replay::study::glomarc_paper {

// Table 5, and 3 and 5.1: the machine and the workloads.
inline constexpr int kNodes = 128, kCpusPerNode = 2, kCoresPerCpu = 2;
inline constexpr double kAlphaW1 = 10.33, kAlphaW2 = 9.83;
inline constexpr std::size_t kJobs = 10'000;
inline constexpr int kSeeds = 3;
inline constexpr double kShortUpTo = 600, kMediumUpTo = 10'800;  ///< s, of the request
inline constexpr double kSerialPercent = 24, kPowerOfTwoPercent = 75;

/// One number for medium jobs, one for long ones, one for all.
struct ByClass {
  double medium, long_jobs, all;
};
/// One number for each class, in per cent.
struct Shares {
  double short_jobs, medium, long_jobs;
};
inline constexpr Shares kJobShares{64, 19.5, 16.5}, kWorkShares{0.5, 26, 73.5};

// Table 6 and 5.1: what the sweeps vary, and what the figures need.
inline constexpr int kBlockSize = 16;
inline constexpr double kSlackFactor = 1.5;
inline constexpr int kHighLoad = 12;  ///< N_H, waiting jobs
/// s. The bound is not printed: the model's own, and that which the paper's numbers of W2 imply for all jobs.
inline constexpr double kBound = 30, kImpliedBound = 600;

// 5.2: how much less relative response G-LOMARC-TS has, in per cent, W1.
inline constexpr ByClass kOverSsp{34.9, 53.2, 35.5}, kOverCst{19.4, 16.1, 13.9}, kOverCstws{28.6, 31.5, 23.2};
// 5.2: how much more of the cores it uses in high-load phases, in per cent, W1.
inline constexpr double kCoresOverSsp = 26.8, kCoresOverCst = 6.0, kCoresOverCstws = 10.1;
// 5.2 and 5.3: groups.
inline constexpr double kGroupSizeW1 = 2.5, kGroupSizeW2 = 2.6;  ///< jobs
inline constexpr double kGroupsW1 = 1500, kGroupsW2 = 2000;
inline constexpr double kInGroupPercent = 41.7;                            ///< of the medium and long jobs
inline constexpr double kEligiblePercent = 36;                             ///< of all jobs
inline constexpr double kMoreGroupsOnW2 = 25;                              ///< per cent, "about"
inline constexpr double kDelayMean = 1, kDelayP75 = 1.3, kDelayP95 = 1.4;  ///< R / R_est
// 5.3: W2.
inline constexpr int kBestBlockSize = 12;
inline constexpr ByClass kSspOnW2{17.5, 36.74, 10.65};  ///< relative response

}  // namespace replay::study::glomarc_paper
