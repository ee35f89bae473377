// The numbers that Barsanti and Sodan print: Adaptive Job Scheduling Via Predictive Job Resource Allocation, JSSPP 2006
// (LNCS 4376). Its Figures 4 to 14 have no numbers; these are from Table 1 and the text of sections 5.4 and 6.
#pragma once

#include <cstddef>

#include "scheduler/study/printed.hpp"

namespace replay::study {
namespace scojo_p_paper {

// Table 1.
inline constexpr int kProcessors = 128;
inline constexpr std::size_t kJobs = 10'000;
inline constexpr double kCutPercent = 5;  ///< of the jobs, at each end
inline constexpr double kAlphaW1 = 10.23, kAlphaW2 = 9.83;
inline constexpr double kSlowdownBound = 30;  ///< s (5.1)
inline constexpr int kSeeds = 4;              ///< 5.4

// Less mean response (or wait) in per cent, W1 and 100 % moldable unless stated.
inline constexpr double kScojoOverTraditional = 70, kCirneOverTraditional = 30, kScojoOverCirne = 59;
inline constexpr double kToAThird = 100 - 100.0 / 3, kToAHalf = 50, kToAQuarter = 75;
/// By class: all, short, medium, long; of the wait of all jobs nothing is printed.
inline constexpr double kResponseOverCirne[] = {kScojoOverCirne, kToAThird, kToAThird, kToAHalf},
                        kWaitOverCirne[] = {0, kToAThird, kToAThird, kToAQuarter};
inline constexpr double kLongWaitOverCirneW2 = 67, kLongResponseOverCirneW2 = 48;
inline constexpr double kScojoAtEightyPercent = 4, kCirneAtEightyPercent = -5;  ///< 80 % moldable against 100 %
inline constexpr double kOldScojoMalleable = 50, kOldScojoMoldable = 35;        ///< the original SCOJO over traditional
inline constexpr double kScojoBesideOldScojo = 50;  ///< "the approx. 50 % improvement which we get with SCOJO-P"

inline constexpr double kIdealLoad = 0.9;  ///< the best of those tried

}  // namespace scojo_p_paper

/// N_opt, shares of the jobs in per cent, utilisation, and what jobs are scaled by at their start. Of a range its middle
/// stands here: SCOJO-P 0.4 to 0.5, of short and medium jobs 0.44 to 0.58, of long ones 0.3 to 0.4, without prediction 0.36
/// to 0.47.
[[nodiscard]] inline const Printed& scojo_printed() {
  static const Printed numbers{R"(
workloads    | short | medium | long | N_opt all | N_opt short | N_opt medium | N_opt long
three points |  42.7 |   26.6 | 30.7 |        12 |           8 |            9 |         20
Downey       |    61 |     28 |   11 |        69 |          61 |           89 |         65

figures 8 and 12 | utilisation
W1, SCOJO-P      |        78.6
W1, Cirne-Berman |       89.69

sizes                        | modifier, shrunk, all | modifier, shrunk, short | modifier, shrunk, medium |
  modifier, shrunk, long | size / N_opt, all | size / N_opt, short
W1, SCOJO-P                  | 0.45 | 0.51 | 0.51 |  0.35 |     |
W1, SCOJO-P, no prediction   |      |      |      | 0.415 |     |
W1, Cirne-Berman             |      |      |      |       | 0.8 | 0.72
W1, Cirne-Berman, up to N_opt |     |      |      |       | 0.8 | 0.72

downey sizes           | modifier all | modifier short | modifier medium | modifier long |
  size / N_opt, short | size / N_opt, medium | size / N_opt, long |
  size / submitted, short | size / submitted, medium | size / submitted, long
SCOJO-P                | 0.1 | 0.15 | 0.07 | 0.17 |      |      |     | 3 | 5.5 | 0.62
SCOJO-P, no prediction |     |      |      | 0.23 |      |      |     |   |     |
Cirne-Berman           |     |      |      |      | 0.22 | 0.22 | 0.6 |   |     |
)"};
  return numbers;
}

}  // namespace replay::study
