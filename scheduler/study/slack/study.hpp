// Slack-based backfilling: a year of KTH, month by month, each from an empty machine of 128 processors.
// Source: Talby and Feitelson 1999, section 5: Tables 1 to 3, Figures 9 and 10.
#pragma once

#include <string>
#include <vector>

#include "scheduler/model/workload.hpp"
#include "scheduler/study/archive.hpp"
#include "scheduler/study/findings.hpp"
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

/// One way to run all months. The cells are "1996-10/NAME", and "all/NAME" of the year.
struct SlackRun {
  std::string name;              ///< "conservative", "equal ast", "unequal ast", "sf 9", "gap 0.5", ...
  std::string policy;            ///< as written
  double slack_factor = -1;      ///< negative: no slack policy, nothing is promised
  double priority = 0;           ///< user and political priority of every fifth job, each
  bool monthly_average = false;  ///< AWT is the month's own mean wait under conservative backfilling
};
/// Runs with `monthly_average` need the run of conservative backfilling, which is the first; the others are
/// independent.
[[nodiscard]] std::vector<SlackRun> slack_runs(bool quick);

/// Figures: "jobs all", "wait all": s, in the mean; of every fifth job ("high") and of the others ("low") likewise, and "gap":
/// low less high. "watched", "broken": of WatchedPromises.
[[nodiscard]] Findings run_slack_study(const std::vector<Month>& months, bool quick, const Surroundings& surroundings);
/// The page. `source` names the log's file.
[[nodiscard]] Result slack_result(const Findings& found, bool quick, const std::string& source);

/// All of it, from the KTH log; `quick` takes three of the months. REQUIRES: the log was found.
[[nodiscard]] Result reproduce_slack(const LogSearch& logs, bool quick, const Surroundings& surroundings);

}  // namespace replay::study
