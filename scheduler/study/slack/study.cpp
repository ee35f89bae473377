#include "scheduler/study/slack/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scheduler/base/error.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/study/slack/numbers.hpp"
#include "scheduler/study/slack/watched_promises.hpp"
#include "traces/local_time.hpp"

namespace replay::study {
namespace {

constexpr std::size_t kEvery = 5;  // section 5.3: each fifth job of a month

// Adds the means to sums of waits.
Figures with_means(Figures figures) {
  for (const std::string group : {"all", "high", "low"})
    figures["wait " + group] = figures.at("sum " + group) / figures.at("jobs " + group);
  figures["gap"] = figures.at("wait low") - figures.at("wait high");
  return figures;
}

Workload with_priorities(Workload workload, double priority) {
  for (std::size_t i = kEvery - 1; i < workload.jobs.size(); i += kEvery)
    workload.jobs.change(i, [priority](TracedJob& job) {
      job.job.user_priority = priority;
      job.job.political_priority = priority;
    });
  return workload;
}

struct MonthCell : Cell {
  const Month* month;
  const SlackRun* run;
};

Figures run_month(const MonthCell& cell, double average_wait_s) {
  const SlackRun& run = *cell.run;
  const NamedPolicy named =
      make_policy(run.monthly_average ? fmt::format("{}:awt={}", run.policy, average_wait_s) : run.policy);
  metrics::JobTable jobs;
  WatchedPromises watched(*named.policy, run.slack_factor, average_wait_s);
  Policy& policy = run.slack_factor < 0 ? *named.policy : watched;
  simulate_one(with_priorities(cell.month->workload, run.priority), policy, named.full_text,
               {.machine = Machine::pool(slack_paper::kProcessors), .runtime_model = "rigid"}, {&jobs});
  Figures figures;
  for (const char* group : {"all", "high", "low"})
    for (const char* what : {"sum", "jobs"}) figures[fmt::format("{} {}", what, group)] = 0;
  const auto rows = jobs.rows();
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const std::string group : {"all", (i + 1) % kEvery == 0 ? "high" : "low"})
      if (rows[i].ran()) figures["sum " + group] += seconds(rows[i].wait()), ++figures["jobs " + group];
  figures["watched"] = static_cast<double>(watched.watched());
  figures["broken"] = static_cast<double>(watched.broken());
  return with_means(std::move(figures));
}

}  // namespace

std::vector<Month> months_of(const LoadedWorkload& log) {
  const auto clock = LogClock::of(log.header);
  if (!clock)
    throw InputError(
        fmt::format("{}: expected a header that says when the log began and where (UnixStartTime with TimeZoneString "
                    "or StartTime), found none: its months are not known",
                    log.report.file));
  std::vector<Month> months;
  for (const std::string_view name : slack_paper::kMonths) {
    const LocalMonth month = parse_local_month(name).value();
    Month cut{.name = std::string{name}};
    for (const TracedJob& job : log.workload.jobs)
      if (const LocalSeconds at = clock->local(job.job.submitted.time_since_epoch());
          at >= month.first && at < month.next)
        cut.workload.jobs.push_back(job);
    if (!cut.workload.jobs.empty()) months.push_back(std::move(cut));
  }
  return months;
}

std::vector<SlackRun> slack_runs(bool quick) {
  constexpr double kFactor = 3;  // sections 5.2 and 5.3
  const std::string slack = fmt::format("slack:awt={}", slack_paper::kAverageWait);
  std::vector<SlackRun> runs{
      {.name = "conservative", .policy = "conservative:compress=start-order"},
      {.name = "conservative instant", .policy = "conservative:compress=start-order:pass=instant"}};
  for (const auto& row : slack_paper::kHeuristics)
    for (const double priority : {0.0, 1.0})
      runs.push_back({.name = fmt::format("{} {}", priority > 0 ? "unequal" : "equal", row.key),
                      .policy = fmt::format("{}:sf={}:heuristic={}", slack, kFactor, row.key),
                      .slack_factor = kFactor,
                      .priority = priority});
  for (const int factor : {0, 1, 2, 4, 5, 6, 7, 8, 9})
    if (!quick || factor == 0 || factor == 9)
      runs.push_back({.name = fmt::format("sf {}", factor),
                      .policy = fmt::format("{}:sf={}", slack, factor),
                      .slack_factor = static_cast<double>(factor)});
  for (const double gap : {0.5, 1.0, 1.5})
    if (!quick || gap == 1)
      runs.push_back({.name = fmt::format("gap {}", gap),
                      .policy = fmt::format("{}:sf={}", slack, kFactor),
                      .slack_factor = kFactor,
                      .priority = gap / 2});
  runs.push_back({.name = "priority weighs more",
                  .policy = fmt::format("{}:sf={}:alpha_u=0.2:alpha_t=0.2:alpha_f=0.2", slack, kFactor),
                  .slack_factor = kFactor,
                  .priority = 1});
  runs.push_back({.name = "monthly average",
                  .policy = fmt::format("slack:sf={}", kFactor),
                  .slack_factor = kFactor,
                  .monthly_average = true});
  return runs;
}

Findings run_slack_study(const std::vector<Month>& months, bool quick, const Surroundings& surroundings) {
  Findings found{slack_printed()};
  const std::vector<SlackRun> runs = slack_runs(quick);
  for (const bool monthly : {false, true}) {
    std::vector<MonthCell> cells;
    for (const SlackRun& run : runs)
      for (const Month& month : months)
        if (run.monthly_average == monthly) cells.push_back({{month.name + "/" + run.name, run.policy}, &month, &run});
    run_cells(found, cells, surroundings, [&](const MonthCell& cell) {
      constexpr double kLeast = 1;  // awt= has to be above 0, and a month may pass without waiting
      const double average = monthly ? std::max(kLeast, found.mean("{}/conservative/wait all", cell.workload()))
                                     : slack_paper::kAverageWait;
      return run_month(cell, average);
    });
  }
  for (const SlackRun& run : runs) {
    Figures year;
    for (const Month& month : months)
      for (const char* sum :
           {"sum all", "sum high", "sum low", "jobs all", "jobs high", "jobs low", "watched", "broken"})
        year[sum] += found.mean("{}/{}/{}", month.name, run.name, sum);
    found.add("all/" + run.name, 1, with_means(std::move(year)));
  }
  return found;
}

Result reproduce_slack(const LogSearch& logs, bool quick, const Surroundings& surroundings) {
  const std::filesystem::path& file = logs.found.front().file;
  std::vector<Month> months = months_of(read_workload(file.string()));
  constexpr std::array<std::string_view, 3> kQuickMonths{"1996-09", "1997-06", "1997-08"};
  if (quick)
    std::erase_if(
        months, [&](const Month& month) { return std::ranges::find(kQuickMonths, month.name) == kQuickMonths.end(); });
  return slack_result(run_slack_study(months, quick, surroundings), quick, file.filename().string());
}

}  // namespace replay::study
