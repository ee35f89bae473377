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

inline constexpr double kScojoBesideOldScojo = 50;  ///< "the approx. 50 % improvement which we get with SCOJO-P"

inline constexpr double kIdealLoad = 0.9;  ///< the best of those tried

}  // namespace scojo_p_paper

/// N_opt, shares of the jobs in per cent, utilisation, what jobs are scaled by at their start, and by how many per cent the
/// mean response (or wait) is less, of all jobs on W1 unless stated. Of a range its middle stands here: SCOJO-P 0.4 to 0.5,
/// of short and medium jobs 0.44 to 0.58, of long ones 0.3 to 0.4, without prediction 0.36 to 0.47. "1/3" of a time is
/// 66.7 % less of it.
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

gains                                                  | mean
W1, SCOJO-P over traditional                           | 70
W1, Cirne-Berman over traditional                      | 30
W1, SCOJO-P over Cirne-Berman, response of all jobs    | 59
W1, SCOJO-P over Cirne-Berman, response of short jobs  | 66.66666666666666
W1, SCOJO-P over Cirne-Berman, response of medium jobs | 66.66666666666666
W1, SCOJO-P over Cirne-Berman, response of long jobs   | 50
W1, SCOJO-P over Cirne-Berman, wait of short jobs      | 66.66666666666666
W1, SCOJO-P over Cirne-Berman, wait of medium jobs     | 66.66666666666666
W1, SCOJO-P over Cirne-Berman, wait of long jobs       | 75
W2, SCOJO-P over Cirne-Berman, response of long jobs   | 48
W2, SCOJO-P over Cirne-Berman, wait of long jobs       | 67

80 %                              | mean
W1 80 %, SCOJO-P, over 100 %      | 4
W1 80 %, Cirne-Berman, over 100 % | -5

SCOJO        | mean
W1 80 %      | 35
W1 malleable | 50
)"};
  return numbers;
}

}  // namespace replay::study
