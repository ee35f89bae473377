#include "scheduler/study/dynp/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <variant>

#include "scheduler/base/error.hpp"
#include "traces/local_time.hpp"
#include "traces/models/resampling.hpp"

namespace replay::study {
namespace {

constexpr std::array<std::string_view, kDynpPolicyCount> kPolicies{"plan:order=fcfs",
                                                                   "plan:order=sjf",
                                                                   "plan:order=ljf",
                                                                   "dynp:decider=advanced",
                                                                   "dynp:decider=preferred:preferred=sjf",
                                                                   "dynp:decider=simple"};
constexpr std::array<std::string_view, 3> kNotes{"dynp fcfs", "dynp sjf", "dynp ljf"};
constexpr Seed kSeed{1};
constexpr double kTolerance = 0.02;  // of the sets' means, that of `replay generate from-log`
constexpr std::int64_t kFirstMonday = std::int64_t{4} * 86'400;  // 1970-01-05, on the clock of LocalSeconds

LocalSecondOf clock_of(const SwfHeader& header) {
  const auto clock = LogClock::of(header);
  if (!clock) return [](Duration t) { return static_cast<std::int64_t>(seconds(t)); };
  return [clock](Duration t) { return clock->local(t) - kFirstMonday; };
}

Workload workload_of(const Resampler& log, const ResampledSet& set) {
  Workload workload;
  workload.jobs.reserve(set.jobs.size());
  for (const ResampledJob& placed : set.jobs) {
    const SampledJob& logged = log.jobs()[placed.logged];
    TracedJob job;
    job.job.id = static_cast<JobId>(workload.jobs.size() + 1);
    job.job.submitted = Instant{placed.submit};
    job.job.processes = static_cast<ProcessCount>(logged.size);
    job.job.estimate = from_seconds(logged.estimate);
    job.truth.runtime = from_seconds(logged.runtime);
    workload.jobs.push_back(job);
  }
  return workload;
}

struct Task {
  std::size_t log, factor, policy, set;
};

// The longest tasks first, so that no core has a long one left at the end: the smaller the factor, the longer the
// queues, and dynP makes three plans.
std::vector<Task> tasks_of(std::size_t logs, const DynpOptions& options) {
  std::vector<Task> tasks;
  for (std::size_t l = 0; l < logs; ++l)
    for (std::size_t f = 0; f < options.factors.size(); ++f)
      for (std::size_t p = 0; p < kPolicies.size(); ++p)
        for (std::size_t s = 0; s < options.sets; ++s) tasks.push_back({l, f, p, s});
  std::ranges::stable_sort(tasks, {}, [&](const Task& task) {
    return std::tuple{options.factors[task.factor], kPolicies[task.policy].starts_with("plan")};
  });
  return tasks;
}

DynpNumbers simulate_set(const DynpLog& log, const Task& task, double factor, const Surroundings& surroundings) {
  PolicyShares shares;
  const metrics::Summary summary =
      simulate_one(shrunk(log.sets[task.set], factor), kPolicies[task.policy],
                   {.machine = Machine::pool(log.processors), .runtime_model = "rigid"}, surroundings, {&shares});
  return {.sldwa = summary.value("sldwa"),
          .utilisation = summary.value("utilisation"),
          .switches = static_cast<double>(shares.switches()),
          .shares = shares.shares()};
}

DynpNumbers mean_of(std::span<const DynpNumbers> sets) {
  const auto mean = [sets](auto of) {
    std::vector<double> values;
    for (const DynpNumbers& numbers : sets) values.push_back(of(numbers));
    return trimmed_mean(std::move(values));
  };
  DynpNumbers result{.sldwa = mean([](const DynpNumbers& n) { return n.sldwa; }),
                     .utilisation = mean([](const DynpNumbers& n) { return n.utilisation; }),
                     .switches = mean([](const DynpNumbers& n) { return n.switches; })};
  // Shares are means over all sets, so that they add up to 1.
  for (const DynpNumbers& numbers : sets)
    for (std::size_t i = 0; i < result.shares.size(); ++i)
      result.shares[i] += numbers.shares[i] / static_cast<double>(sets.size());
  return result;
}

}  // namespace

DynpOptions quick_dynp_options() { return {.sets = 3, .jobs = 2'000, .factors = {1.0, 0.7}, .quick = true}; }

DynpLog read_dynp_log(const FoundLog& found, const DynpOptions& options) {
  WorkloadReader reader(found.file.string(), CleaningRules{});
  std::vector<SampledJob> jobs = read_logged_jobs(reader);
  const Resampler resampler(std::move(jobs), clock_of(reader.header()));
  DynpLog log{.name = std::string{found.log->name},
              .file = found.file.filename().string(),
              .processors = found.log->processors};
  for (std::uint64_t set = 1; set <= options.sets; ++set) {
    try {
      log.sets.push_back(workload_of(resampler, resampler.make_set(kSeed, set, options.jobs, kTolerance)));
    } catch (const UsageError& error) {
      throw InputError(fmt::format("{}, set {}: {}", log.file, set, error.what()));
    }
  }
  return log;
}

Workload shrunk(const Workload& set, double factor) {
  Workload workload = set;
  if (factor == 1) return workload;
  workload.jobs.change_each([factor](TracedJob& job) {
    job.job.submitted = Instant{std::chrono::seconds{std::llround(seconds(job.job.submitted) * factor)}};
  });
  return workload;
}

void PolicyShares::on_record(const log::Record& record, const history::JobState* /*job*/) {
  if (choices_ > 0) lasted_s_[in_use_] += seconds(record.at - last_);
  last_ = record.at;
  const auto* note = std::get_if<log::Note>(&record.what);
  if (note == nullptr) return;
  const auto chosen = std::ranges::find(kNotes, note->text);
  if (chosen == kNotes.end()) return;
  in_use_ = static_cast<std::size_t>(chosen - kNotes.begin());
  ++choices_;
}

std::array<double, 3> PolicyShares::shares() const {
  std::array<double, 3> shares = lasted_s_;
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share = all > 0 ? share / all : 0;
  return shares;
}

double trimmed_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const std::ptrdiff_t cut = values.size() >= 3 ? 1 : 0;
  const double sum = std::accumulate(values.begin() + cut, values.end() - cut, 0.0);
  return sum / static_cast<double>(static_cast<std::ptrdiff_t>(values.size()) - 2 * cut);
}

DynpOutcome run_dynp_study(const std::vector<DynpLog>& logs, const DynpOptions& options,
                           const Surroundings& surroundings) {
  const std::vector<Task> tasks = tasks_of(logs.size(), options);
  const auto place = [&](std::size_t log, std::size_t factor, std::size_t policy) {
    return ((log * options.factors.size() + factor) * kPolicies.size() + policy) * options.sets;
  };
  std::vector<DynpNumbers> numbers(tasks.size());
  run_all(surroundings, "dynp", tasks.size(), [&](std::size_t i) {
    const Task& task = tasks[i];
    numbers[place(task.log, task.factor, task.policy) + task.set] =
        simulate_set(logs[task.log], task, options.factors[task.factor], surroundings);
  });
  DynpOutcome outcome{.options = options};
  for (std::size_t l = 0; l < logs.size(); ++l) {
    outcome.logs.push_back({logs[l].name, logs[l].file, logs[l].processors});
    auto& of_log = outcome.means.emplace_back(options.factors.size());
    for (std::size_t f = 0; f < options.factors.size(); ++f)
      for (std::size_t p = 0; p < kPolicies.size(); ++p)
        of_log[f][p] = mean_of(std::span{numbers}.subspan(place(l, f, p), options.sets));
  }
  return outcome;
}

Result reproduce_dynp(const LogSearch& logs, const DynpOptions& options, const Surroundings& surroundings) {
  std::vector<DynpLog> read(logs.found.size());
  surroundings.for_each(read.size(), [&](std::size_t i) { read[i] = read_dynp_log(logs.found[i], options); });
  return dynp_result(run_dynp_study(read, options, surroundings));
}

}  // namespace replay::study
