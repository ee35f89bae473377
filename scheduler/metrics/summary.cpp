#include "scheduler/metrics/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/percentile.hpp"

namespace replay::metrics {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// Mean, percentiles and maximum of one thing over the jobs.
struct Distribution {
  double mean = kNoValue;
  double p50 = kNoValue;
  double p95 = kNoValue;
  double max = kNoValue;

  Distribution() = default;
  /// `exact_mean`: of the caller's exact sum. Changes the order of `values`.
  Distribution(std::span<double> values, double exact_mean) : mean(exact_mean) {
    Percentiles percentiles(values);
    p50 = percentiles.at(0.50);
    p95 = percentiles.at(0.95);
    if (!values.empty()) max = std::ranges::max(values);
  }
};

double ratio(double part, double whole) { return whole > 0 ? part / whole : kNoValue; }
double ratio(Wide part, Wide whole) { return ratio(static_cast<double>(part), static_cast<double>(whole)); }

// The inputs of the definitions below.
struct Inputs {
  const JobSums* jobs;
  std::int64_t without_slowdown = 0;
  Distribution wait, response, execution, slowdown, bounded;
  double bounded10 = kNoValue, bounded30 = kNoValue, bounded60 = kNoValue;
  double job_mpl = kNoValue;
  Duration makespan{};
  Integrals machine;  // over the makespan, or over the window that trimming leaves
  CoreCount cores = 0;
  std::int32_t longest_queue = 0;

  [[nodiscard]] Wide capacity() const { return machine.time * cores; }
};

struct Definition {
  std::string_view name;
  std::string_view unit;
  std::string_view text;  // {bound} and {high}: of the options
  double (*value)(const Inputs&);
};

double count(std::int64_t n) { return static_cast<double>(n); }

constexpr Definition kDefinitions[] = {
    {"jobs", "jobs", "jobs submitted", [](const Inputs& in) { return count(in.jobs->jobs()); }},
    {"jobs_completed", "jobs", "jobs that ended by themselves, well",
     [](const Inputs& in) { return count(in.jobs->with(Outcome::kCompleted)); }},
    {"jobs_failed", "jobs", "jobs that ended by themselves, badly",
     [](const Inputs& in) { return count(in.jobs->with(Outcome::kFailed)); }},
    {"jobs_overrun", "jobs", "jobs killed when their estimate was used up",
     [](const Inputs& in) { return count(in.jobs->with(Outcome::kOverrun)); }},
    {"jobs_killed", "jobs", "jobs killed by the policy or because the run was interrupted",
     [](const Inputs& in) { return count(in.jobs->with(Outcome::kKilled)); }},
    {"jobs_cancelled", "jobs", "jobs taken back by their users, or still in the queue when the run was interrupted",
     [](const Inputs& in) { return count(in.jobs->with(Outcome::kCancelled)); }},
    {"jobs_rejected", "jobs", "jobs that fit no machine like this",
     [](const Inputs& in) { return count(in.jobs->with(Outcome::kRejected)); }},
    {"jobs_unfinished", "jobs", "jobs that had not ended when the log did",
     [](const Inputs& in) { return count(in.jobs->unfinished()); }},
    {"jobs_counted", "jobs", "jobs that the means and percentiles are over",
     [](const Inputs& in) { return count(static_cast<std::int64_t>(in.jobs->times().size())); }},

    {"mean_wait", "s", "mean of launch - submission", [](const Inputs& in) { return in.wait.mean; }},
    {"p50_wait", "s", "median of launch - submission", [](const Inputs& in) { return in.wait.p50; }},
    {"p95_wait", "s", "95th percentile of launch - submission", [](const Inputs& in) { return in.wait.p95; }},
    {"max_wait", "s", "maximum of launch - submission", [](const Inputs& in) { return in.wait.max; }},
    {"mean_response", "s", "mean of end - submission", [](const Inputs& in) { return in.response.mean; }},
    {"p50_response", "s", "median of end - submission", [](const Inputs& in) { return in.response.p50; }},
    {"p95_response", "s", "95th percentile of end - submission", [](const Inputs& in) { return in.response.p95; }},
    {"max_response", "s", "maximum of end - submission", [](const Inputs& in) { return in.response.max; }},
    {"mean_execution", "s", "mean of end - launch", [](const Inputs& in) { return in.execution.mean; }},
    {"p50_execution", "s", "median of end - launch", [](const Inputs& in) { return in.execution.p50; }},
    {"p95_execution", "s", "95th percentile of end - launch", [](const Inputs& in) { return in.execution.p95; }},
    {"max_execution", "s", "maximum of end - launch", [](const Inputs& in) { return in.execution.max; }},

    {"mean_slowdown", "ratio", "mean of response / expanded run time (FCFS-malleable paper, formula 1)",
     [](const Inputs& in) { return in.slowdown.mean; }},
    {"p50_slowdown", "ratio", "median of response / expanded run time",
     [](const Inputs& in) { return in.slowdown.p50; }},
    {"p95_slowdown", "ratio", "95th percentile of response / expanded run time",
     [](const Inputs& in) { return in.slowdown.p95; }},
    {"max_slowdown", "ratio", "maximum of response / expanded run time",
     [](const Inputs& in) { return in.slowdown.max; }},
    {"jobs_without_slowdown", "jobs", "counted jobs that *_slowdown leaves out: their expanded run time is zero",
     [](const Inputs& in) { return count(in.without_slowdown); }},
    {"mean_bounded_slowdown", "ratio", "mean of max(1, response / max(expanded run time, {bound} s))",
     [](const Inputs& in) { return in.bounded.mean; }},
    {"p50_bounded_slowdown", "ratio", "median of max(1, response / max(expanded run time, {bound} s))",
     [](const Inputs& in) { return in.bounded.p50; }},
    {"p95_bounded_slowdown", "ratio", "95th percentile of max(1, response / max(expanded run time, {bound} s))",
     [](const Inputs& in) { return in.bounded.p95; }},
    {"max_bounded_slowdown", "ratio", "maximum of max(1, response / max(expanded run time, {bound} s))",
     [](const Inputs& in) { return in.bounded.max; }},
    {"mean_bounded_slowdown_10", "ratio", "mean of max(1, response / max(expanded run time, 10 s))",
     [](const Inputs& in) { return in.bounded10; }},
    {"mean_bounded_slowdown_30", "ratio", "mean of max(1, response / max(expanded run time, 30 s))",
     [](const Inputs& in) { return in.bounded30; }},
    {"mean_bounded_slowdown_60", "ratio", "mean of max(1, response / max(expanded run time, 60 s))",
     [](const Inputs& in) { return in.bounded60; }},
    {"sldwa", "ratio",
     "slowdown weighted by area: sum(processes * response) / sum(processes * expanded run time) (dynP paper)",
     [](const Inputs& in) { return ratio(in.jobs->response_area(), in.jobs->work()); }},

    {"makespan", "s", "last end - first submission; of the jobs that trimming leaves",
     [](const Inputs& in) { return seconds(in.makespan); }},
    {"utilisation", "ratio", "core time given to jobs / (cores * makespan)",
     [](const Inputs& in) { return ratio(in.machine.busy_cores, in.capacity()); }},
    {"work_utilisation", "ratio", "sum(processes * expanded run time) / (cores * makespan)",
     [](const Inputs& in) { return ratio(in.jobs->work(), in.capacity()); }},
    {"fragmentation", "ratio", "free core time while jobs wait / (cores * makespan) (FCFS-malleable paper, formula 2)",
     [](const Inputs& in) { return ratio(in.machine.free_cores_while_queued, in.capacity()); }},
    {"mean_mpl", "ratio",
     "time integral of running processes / (cores * makespan), idle time included (FCFS-malleable paper, Table 3)",
     [](const Inputs& in) { return ratio(in.machine.processes, in.capacity()); }},
    {"mean_job_mpl", "ratio", "mean over jobs of the mean multiprogramming level while on cores",
     [](const Inputs& in) { return in.job_mpl; }},
    {"high_load_utilisation", "ratio",
     "core time given to jobs / core time, both while at least {high} jobs wait (G-LOMARC-TS paper)",
     [](const Inputs& in) { return ratio(in.machine.high_load_busy_cores, in.machine.high_load_time * in.cores); }},
    {"high_load_share", "ratio", "share of the makespan during which at least {high} jobs wait",
     [](const Inputs& in) { return ratio(in.machine.high_load_time, in.machine.time); }},
    {"mean_queue", "jobs", "time mean of the jobs that wait",
     [](const Inputs& in) { return ratio(in.machine.queued, in.machine.time); }},
    {"max_queue", "jobs", "most jobs that waited at once, of the whole run",
     [](const Inputs& in) { return count(in.longest_queue); }},
    {"shrinks", "times", "times that a job lost cores and went on",
     [](const Inputs& in) { return count(in.jobs->shrinks()); }},
    {"expands", "times", "times that a job gained cores", [](const Inputs& in) { return count(in.jobs->expands()); }},
};

double core_seconds(Wide sum) { return static_cast<double>(sum) / 1e6; }

// Of runs whose logs tell of nodes.
constexpr Definition kNodeDefinitions[] = {
    {"jobs_lost", "jobs", "jobs that ended as a node on which they ran went down",
     [](const Inputs& in) { return count(in.jobs->with(Outcome::kLost)); }},
    {"requeues", "times", "times that a job waited again, as a node on which it ran went down, or its folder had gone",
     [](const Inputs& in) { return count(in.jobs->requeues()); }},
    {"lost_work", "core_s", "core time of runs that ended as a node went down",
     [](const Inputs& in) { return in.jobs->lost_work(); }},
    {"closed_core_time", "core_s", "core time of nodes that were not up, with jobs or without",
     [](const Inputs& in) { return core_seconds(in.machine.closed_cores); }},
    {"present_utilisation", "ratio",
     "core time given to jobs / core time that was there: of nodes that were up, and of cores with jobs",
     [](const Inputs& in) { return ratio(in.machine.busy_cores, in.capacity() - in.machine.absent_cores); }},
};

constexpr std::span<const Definition> kAllDefinitions[] = {kDefinitions, kNodeDefinitions};

// The rows that trimming leaves, as [first, last).
struct Kept {
  std::size_t first;
  std::size_t last;
};

Kept kept_rows(std::size_t rows, double trim_percent) {
  const auto cut = static_cast<std::size_t>(static_cast<double>(rows) * trim_percent / 100);
  return {cut, rows - cut};
}

// Collects one value per counted job, and its exact sum where there is one.
struct TimeColumn {
  std::vector<double> values;
  Wide sum = 0;

  void add(Duration time) {
    values.push_back(seconds(time));
    sum += time.count();
  }
  // Empties the column; its memory is for the next one.
  [[nodiscard]] Distribution take() {
    Distribution distribution;
    if (!values.empty()) distribution = {values, static_cast<double>(sum) / static_cast<double>(values.size()) / 1e6};
    values.clear();
    sum = 0;
    return distribution;
  }
};

struct RatioColumn {
  std::vector<double> values;
  CompensatedSum sum;

  void add(double value) {
    values.push_back(value);
    sum.add(value);
  }
  [[nodiscard]] Distribution take() {
    Distribution distribution{values, values.empty() ? kNoValue : sum.total() / static_cast<double>(values.size())};
    values.clear();
    sum = {};
    return distribution;
  }
};

double mean_of(double sum, std::size_t jobs) { return jobs == 0 ? kNoValue : sum / static_cast<double>(jobs); }

void measure_jobs(const JobSums& sums, Inputs& in) {
  using std::chrono::seconds;
  const auto jobs = sums.times();
  TimeColumn times;
  RatioColumn ratios;
  times.values.reserve(jobs.size());
  const auto distribution = [jobs, &times](auto value) {
    for (const JobTimes& job : jobs) times.add(value(job));
    return times.take();
  };
  in.wait = distribution([](const JobTimes& job) { return job.wait; });
  in.response = distribution([](const JobTimes& job) { return job.response(); });
  in.execution = distribution([](const JobTimes& job) { return job.execution; });
  ratios.values = std::move(times.values);
  for (const JobTimes& job : jobs) {
    if (job.runtime > Duration::zero())
      ratios.add(job.slowdown());
    else
      ++in.without_slowdown;
  }
  in.slowdown = ratios.take();
  CompensatedSum bounded10, bounded30, bounded60;
  const Duration bound = sums.options().bound;
  const Duration greatest_bound = std::max<Duration>(bound, seconds{60});
  for (const JobTimes& job : jobs) {
    const double bounded = job.bounded_slowdown(bound);
    const bool is_long = job.runtime >= greatest_bound;  // no bound matters
    ratios.add(bounded);
    bounded10.add(is_long ? bounded : job.bounded_slowdown(seconds{10}));
    bounded30.add(is_long ? bounded : job.bounded_slowdown(seconds{30}));
    bounded60.add(is_long ? bounded : job.bounded_slowdown(seconds{60}));
  }
  in.bounded = ratios.take();
  in.bounded10 = mean_of(bounded10.total(), jobs.size());
  in.bounded30 = mean_of(bounded30.total(), jobs.size());
  in.bounded60 = mean_of(bounded60.total(), jobs.size());
  in.job_mpl = mean_of(sums.mpl(), jobs.size());
}

void measure_whole_run(const Series& series, Inputs& in) {
  in.machine = series.total();
  in.makespan = series.end() - series.begin();
}

// Trimmed: from the first kept submission to that of the first job cut off at the end.
void measure_window(std::span<const JobRow> rows, Kept kept, const Series& series, Inputs& in) {
  if (kept.first == kept.last) return;
  const Instant from = rows[kept.first].submitted;
  in.machine = series.between(from, kept.last < rows.size() ? rows[kept.last].submitted : series.end());
  Instant last = from;
  for (const JobRow& row : rows.subspan(kept.first, kept.last - kept.first))
    if (row.has_ended()) last = std::max(last, row.finished);
  in.makespan = last - from;
}

std::string definition_text(std::string_view text, const SummaryOptions& options, const Series& series) {
  std::string filled{text};
  const auto fill = [&filled](std::string_view mark, const std::string& value) {
    if (const std::size_t at = filled.find(mark); at != std::string::npos) filled.replace(at, mark.size(), value);
  };
  fill("{bound}", to_text(options.bound));
  fill("{high}", fmt::to_string(series.options().high_load_queue));
  return filled;
}

Inputs inputs_of(const JobSums& sums, const Series& series) {
  Inputs in;
  in.jobs = &sums;
  in.cores = series.cores();
  in.longest_queue = series.longest_queue();
  measure_jobs(sums, in);
  return in;
}

Summary summary_of(const Inputs& in, const Series& series) {
  Summary summary;
  summary.metrics.reserve(std::size(kDefinitions) + std::size(kNodeDefinitions));
  const auto add = [&](std::span<const Definition> definitions) {
    for (const auto& [name, unit, text, value] : definitions)
      summary.metrics.push_back({name, unit, definition_text(text, in.jobs->options(), series), value(in)});
  };
  add(kDefinitions);
  if (series.has_node_events()) add(kNodeDefinitions);
  return summary;
}

}  // namespace

double Summary::value(std::string_view name) const {
  const Metric* metric = find(name);
  INVARIANT(metric != nullptr, "no metric is called '{}'", name);
  return metric->value;
}

const Metric* Summary::find(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  return found == metrics.end() ? nullptr : &*found;
}

JobSums::JobSums(SummaryOptions options) : options_(std::move(options)) {
  if (options_.bound <= Duration::zero())
    throw UsageError(
        fmt::format("bound of the bounded slowdown: expected more than 0 s, found {} s", to_text(options_.bound)));
  if (!(options_.trim_percent >= 0 && options_.trim_percent < 50))
    throw UsageError(
        fmt::format("trimmed share of the jobs: expected 0 up to below 50 %, found {}", options_.trim_percent));
}

void JobSums::add(const JobRow& row) {
  if (options_.filter && !options_.filter(row)) return;
  ++jobs_;
  shrinks_ += row.shrinks;
  expands_ += row.expands;
  requeues_ += row.requeues;
  if (row.lost_core_seconds > 0) lost_work_.add(row.lost_core_seconds);
  if (row.has_ended()) ++ended_[static_cast<std::size_t>(row.outcome)];
  if (!row.ran() || (options_.completed_only && row.outcome != Outcome::kCompleted)) return;
  times_.push_back(row.times());
  work_ += Wide{row.processes} * row.runtime.count();
  response_area_ += Wide{row.processes} * row.response().count();
  mpl_.add(row.mean_mpl());
}

std::int64_t JobSums::unfinished() const {
  return jobs_ - std::accumulate(ended_.begin(), ended_.end(), std::int64_t{0});
}

Summary summarise(const JobSums& sums, const Series& series) {
  Inputs in = inputs_of(sums, series);
  measure_whole_run(series, in);
  return summary_of(in, series);
}

Summary summarise(const JobTable& table, const Series& series, const SummaryOptions& options) {
  JobSums sums(options);
  const auto rows = table.rows();
  const Kept kept = kept_rows(rows.size(), options.trim_percent);
  sums.expect(kept.last - kept.first);
  for (const JobRow& row : rows.subspan(kept.first, kept.last - kept.first)) sums.add(row);
  if (kept.first == 0 && kept.last == rows.size()) return summarise(sums, series);
  Inputs in = inputs_of(sums, series);
  measure_window(rows, kept, series, in);
  return summary_of(in, series);
}

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const auto definitions : kAllDefinitions)
    for (const Definition& definition : definitions) names.push_back(definition.name);
  return names;
}

std::string_view unit_of(std::string_view metric) {
  for (const auto definitions : kAllDefinitions)
    for (const Definition& definition : definitions)
      if (definition.name == metric) return definition.unit;
  return {};
}

std::vector<std::pair<std::string_view, double>> batsim_summary(const JobSums& sums, const Series& series) {
  TimeColumn wait, response;
  RatioColumn stretch;
  for (const JobTimes& job : sums.times()) {
    wait.add(job.wait);
    response.add(job.response());
    if (job.execution > Duration::zero())
      stretch.add(static_cast<double>(job.response().count()) / static_cast<double>(job.execution.count()));
  }
  const std::int64_t success = sums.with(Outcome::kCompleted);
  const std::int64_t killed =
      sums.with(Outcome::kOverrun) + sums.with(Outcome::kKilled) + sums.with(Outcome::kCancelled);
  const std::int64_t rejected = sums.with(Outcome::kRejected);
  const std::int64_t finished = success + killed + sums.with(Outcome::kFailed) + sums.with(Outcome::kLost);
  const double jobs = count(sums.jobs());
  const Distribution waits = wait.take();
  const Distribution responses = response.take();
  const Distribution stretches = stretch.take();
  const Integrals& machine = series.total();
  return {{"makespan", seconds(series.end() - series.begin())},
          {"max_slowdown", stretches.max},
          {"max_turnaround_time", responses.max},
          {"max_waiting_time", waits.max},
          {"mean_slowdown", stretches.mean},
          {"mean_turnaround_time", responses.mean},
          {"mean_waiting_time", waits.mean},
          {"nb_computing_machines", static_cast<double>(series.cores())},
          {"nb_jobs", jobs},
          {"nb_jobs_finished", count(finished)},
          {"nb_jobs_killed", count(killed)},
          {"nb_jobs_rejected", count(rejected)},
          {"nb_jobs_success", count(success)},
          {"success_rate", ratio(count(success), jobs)},
          {"time_computing", core_seconds(machine.busy_cores)},
          {"time_idle", core_seconds(machine.time * series.cores() - machine.busy_cores)}};
}

}  // namespace replay::metrics
