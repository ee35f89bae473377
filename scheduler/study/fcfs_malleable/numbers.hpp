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

/// Figure 2: ten CPUs, six jobs at time 0. Averages are printed cut off after two decimals: the sums over six jobs are
/// 28, 26, 22 and 21, 19, 15. Only J1's size is printed; the other sizes fit all printed values.
struct Figure2Row {
  std::string_view policy;
  double response, slowdown, fragmentation_percent;
  std::array<int, 6> starts, ends;  ///< as the figure draws them
};
inline constexpr std::array<Figure2Row, 3> kFigure2{{
    {"fcfs", 28.0 / 6, 21.0 / 6, 30, {0, 2, 2, 3, 5, 7}, {2, 3, 3, 5, 7, 8}},
    {"easy", 26.0 / 6, 19.0 / 6, 30, {0, 2, 0, 3, 5, 7}, {2, 3, 1, 5, 7, 8}},
    {"fcfs-malleable", 22.0 / 6, 15.0 / 6, 0, {0, 0, 0, 1, 1, 5}, {4, 1, 1, 5, 5, 6}},
}};
inline constexpr std::array<int, 6> kFigure2Sizes{8, 5, 1, 8, 4, 10};
inline constexpr std::array<int, 6> kFigure2Runtimes{2, 1, 1, 2, 2, 1};

/// Long jobs, section 5: more processes and a longer run time than that.
inline constexpr int kLongProcesses = 64;
inline constexpr double kLongRuntime_s = 8 * 3600;

}  // namespace malleable_paper

/// A row a log. Fragmentation is from the text of 5.1; Figure 3 has no numbers, the means are from section 6.
[[nodiscard]] inline const Printed& malleable_printed() {
  static const Printed numbers{R"(
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
