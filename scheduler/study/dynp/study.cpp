#include "scheduler/study/dynp/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <variant>

#include "scheduler/base/error.hpp"
#include "scheduler/study/dynp/numbers.hpp"
#include "traces/local_time.hpp"
#include "traces/models/resampling.hpp"

namespace replay::study {
namespace {

constexpr Compared kPolicies[] = {{"FCFS", "plan:order=fcfs"},
                                  {"SJF", "plan:order=sjf"},
                                  {"LJF", "plan:order=ljf"},
                                  {"advanced", "dynp:decider=advanced"},
                                  {"SJF-preferred", "dynp:decider=preferred:preferred=sjf"},
                                  {"simple", "dynp:decider=simple"}};
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

struct SetCell : Cell {
  const DynpLog* log;
  double factor;
};

// The longest ones first: the smaller the factor, the longer the queues, and dynP makes three plans.
std::vector<SetCell> cells_of(const std::vector<DynpLog>& logs, const DynpOptions& options) {
  std::vector<SetCell> cells;
  for (const DynpLog& log : logs)
    for (const double factor : options.factors)
      for (const auto& [name, policy] : kPolicies)
        for (std::uint64_t set = 1; set <= options.sets; ++set)
          cells.push_back({{fmt::format("{} {}/{}", log.name, factor, name), std::string{policy}, set}, &log, factor});
  std::ranges::stable_sort(cells, {}, [](const SetCell& cell) {
    return std::tuple{cell.factor, cell.policy.starts_with("plan")};
  });
  return cells;
}

// Against SJF, by factor and in the mean over the factors.
void add_gains(Findings& found, const std::string& log, std::string_view policy, const std::vector<double>& factors) {
  Figures means;
  for (const double factor : factors) {
    const std::string at = fmt::format("{} {}", log, factor), cell = fmt::format("{}/{}", at, policy),
                      sjf = at + "/SJF";
    const Figures gains{{"gain", found.less(cell, sjf, "SLDwA")},
                        {"points", found.mean("{}/utilisation", cell) * 100 - found.mean("{}/utilisation", sjf) * 100}};
    found.add(cell, 1, gains);
    for (const auto& [figure, value] : gains) means[figure] += value;
  }
  for (auto& [figure, sum] : means) sum /= static_cast<double>(factors.size());
  found.add(fmt::format("{}/{}", log, policy), 1, means);
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

double trimmed_mean(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const std::ptrdiff_t cut = sorted.size() >= 3 ? 1 : 0;
  const double sum = std::accumulate(sorted.begin() + cut, sorted.end() - cut, 0.0);
  return sum / static_cast<double>(static_cast<std::ptrdiff_t>(sorted.size()) - 2 * cut);
}

Findings run_dynp_study(const std::vector<DynpLog>& logs, const DynpOptions& options,
                        const Surroundings& surroundings) {
  Findings found{dynp_printed(), trimmed_mean};
  run_cells(found, cells_of(logs, options), surroundings, [&](const SetCell& cell) {
    PolicyShares shares;
    const metrics::Summary summary =
        simulate_one(shrunk(cell.log->sets[cell.seed - 1], cell.factor), cell.policy,
                     {.machine = Machine::pool(cell.log->processors), .runtime_model = "rigid"}, {&shares});
    return Figures{{"SLDwA", summary.value("sldwa")},
                   {"utilisation", summary.value("utilisation")},
                   {"switches", static_cast<double>(shares.switches())},
                   {"share FCFS", shares.shares()[0]},
                   {"share SJF", shares.shares()[1]},
                   {"share LJF", shares.shares()[2]}};
  });
  for (const DynpLog& log : logs)
    for (const auto& [name, policy] : kPolicies) add_gains(found, log.name, name, options.factors);
  return found;
}

Result reproduce_dynp(const LogSearch& logs, const DynpOptions& options, const Surroundings& surroundings) {
  std::vector<DynpLog> read;
  for (const FoundLog& log : logs.found) read.push_back(read_dynp_log(log, options));
  return dynp_result(run_dynp_study(read, options, surroundings), read, options);
}

}  // namespace replay::study
