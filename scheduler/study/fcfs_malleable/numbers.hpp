// The numbers that Utrera, Tabik, Corbalan and Labarta print: A Job Scheduling Approach for Multi-core Clusters Based
// on Virtual Malleability, Euro-Par 2012.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "scheduler/study/printed.hpp"

namespace replay::study {
namespace malleable_paper {

/// "20K-25K" of Table 2, "40K-45K" of SDSC: its upper end.
struct FirstJobs {
  std::string_view log;  ///< ArchiveLog::name
  std::size_t jobs;
};
inline constexpr std::array<FirstJobs, 3> kLogs{{{"CTC", 25'000}, {"SDSC-BLUE", 25'000}, {"SDSC", 45'000}}};

/// Figure 2: ten CPUs, six jobs at time 0. Only J1's size is printed; the other sizes fit all printed values.
inline constexpr std::array<int, 6> kFigure2Sizes{8, 5, 1, 8, 4, 10};
inline constexpr std::array<int, 6> kFigure2Runtimes{2, 1, 1, 2, 2, 1};

/// Long jobs, section 5: more processes and a longer run time than that.
inline constexpr int kLongProcesses = 64;
inline constexpr double kLongRuntime_s = 8 * 3600;

}  // namespace malleable_paper

/// Figure 2: averages are printed cut off after two decimals; they are the sums over six jobs, 28, 26, 22 and 21, 19, 15, over
/// six. The others have a row a log. Fragmentation is from the text of 5.1; Figure 3 has no numbers, the means are from section 6.
[[nodiscard]] inline const Printed& malleable_printed() {
  static const Printed numbers{R"(
figure 2       |           response |           slowdown | fragmentation
fcfs           |  4.666666666666667 |                3.5 |            30
easy           |  4.333333333333333 | 3.1666666666666665 |            30
fcfs-malleable | 3.6666666666666665 |                2.5 |             0

figure 2, starts and ends | start J1 | start J2 | start J3 | start J4 | start J5 | start J6 |
                              end J1 |   end J2 |   end J3 |   end J4 |   end J5 |   end J6
fcfs                      | 0 | 2 | 2 | 3 | 5 | 7 | 2 | 3 | 3 | 5 | 7 | 8
easy                      | 0 | 2 | 0 | 3 | 5 | 7 | 2 | 3 | 1 | 5 | 7 | 8
fcfs-malleable            | 0 | 0 | 0 | 1 | 1 | 5 | 4 | 1 | 1 | 5 | 5 | 6

table 2   | CPU use | their CPU use | requested/CPUs
CTC       |      57 |            70 |            5.8
SDSC-BLUE |      23 |            70 |            3.8
SDSC      |      66 |            90 |            8.8

table 3   | MPL easy | MPL fcfs-malleable | fragmentation easy | fragmentation fcfs-malleable
CTC       |     0.75 |               0.91 |                6.0 |                            0
SDSC-BLUE |     0.76 |               0.98 |                    |                            0
SDSC      |     0.89 |               1.47 |               14.0 |                            0

figure 3  | response against easy | slowdown against easy
mean      |                   -31 |                   -28
)"};
  return numbers;
}

}  // namespace replay::study
