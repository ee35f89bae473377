// The numbers that Barsanti and Sodan print: Adaptive Job Scheduling Via Predictive Job Resource Allocation, JSSPP 2006
// (LNCS 4376). Its Figures 4 to 14 have no numbers; these are from Table 1 and the text of sections 5.4 and 6.
#pragma once

#include <cstddef>

namespace replay::study::scojo_p_paper {

// Table 1.
inline constexpr int kProcessors = 128;
inline constexpr std::size_t kJobs = 10'000;
inline constexpr double kCutPercent = 5;  ///< of the jobs, at each end
inline constexpr double kAlphaW1 = 10.23, kAlphaW2 = 9.83;
inline constexpr double kShortBelow = 60, kLongFrom = 3600;  ///< s, of T(N_opt)
inline constexpr double kEfficiencyMin = 0.8, kEfficiencyOpt = 0.65, kEfficiencyMax = 0.4;
inline constexpr double kRuntimeMin = 1.625, kRuntimeMax = 0.8125;  ///< T(N_min), T(N_max) over T(N_opt), computed
inline constexpr double kSigmaTwo = 1, kSigmaEight = 0.29, kSigmaLimit = 0.23;  ///< by N_opt (4.6)
inline constexpr double kSlowdownBound = 30;                                    ///< s (5.1)
inline constexpr int kSeeds = 4;                                                ///< 5.4

/// One number for all jobs and one for each class.
struct ByClass {
  double all, short_jobs, medium, long_jobs;
};
inline constexpr ByClass kOptimum{12, 8, 9, 20}, kOptimumDowney{69, 61, 89, 65};          ///< mean N_opt
inline constexpr ByClass kShares{100, 42.7, 26.6, 30.7}, kSharesDowney{100, 61, 28, 11};  ///< % of the jobs

// Less mean response (or wait) in per cent, W1 and 100 % moldable unless stated.
inline constexpr double kScojoOverTraditional = 70, kCirneOverTraditional = 30, kScojoOverCirne = 59;
inline constexpr double kToAThird = 100 - 100.0 / 3, kToAHalf = 50, kToAQuarter = 75;
inline constexpr ByClass kResponseOverCirne{kScojoOverCirne, kToAThird, kToAThird, kToAHalf},
    kWaitOverCirne{0, kToAThird, kToAThird, kToAQuarter};  ///< of the wait of all jobs nothing is printed
inline constexpr double kLongWaitOverCirneW2 = 67, kLongResponseOverCirneW2 = 48;
inline constexpr double kScojoAtEightyPercent = 4, kCirneAtEightyPercent = -5;  ///< 80 % moldable against 100 %
inline constexpr double kOldScojoMalleable = 50, kOldScojoMoldable = 35;        ///< the original SCOJO over traditional
inline constexpr double kScojoBesideOldScojo = 50;  ///< "the approx. 50 % improvement which we get with SCOJO-P"

inline constexpr double kUtilisationScojo = 78.6, kUtilisationCirne = 89.69;  ///< %, W1
inline constexpr double kIdealLoad = 0.9;                                     ///< the best of those tried

/// A range of what jobs are scaled by at their start.
struct Range {
  double least, most;
  [[nodiscard]] constexpr double middle() const { return (least + most) / 2; }
};
inline constexpr Range kScaled{0.4, 0.5}, kScaledShortAndMedium{0.44, 0.58}, kScaledLong{0.3, 0.4},
    kScaledLongUnpredicted{0.36, 0.47};
inline constexpr double kScaledByCirne = 0.8, kScaledByCirneShort = 0.72;

// The same under the Cirne-Berman-Downey model; over the submitted size in the second row.
inline constexpr ByClass kScaledDowney{0.1, 0.15, 0.07, 0.17};
inline constexpr double kScaledDowneyLongUnpredicted = 0.23;
inline constexpr double kShortOverSubmitted = 3, kMediumOverSubmitted = 5.5, kLongOverSubmitted = 0.62;
inline constexpr double kCirneDowneyShortAndMedium = 0.22, kCirneDowneyLong = 0.6;

}  // namespace replay::study::scojo_p_paper
