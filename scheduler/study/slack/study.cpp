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

Waits waits_of(std::span<const metrics::JobRow> rows, std::size_t remainder_from, std::size_t remainder_to) {
  Waits waits;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t remainder = (i + 1) % kEvery;
    if (remainder < remainder_from || remainder > remainder_to || !rows[i].ran()) continue;
    waits.sum_s += seconds(rows[i].wait());
    ++waits.jobs;
  }
  return waits;
}

Workload with_priorities(Workload workload, double priority) {
  for (std::size_t i = kEvery - 1; i < workload.jobs.size(); i += kEvery)
    workload.jobs.change(i, [priority](TracedJob& job) {
      job.job.user_priority = priority;
      job.job.political_priority = priority;
    });
  return workload;
}

MonthWaits run_month(const Month& month, const SlackRun& run, double average_wait_s, const Surroundings& surroundings) {
  const std::string text = run.monthly_average ? fmt::format("{}:awt={}", run.policy, average_wait_s) : run.policy;
  const NamedPolicy named = make_policy(text);
  const Workload workload = with_priorities(month.workload, run.priority);
  const Setting setting{.machine = Machine::pool(slack_paper::kProcessors), .runtime_model = "rigid"};
  metrics::JobTable jobs;
  WatchedPromises watched(*named.policy, run.slack_factor, average_wait_s);
  Policy& policy = run.slack_factor < 0 ? *named.policy : watched;
  simulate_one(workload, policy, named.full_text, setting, surroundings, {&jobs});
  return {.all = waits_of(jobs.rows(), 0, kEvery - 1),
          .high = waits_of(jobs.rows(), 0, 0),
          .low = waits_of(jobs.rows(), 1, kEvery - 1),
          .watched = watched.watched(),
          .broken = watched.broken()};
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

MonthWaits SlackOutcome::year(const std::string& key) const {
  MonthWaits sum;
  for (const MonthWaits& month : runs.at(key)) {
    sum.all.add(month.all), sum.high.add(month.high), sum.low.add(month.low);
    sum.watched += month.watched;
    sum.broken += month.broken;
  }
  return sum;
}

std::vector<SlackRun> slack_runs(bool quick) {
  constexpr double kFactor = 3;  // sections 5.2 and 5.3
  const std::string slack = fmt::format("slack:awt={}", slack_paper::kAverageWait);
  std::vector<SlackRun> runs{
      {.key = "conservative", .policy = "conservative:compress=start-order"},
      {.key = "conservative instant", .policy = "conservative:compress=start-order:pass=instant"}};
  for (const auto& row : slack_paper::kHeuristics)
    for (const double priority : {0.0, 1.0})
      runs.push_back({.key = fmt::format("{} {}", priority > 0 ? "unequal" : "equal", row.key),
                      .policy = fmt::format("{}:sf={}:heuristic={}", slack, kFactor, row.key),
                      .slack_factor = kFactor,
                      .priority = priority});
  for (const int factor : {0, 1, 2, 4, 5, 6, 7, 8, 9})
    if (!quick || factor == 0 || factor == 9)
      runs.push_back({.key = fmt::format("sf {}", factor),
                      .policy = fmt::format("{}:sf={}", slack, factor),
                      .slack_factor = static_cast<double>(factor)});
  for (const double gap : {0.5, 1.0, 1.5})
    if (!quick || gap == 1)
      runs.push_back({.key = fmt::format("gap {}", gap),
                      .policy = fmt::format("{}:sf={}", slack, kFactor),
                      .slack_factor = kFactor,
                      .priority = gap / 2});
  runs.push_back({.key = "priority weighs more",
                  .policy = fmt::format("{}:sf={}:alpha_u=0.2:alpha_t=0.2:alpha_f=0.2", slack, kFactor),
                  .slack_factor = kFactor,
                  .priority = 1});
  runs.push_back({.key = "monthly average",
                  .policy = fmt::format("slack:sf={}", kFactor),
                  .slack_factor = kFactor,
                  .monthly_average = true});
  return runs;
}

SlackOutcome run_slack_study(const std::vector<Month>& months, bool quick, const Surroundings& surroundings) {
  SlackOutcome outcome;
  for (const Month& month : months) {
    outcome.months.push_back(month.name);
    outcome.jobs.push_back(month.workload.jobs.size());
  }
  const std::vector<SlackRun> runs = slack_runs(quick);
  for (const SlackRun& run : runs) outcome.runs[run.key].resize(months.size());
  const auto run_them = [&](bool monthly) {
    std::vector<const SlackRun*> chosen;
    for (const SlackRun& run : runs)
      if (run.monthly_average == monthly) chosen.push_back(&run);
    run_all(surroundings, "slack", chosen.size() * months.size(), [&](std::size_t i) {
      const SlackRun& run = *chosen[i / months.size()];
      const std::size_t month = i % months.size();
      constexpr double kLeast = 1;  // awt= has to be above 0, and a month may pass without waiting
      const double average =
          monthly ? std::max(kLeast, outcome.runs.at("conservative")[month].all.mean_s()) : slack_paper::kAverageWait;
      outcome.runs.at(run.key)[month] = run_month(months[month], run, average, surroundings);
    });
  };
  run_them(false);
  run_them(true);
  return outcome;
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
