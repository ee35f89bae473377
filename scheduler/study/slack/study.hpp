// Slack-based backfilling: a year of KTH, month by month, each from an empty machine of 128 processors.
// Source: Talby and Feitelson 1999, section 5: Tables 1 to 3, Figures 9 and 10.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scheduler/model/workload.hpp"
#include "scheduler/study/archive.hpp"
#include "scheduler/study/result.hpp"
#include "scheduler/study/simulation.hpp"
#include "traces/workload_reader.hpp"

namespace replay::study {

struct Month {
  std::string name;  ///< "1996-10"
  Workload workload{};
};

/// The log's jobs by the month of its local time in which they were submitted, from `kMonths` of the paper; months
/// without jobs are left out. Throws InputError for a log without its begin and time zone.
[[nodiscard]] std::vector<Month> months_of(const LoadedWorkload& log);

/// Sum of the waits of a month's jobs.
struct Waits {
  double sum_s = 0;
  std::size_t jobs = 0;
  void add(const Waits& other) { sum_s += other.sum_s, jobs += other.jobs; }
  [[nodiscard]] double mean_s() const { return sum_s / static_cast<double>(jobs); }  ///< NaN of no jobs
};
struct MonthWaits {
  Waits all, high, low;                 ///< high: every fifth job
  std::size_t watched = 0, broken = 0;  ///< WatchedPromises
};

/// The results of all runs, for the months of a log or of a test.
struct SlackOutcome {
  std::vector<std::string> months;
  std::vector<std::size_t> jobs;                        ///< by month
  std::map<std::string, std::vector<MonthWaits>> runs;  ///< by month; the keys are those of slack_runs()

  /// REQUIRES: there is a run of that key.
  [[nodiscard]] MonthWaits year(const std::string& key) const;
};

/// One way to run all months.
struct SlackRun {
  std::string key;               ///< "conservative", "equal ast", "unequal ast", "sf 9", "gap 0.5", ...
  std::string policy;            ///< as written
  double slack_factor = -1;      ///< negative: no slack policy, nothing is promised
  double priority = 0;           ///< user and political priority of every fifth job, each
  bool monthly_average = false;  ///< AWT is the month's own mean wait under conservative backfilling
};
/// Runs with `monthly_average` need the run of conservative backfilling, which is the first; the others are
/// independent.
[[nodiscard]] std::vector<SlackRun> slack_runs(bool quick);

[[nodiscard]] SlackOutcome run_slack_study(const std::vector<Month>& months, bool quick,
                                           const Surroundings& surroundings);
/// The page. `source` names the log's file.
[[nodiscard]] Result slack_result(const SlackOutcome& outcome, bool quick, const std::string& source);

/// All of it, from the KTH log; `quick` takes three of the months. REQUIRES: the log was found.
[[nodiscard]] Result reproduce_slack(const LogSearch& logs, bool quick, const Surroundings& surroundings);

}  // namespace replay::study
