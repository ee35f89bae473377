#include "benchmarks/perf/moldable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime() is POSIX

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "benchmarks/perf/policy_race.hpp"
#include "benchmarks/perf/vmlib_figures.hpp"
#include "benchmarks/perf/whole_runs.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/registry.hpp"

namespace replay::bench {
namespace {

constexpr CoreCount kProcessors = 128;

// ---- whole runs ----

std::string workload(const TemporaryFolder& folder, const MoldableRuns& what, std::uint64_t jobs, const char* law) {
  const std::string plain = (folder / "lublin.swf").string(), declared = (folder / "declared.swf").string();
  run({what.replay, "generate", "lublin", "--jobs", fmt::to_string(jobs), "--aarr", "10.23", "--force", "-o", plain});
  run({what.replay, "trace", "declare", plain, "--speedup", law, "--force", "-o", declared});
  return declared;
}

void measure_runs(const TemporaryFolder& folder, const MoldableRuns& what) {
  fmt::print("## W1, all jobs moldable, {} processors, `--outputs none`: user CPU s of the whole process\n\n",
             kProcessors);
  fmt::print(kRaceColumns);
  for (const char* law : {"three-point", "downey"}) {
    std::vector<PolicyRunner> runners;
    for (const char* policy : {"priority-easy", "greedy-moldable", "scojo", "scojo-p:predict=off", "scojo-p",
                               "cirne-berman:base=easy", "cirne-berman:base=conservative"})
      runners.push_back({policy});
    for (std::uint64_t jobs = 1'000; jobs <= what.most_jobs; jobs *= 10)
      race(folder, {what.replay, what.rounds, what.longest_s}, workload(folder, what, jobs, law),
           fmt::format("{}, {} jobs", law, jobs), runners);
  }
}

// ---- passes while the queue keeps its length ----

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
double cpu_now() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

// Cycles of constant length; a pass can be shorter than what the clock of CPU time costs.
std::uint64_t ticks_now() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(seconds_of(CLOCK_MONOTONIC) * 1e9);
#endif
}

double measured_tick_s() {
  constexpr double kLongEnough = 0.05;
  const double began = seconds_of(CLOCK_MONOTONIC);
  const std::uint64_t ticks = ticks_now();
  while (seconds_of(CLOCK_MONOTONIC) < began + kLongEnough) continue;
  return (seconds_of(CLOCK_MONOTONIC) - began) / static_cast<double>(ticks_now() - ticks);
}

struct PassTimes {
  std::vector<double> at_submission, at_end;  // s of each decide(), by what made the pass necessary
  double sum_s = 0;
  double starts = 0;

  [[nodiscard]] std::vector<double> all() const {
    std::vector<double> both = at_submission;
    both.insert(both.end(), at_end.begin(), at_end.end());
    return both;
  }
};

// Jobs without end, three-point, N_opt 1 to 64, 1 s to 5 h there. The next one is submitted as soon as fewer than so many
// wait; else the clock goes on to the next end. A pass after each of both, and everything runs as long as estimated.
class FullQueue {
 public:
  FullQueue(const char* policy, std::size_t length, double tick_s)
      : policy_(make_policy(policy).policy), length_(length), tick_s_(tick_s) {}

  // Passes until enough jobs have started.
  void run() {
    constexpr double kLongEnough = 2;  // CPU s
    constexpr double kEnough = 3'000;
    while (times_.starts < 100 && times_.sum_s < 4 * kLongEnough) step();  // a full machine, a queue of its length
    times_ = {};
    while (times_.starts < 20 || (times_.starts < kEnough && times_.sum_s < kLongEnough)) step();
  }
  [[nodiscard]] const PassTimes& times() const { return times_; }

 private:
  void step() {
    if (waiting_.size() < length_) {
      submit();
      return;
    }
    RunningJob& first = *running_.by_estimated_end().front();
    now_ = std::max(now_, first.estimated_end);
    const Job& job = *first.job;
    free_.release(first.allocation);
    running_.erase(first);
    pass({TriggerKind::kFinish, &job});
  }

  void submit() {
    std::uniform_real_distribution<double> uniform(0, 1);
    const ProcessCount optimum = 1 << static_cast<int>(uniform(random_) * 7);
    Declaration declaration{.least = std::max<ProcessCount>(1, optimum / 2),
                            .most = std::min(2 * optimum, processes_at(kProcessors, 1))};
    declaration.speedup = SpeedupCurve{ThreePointSpeedup{.optimum = optimum}};
    Job job{.id = JobId{static_cast<std::int64_t>(jobs_.size()) + 1}, .submitted = now_ += Duration{1}};
    job.estimate = std::chrono::seconds{std::llround(std::pow(18'000.0, uniform(random_)))};
    job.processes = optimum;
    job.flexibility = Flexibility::kMoldable;
    job.declaration = std::make_shared<const Declaration>(std::move(declaration));
    waiting_.insert(jobs_.emplace_back(std::move(job)));
    pass({TriggerKind::kSubmit, &jobs_.back()});
  }

  void pass(Trigger trigger) {
    decisions_.clear();
    const ClusterView view{.now = now_,
                           .machine = machine_,
                           .free = free_,
                           .waiting = waiting_,
                           .running = running_,
                           .triggers = {&trigger, 1}};
    const double before = cpu_now();
    const std::uint64_t began = ticks_now();
    policy_->decide(view, decisions_);
    const double ticks_s = static_cast<double>(ticks_now() - began) * tick_s_;
    // Of a short pass the CPU time is mostly that of the clock; in the time of a long one others have been on the core.
    const double pass_s = std::min(ticks_s, cpu_now() - before);
    (trigger.kind == TriggerKind::kSubmit ? times_.at_submission : times_.at_end).push_back(pass_s);
    times_.sum_s += pass_s;
    for (const Decision& decision : decisions_)
      if (const auto* const chosen = std::get_if<Start>(&decision)) start(*chosen);
  }

  void start(const Start& chosen) {
    const Job& job = jobs_[static_cast<std::size_t>(chosen.job) - 1];
    waiting_.remove(job);
    free_.take(chosen.allocation);
    RunningJob running;
    running.job = &job;
    running.started = now_;
    running.start_order = order_++;
    running.allocation = chosen.allocation;
    running.estimate = estimate_at(job, running.processes());
    running.budget = Progress{running.estimate, now_, 1};
    running.estimated_end = running.budget.end();
    running.state.physical = Physical::kOnCores;
    running_.insert(std::move(running));
    ++times_.starts;
  }

  std::unique_ptr<Policy> policy_;
  std::size_t length_;
  double tick_s_;
  Machine machine_ = Machine::pool(kProcessors);
  FreeCores free_{machine_};
  std::deque<Job> jobs_;  // by number
  WaitingQueue waiting_;
  RunningSet running_;
  Decisions decisions_;
  Instant now_{};
  std::mt19937_64 random_{1};
  std::uint64_t order_ = 0;
  PassTimes times_;
};

// A policy's rounds with a queue of one length, in us.
struct PassCosts {
  std::vector<double> per_start, at_submission, at_end, any;
};

void measure_passes(int rounds) {
  static constexpr std::array kPolicies{"scojo-p:predict=off", "scojo-p", "cirne-berman:base=easy",
                                        "cirne-berman:base=conservative"};
  static constexpr std::array kLengths{10u, 30u, 100u, 300u};
  const double tick_s = measured_tick_s();
  std::array<std::array<PassCosts, kPolicies.size()>, kLengths.size()> costs;
  for (std::size_t length = 0; length < kLengths.size(); ++length)
    for (int round = 0; round < rounds; ++round)
      for (std::size_t policy = 0; policy < kPolicies.size(); ++policy) {
        FullQueue queue{kPolicies[policy], kLengths[length], tick_s};
        queue.run();
        const PassTimes& times = queue.times();
        PassCosts& cost = costs[length][policy];
        cost.per_start.push_back(times.sum_s / times.starts * 1e6);
        cost.at_submission.push_back(median(times.at_submission) * 1e6);
        cost.at_end.push_back(median(times.at_end) * 1e6);
        cost.any.push_back(median(times.all()) * 1e6);
      }

  fmt::print("\n## All passes per start, while so many jobs wait: us, medians\n\n");
  fmt::print("| waiting | {} | cirne-berman over easy / scojo-p |\n|---|---|---|---|---|---|\n",
             fmt::join(kPolicies, " | "));
  for (std::size_t length = 0; length < kLengths.size(); ++length) {
    fmt::print("| {} |", kLengths[length]);
    for (const PassCosts& cost : costs[length]) fmt::print(" {:.1f} |", median(cost.per_start));
    fmt::print(" {:.1f} |\n", median(costs[length][2].per_start) / median(costs[length][1].per_start));
  }

  fmt::print("\n## One decide(), at a submission / at an end: us, medians\n\n");
  fmt::print("| waiting | {} | cirne-berman's choice over easy / any pass of scojo-p |\n|---|---|---|---|---|---|\n",
             fmt::join(kPolicies, " | "));
  for (std::size_t length = 0; length < kLengths.size(); ++length) {
    fmt::print("| {} |", kLengths[length]);
    for (const PassCosts& cost : costs[length])
      fmt::print(" {:.2f} / {:.2f} |", median(cost.at_submission), median(cost.at_end));
    fmt::print(" {:.1f} |\n", median(costs[length][2].at_submission) / median(costs[length][1].any));
  }
  std::fflush(stdout);
}

}  // namespace

void measure_moldable(const TemporaryFolder& folder, const MoldableRuns& what) {
  measure_runs(folder, what);
  measure_passes(what.rounds);
}

}  // namespace replay::bench
