#include "benchmarks/perf/moldable.hpp"

#include <fmt/format.h>
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

#include "benchmarks/perf/vmlib_figures.hpp"
#include "benchmarks/perf/whole_runs.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/registry.hpp"

namespace replay::bench {
namespace {

constexpr CoreCount kProcessors = 128;

// ---- whole runs ----

struct MoldableRunner {
  std::string policy;
  std::vector<double> user_s{};
  bool stopped = false;
};

// The runners take turns; prints a row for each.
void race(const TemporaryFolder& folder, const MoldableRuns& what, const std::string& trace, const std::string& name,
          std::vector<MoldableRunner>& runners) {
  constexpr double kPatience = 5;  // s; what takes longer is run once
  for (MoldableRunner& runner : runners) runner.user_s.clear();
  for (int round = 0; round < what.rounds; ++round)
    for (MoldableRunner& runner : runners) {
      if (runner.stopped || (round > 0 && runner.user_s.front() > kPatience)) continue;
      const Cost cost = run({what.replay, "simulate", "--trace", trace, "--policy", runner.policy, "--outputs", "none",
                             "--force", "--out", (folder / "run").string()},
                            what.longest_s);
      runner.stopped = cost.stopped;
      if (!cost.stopped) runner.user_s.push_back(cost.user_s);
    }
  for (const MoldableRunner& runner : runners) {
    if (runner.user_s.empty()) {
      fmt::print("| {} | {} | more than {} | |\n", name, runner.policy, what.longest_s);
      continue;
    }
    fmt::print("| {} | {} | {:.2f} | {:.2f}-{:.2f} |\n", name, runner.policy, median(runner.user_s),
               std::ranges::min(runner.user_s), std::ranges::max(runner.user_s));
  }
  std::fflush(stdout);
}

std::string workload(const TemporaryFolder& folder, const MoldableRuns& what, std::uint64_t jobs, const char* law) {
  const std::string plain = (folder / "lublin.swf").string(), declared = (folder / "declared.swf").string();
  run({what.replay, "generate", "lublin", "--jobs", fmt::to_string(jobs), "--aarr", "10.23", "--force", "-o", plain});
  run({what.replay, "trace", "declare", plain, "--speedup", law, "--force", "-o", declared});
  return declared;
}

void measure_runs(const TemporaryFolder& folder, const MoldableRuns& what) {
  fmt::print("## W1, all jobs moldable, {} processors, `--outputs none`: user CPU s of the whole process\n\n",
             kProcessors);
  fmt::print("| workload | policy | user CPU s | fastest-slowest |\n|---|---|---|---|\n");
  for (const char* law : {"three-point", "downey"}) {
    std::vector<MoldableRunner> runners;
    for (const char* policy : {"priority-easy", "greedy-moldable", "scojo", "scojo-p:predict=off", "scojo-p",
                               "cirne-berman:base=easy", "cirne-berman:base=conservative"})
      runners.push_back({policy});
    for (std::uint64_t jobs = 1'000; jobs <= what.most_jobs; jobs *= 10)
      race(folder, what, workload(folder, what, jobs, law), fmt::format("{}, {} jobs", law, jobs), runners);
  }
}

// ---- passes while the queue keeps its length ----

double cpu_now() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Jobs without end, three-point, N_opt 1 to 64, 1 s to 5 h there. The next one is submitted as soon as fewer than so many
// wait; else the clock goes on to the next end. A pass after each of both, and everything runs as long as estimated.
class FullQueue {
 public:
  FullQueue(const char* policy, std::size_t length) : policy_(make_policy(policy).policy), length_(length) {}

  // CPU seconds of all passes per job that they start.
  double cost_of_a_start() {
    constexpr double kLongEnough = 2;  // CPU s
    constexpr std::int64_t kEnough = 3'000;
    while (starts_ < 100 && spent_ < 4 * kLongEnough) step();  // the queue has its length and the machine is full
    spent_ = 0;
    starts_ = 0;
    while (starts_ < 20 || (starts_ < kEnough && spent_ < kLongEnough)) step();
    return spent_ / static_cast<double>(starts_);
  }

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
    Declaration declaration{.least = std::max(1, optimum / 2), .most = std::min(2 * optimum, kProcessors)};
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
    policy_->decide(view, decisions_);
    spent_ += cpu_now() - before;
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
    running.launched = true;
    running_.insert(std::move(running));
    ++starts_;
  }

  std::unique_ptr<Policy> policy_;
  std::size_t length_;
  Machine machine_ = Machine::pool(kProcessors);
  FreeCores free_{machine_};
  std::deque<Job> jobs_;  // by number
  WaitingQueue waiting_;
  RunningSet running_;
  Decisions decisions_;
  Instant now_{};
  std::mt19937_64 random_{1};
  std::uint64_t order_ = 0;
  std::int64_t starts_ = 0;
  double spent_ = 0;
};

void measure_passes(int rounds) {
  fmt::print("\n## All passes per start, while so many jobs wait: us of CPU time, medians\n\n");
  static constexpr std::array kPolicies{"scojo-p:predict=off", "scojo-p", "cirne-berman:base=easy",
                                        "cirne-berman:base=conservative"};
  fmt::print("| waiting | {} | cirne-berman over easy / scojo-p |\n|---|---|---|---|---|---|\n",
             fmt::join(kPolicies, " | "));
  for (const std::size_t length : {10u, 30u, 100u, 300u}) {
    std::array<std::vector<double>, kPolicies.size()> costs;
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < kPolicies.size(); ++i)
        costs[i].push_back(FullQueue{kPolicies[i], length}.cost_of_a_start() * 1e6);
    fmt::print("| {} |", length);
    for (const auto& cost : costs) fmt::print(" {:.1f} |", median(cost));
    fmt::print(" {:.1f} |\n", median(costs[2]) / median(costs[1]));
    std::fflush(stdout);
  }
}

}  // namespace

void measure_moldable(const TemporaryFolder& folder, const MoldableRuns& what) {
  measure_runs(folder, what);
  measure_passes(what.rounds);
}

}  // namespace replay::bench
