// Tests of every policy of the table under a clock that jumps: readings are late, with all events since the last one,
// and executors answer late. No core is used twice, no job is lost, no policy breaks an invariant, and each policy
// keeps its promises even then. REPLAY_STALL_WORKLOADS sets the number of workloads per policy.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/view/hosting.hpp"
#include "tests/support/deciding_policies.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/stalled_run.hpp"

namespace replay::test {
namespace {

std::uint64_t workloads() {
  const char* const given = std::getenv("REPLAY_STALL_WORKLOADS");
  return given == nullptr ? 100 : std::strtoull(given, nullptr, 10);
}

std::vector<std::string> policies_under_stalls() {
  std::vector<std::string> all;
  for (const PolicyEntry& entry : deciding_policies()) all.emplace_back(entry.name);
  for (const char* variant :
       {"easy:pass=instant", "easy:reservations=3", "easy:reservations=all:pass=instant",
        "conservative:compress=start-order", "conservative:compress=replan", "conservative:pass=instant",
        "plan:pass=event", "dynp:decider=preferred:step=submit", "slack:sf=0", "slack:awt=60:heuristic=du",
        "fcfs-malleable:max_mpl=4", "fcfs-malleable:expand=eager:max_mpl=3",
        "scojo-pect:interval=60s:short-slice=10s:overhead=2s:short=10s:medium=40s",
        "scojo-pect:interval=45s:short-slice=7s:overhead=0:short=20s:medium=60s:inner=easy",
        "scojo-pect:interval=60s:short-slice=10s:overhead=2s:short=10s:medium=40s:inner={fcfs-malleable:max_mpl=3}",
        "g-lomarc-ts:short=1s"})
    all.emplace_back(variant);
  return all;
}

// Whether it, or one that it wraps, runs only where nodes can be halved.
bool needs_nodes(std::string_view policy) {
  return std::ranges::any_of(policies(), [policy](const PolicyEntry& entry) {
    return entry.needs_nodes && policy.find(entry.name) != policy.npos;
  });
}

// Checks the promises of a policy at each pass, however late the pass comes.
class PromisesOfAPass final : public Policy {
 public:
  explicit PromisesOfAPass(std::string_view name) : PromisesOfAPass(make_policy(name).policy, name) {}

  void decide(const ClusterView& view, Decisions& out) override {
    inner_->decide(view, out);
    if (!broken.empty()) return;
    // Policies that plan: jobs that are due have started, and no planned start has passed.
    for (const Job* job : view.waiting)
      if (!is_started(job->id, out) && hosting_of(*inner_).planned_start(*job).value_or(kNever) <= view.now)
        broken = "job " + std::to_string(number(job->id)) + " is due and does not start";
    // An idle machine starts a job, unless a guarantee from a submission forbids it, or time stands.
    if (!keeps_guarantees() && !name_.starts_with("scojo-pect") && view.running.empty() && !view.waiting.empty() &&
        !starts_a_job(out))
      broken = "nothing starts on an idle machine";
    // Arrival order without overtaking.
    if (name_ == "fcfs" || name_.starts_with("fcfs-malleable")) {
      auto expected = view.waiting.begin();
      for (const Decision& decision : out)
        if (const auto* start = std::get_if<Start>(&decision))
          if (start->job != (*expected++)->id) broken = "a job overtakes another";
    }
  }
  Duration more_time(const ClusterView& view, const RunningJob& job) override { return inner_->more_time(view, job); }

  std::string broken;

 private:
  PromisesOfAPass(std::unique_ptr<Policy> inner, std::string_view name)
      : Policy(inner->traits()), inner_(std::move(inner)), name_(name) {}

  // Compression by arrival, and slack, may leave a hole before a planned start; only the next early end closes it.
  [[nodiscard]] bool keeps_guarantees() const {
    return name_ == "conservative" || name_ == "conservative:pass=instant" ||
           (name_.starts_with("slack") && name_ != "slack:sf=0");
  }

  static bool is_started(JobId job, const Decisions& decisions) {
    return std::ranges::any_of(decisions, [&](const Decision& decision) {
      const auto* start = std::get_if<Start>(&decision);
      return start != nullptr && start->job == job;
    });
  }
  static bool starts_a_job(const Decisions& decisions) {
    return std::ranges::any_of(decisions,
                               [](const Decision& decision) { return std::holds_alternative<Start>(decision); });
  }

  std::unique_ptr<Policy> inner_;
  std::string name_;
};

class Stalls : public testing::TestWithParam<std::string> {};

TEST_P(Stalls, UseNoCoreTwiceLoseNoJobAndBreakNoPromise) {
  const char* const any_machines[] = {"1x1x2", "1x1x4", "2x1x3", "4x2x2"};
  const char* const nodes[] = {"1x2x2", "1x1x4", "2x1x6", "4x2x2"};
  const auto& machines = needs_nodes(GetParam()) ? nodes : any_machines;
  const Overrun overruns[] = {Overrun::kKill, Overrun::kKill, Overrun::kExtend, Overrun::kPolicy};
  for (std::uint64_t seed = 1; seed <= workloads(); ++seed) {
    const Machine machine = Machine::parse(machines[seed % std::size(machines)]);
    const Overrun overrun = overruns[seed / 4 % std::size(overruns)];
    PromisesOfAPass policy{GetParam()};
    const StalledRun run = run_with_stalls(
        policy, machine, random_jobs(seed, 8 + static_cast<int>(seed % 12), machine.size()), overrun, seed);
    ASSERT_EQ(run.wrong, "") << "seed " << seed;
    ASSERT_EQ(policy.broken, "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Stalls, testing::ValuesIn(policies_under_stalls()),
                         [](const testing::TestParamInfo<std::string>& policy) {
                           std::string name = policy.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace replay::test
