// The numbers that Utrera, Tabik, Corbalan and Labarta print: A Job Scheduling Approach for Multi-core Clusters Based
// on Virtual Malleability, Euro-Par 2012.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace replay::study::malleable_paper {

/// Tables 2 and 3, a row a log; fragmentation of EASY from the text of 5.1.
struct LogRow {
  std::string_view log;  ///< ArchiveLog::name
  double cpu_use_percent, long_cpu_use_percent, requested_over_cpus;
  double mpl_easy, mpl_malleable;
  std::optional<double> fragmentation_easy_percent;
  std::size_t first_jobs;  ///< "20K-25K" of Table 2: its upper end
};
inline constexpr std::array<LogRow, 3> kLogs{{
    {"CTC", 57, 70, 5.8, 0.75, 0.91, 6.0, 25'000},
    {"SDSC-BLUE", 23, 70, 3.8, 0.76, 0.98, std::nullopt, 25'000},
    {"SDSC", 66, 90, 8.8, 0.89, 1.47, 14.0, 45'000},
}};
inline constexpr double kFragmentationMalleable = 0;  ///< text of 5.1, all logs
inline constexpr double kResponseGainPercent = 31;    ///< section 6, over EASY
inline constexpr double kSlowdownGainPercent = 28;

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

}  // namespace replay::study::malleable_paper
