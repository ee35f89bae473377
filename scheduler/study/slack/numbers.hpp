// The numbers that Talby and Feitelson print: Supporting Priorities and Improving Utilization of the IBM SP Scheduler
// Using Slack-Based Backfilling, IPPS 1999, section 5. Average waits in seconds.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace replay::study::slack_paper {

/// Tables 1 and 2, a row a month.
struct MonthRow {
  std::string_view month;
  double conservative, equal, improvement_percent;
  double unequal_all, unequal_high, unequal_low;
};

/// The low-priority wait of November is printed as 1882.3; as all = 0.2 high + 0.8 low holds in every other row,
/// 4882.3 is meant.
inline constexpr std::array<MonthRow, 12> kMonths{{
    {"1996-09", 440.6, 440.6, 0.0, 440.6, 0.0, 550.8},
    {"1996-10", 3062.7, 2504.3, 18.2, 2783.7, 2295.6, 2906.0},
    {"1996-11", 4887.0, 3774.6, 22.8, 4797.7, 4460.2, 4882.3},
    {"1996-12", 2157.2, 1904.2, 11.7, 2026.0, 1814.8, 2078.8},
    {"1997-01", 3302.3, 2531.9, 23.3, 2777.4, 2603.8, 2820.8},
    {"1997-02", 2624.3, 2373.9, 9.5, 2728.7, 2369.2, 2818.7},
    {"1997-03", 2644.8, 2196.9, 16.9, 2220.9, 1687.2, 2354.6},
    {"1997-04", 2220.3, 1905.2, 14.2, 2056.2, 1797.4, 2120.9},
    {"1997-05", 2093.6, 1779.2, 15.0, 1889.3, 1491.9, 1988.7},
    {"1997-06", 1443.2, 1282.0, 11.2, 1374.7, 1323.3, 1387.6},
    {"1997-07", 399.9, 354.1, 11.5, 372.6, 320.2, 385.8},
    {"1997-08", 1941.5, 1670.8, 13.9, 1847.1, 1817.5, 1854.5},
}};
/// The last rows: over all jobs of the year.
inline constexpr MonthRow kYear{"year", 2401.44, 2004.46, 16.5, 2226.17, 1955.28, 2294.0};

/// Table 3, yearly averages; the improvements over conservative backfilling are from the text of section 5.2.
struct HeuristicRow {
  std::string_view heuristic;  ///< as the policy's parameter has it
  std::string_view name;
  double equal, unequal, loss_percent, high, low, gap;
  double improvement_percent;
};
inline constexpr std::array<HeuristicRow, 5> kHeuristics{{
    {"ast", "ascending scheduled time", 2004.5, 2226.2, 11.1, 1955.3, 2294.0, 338.7, 16.5},
    {"aat", "ascending arrival time", 2088.5, 2223.3, 10.9, 1952.6, 2291.1, 338.5, 13.0},
    {"dc", "descending cost", 2179.9, 2250.1, 12.3, 1988.1, 2315.7, 327.6, 9.2},
    {"du", "descending utilisation", 2206.0, 2279.8, 13.7, 2048.9, 2337.6, 288.7, 8.1},
    {"dp", "descending priority", 2120.0, 2228.5, 11.2, 1962.3, 2295.1, 332.7, 11.7},
}};

/// Section 5.2: with a slack factor of nine, in per cent below conservative backfilling.
inline constexpr double kImprovementAtNine = 19.25;
inline constexpr double kAverageWait = 2401;  ///< AWT of all its simulations, s
inline constexpr int kProcessors = 128;
inline constexpr std::size_t kJobsOfSeptember = 85;  ///< section 5.2

}  // namespace replay::study::slack_paper
