// The rules that every runtime model has to keep, alone and joined to another: rate 1 alone at the started size, no
// faster than the curve, unchanged by jobs elsewhere, and the same rates in whatever order jobs came.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <vector>

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/profile.hpp"
#include "scheduler/runtime_model/shared_rates.hpp"
#include "tests/support/random.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

std::vector<std::string> every_model() {
  std::vector<std::string> all{"isolated+pairs", "calibrated+pairs", "speedup+pairs", "rigid+pairs"};
  for (const RuntimeModelEntry& entry : runtime_models()) all.emplace_back(entry.name);
  return all;
}

class EveryModel : public testing::TestWithParam<std::string> {
 protected:
  // Whether it says what a job beside another on a core costs.
  [[nodiscard]] bool allows_jobs_on_one_core() const { return model_->allows_sharing() && !says_nothing_of_demand(); }
  [[nodiscard]] bool says_nothing_of_demand() const { return names_model(GetParam(), "speedup"); }

  Profile profile_;  // nothing was measured
  std::unique_ptr<RuntimeModel> model_ = make_runtime_model(GetParam(), {.profile = &profile_});
  Machine machine_ = Machine::cluster(4, 2, 2);
};

std::vector<TracedJob> declaring_jobs(std::uint64_t seed) {
  Random random{seed};
  auto jobs = random_jobs(seed, 60, 16);
  for (TracedJob& traced : jobs) {
    Declaration declared;
    declared.least = 1 + static_cast<ProcessCount>(random.below(4));
    declared.most = *declared.least + static_cast<ProcessCount>(random.below(12));
    declared.speedup = random.one_in(2) ? SpeedupCurve{DowneySpeedup{1 + static_cast<double>(random.below(20)), 0.7}}
                                        : SpeedupCurve{ThreePointSpeedup{traced.job.processes}};
    declared.same_cpu_slowdown = 1 + static_cast<double>(random.below(5)) / 10;
    declared.same_node_slowdown = 1 + static_cast<double>(random.below(5)) / 10;
    declared.pair_key = random.below(1'000'000);
    traced.job.flexibility = random.one_in(2) ? Flexibility::kMoldable : Flexibility::kMalleable;
    traced.job.declaration = std::make_shared<const Declaration>(declared);
  }
  return jobs;
}

Allocation on_cores(std::vector<int> cores, bool shareable = false) {
  Allocation allocation;
  for (const int core : cores) allocation.named.push_back({CoreId{core}, 1});
  allocation.cores = static_cast<CoreCount>(cores.size());
  allocation.shareable = shareable;
  return allocation;
}

TEST_P(EveryModel, GivesRateOneToAJobAloneWithAProcessANode) {
  for (TracedJob& traced : declaring_jobs(1)) {
    traced.job.processes = 4;
    const Allocation on = on_cores({0, 4, 8, 12});
    const Surroundings alone{.machine = &machine_};
    EXPECT_EQ(model_->rate(as_declared(traced.job, on), on, alone), 1);
    EXPECT_EQ(model_->rate(as_true(traced, on), on, alone), 1);
    Allocation pool;
    pool.cores = 3, pool.processes = 3;
    EXPECT_EQ(model_->rate(as_declared(traced.job, pool), pool, {}), 1) << "at another size, whose work is T(3)";
  }
}

TEST_P(EveryModel, MakesNoJobFasterThanItsCurve) {
  for (const char* policy : {"easy", "greedy-moldable", "fcfs-malleable"})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      auto jobs = declaring_jobs(seed);
      std::map<JobId, TracedJob> of_trace;
      for (TracedJob& traced : jobs) {
        if (!model_->allows_sharing()) traced.job.flexibility = Flexibility::kMoldable;
        traced.job.estimate = std::max<Duration>(traced.truth.runtime, 1s);
        of_trace[traced.job.id] = traced;
      }
      MemoryLog log;
      const auto named = make_policy(policy);
      replay::simulate(machine_, Workload{jobs}, *named.policy, *model_, log);
      EXPECT_EQ(what_is_wrong(log, machine_), "");
      for (const log::Record& record : log.records())
        if (const auto* launch = std::get_if<log::Launched>(&record.what)) {
          const TracedJob& traced = of_trace.at(launch->job);
          ASSERT_EQ(log.outcome(launch->job), Outcome::kCompleted);
          EXPECT_GE(log.end(launch->job) - record.at,
                    runtime_at(traced, processes_on(launch->allocation, traced.job.processes)));
        }
    }
}

TEST_P(EveryModel, LeavesAJobAsItIsWhenAJobElsewhereChanges) {
  auto end_of_first = [&](TracedJob other) {
    TracedJob first = declaring_jobs(2).front();
    first.job.processes = 4;  // fills a node
    first.job.submitted = at(0s);
    first.truth.runtime = first.job.estimate = 100s;
    other.job.id = JobId{number(first.job.id) + 1};
    other.job.submitted = at(1s);
    other.job.processes = 3;
    MemoryLog log;
    replay::simulate(machine_, Workload{{first, other}}, *make_policy("easy").policy, *model_, log);
    return log.end(first.job.id);
  };
  const auto others = declaring_jobs(3);
  const Instant end = end_of_first(others[0]);
  for (const TracedJob& other : others) EXPECT_EQ(end_of_first(other), end);
}

// The rates of jobs that are on cores, by the job: after all have come in this order, and one has left.
std::map<JobId, double> rates_after(const RuntimeModel& model, const Machine& machine,
                                    const std::vector<std::pair<TracedJob, Allocation>>& jobs,
                                    const std::vector<std::size_t>& order) {
  SharedRates rates{machine, model.looks_at_nodes()};
  std::map<JobId, double> found;
  std::map<JobId, ModelledJob> modelled;
  const auto set = [&](JobId job, const Allocation& on, const Surroundings& around) {
    found[job] = model.rate(modelled.at(job), on, around);
  };
  for (const std::size_t i : order) {
    const auto& [traced, on] = jobs[i];
    modelled[traced.job.id] = as_true(traced, on);
    rates.come(modelled.at(traced.job.id), on, set);
  }
  rates.leave(jobs.back().first.job.id, set);
  return found;
}

TEST_P(EveryModel, GivesTheSameRatesInWhateverOrderJobsHaveCome) {
  const bool shareable = allows_jobs_on_one_core();
  const auto traced = declaring_jobs(4);
  std::vector<std::pair<TracedJob, Allocation>> jobs;
  const std::vector<std::vector<int>> places = shareable
                                                   ? std::vector<std::vector<int>>{{0, 1, 4}, {1, 2}, {4, 5, 8}, {8, 2}}
                                                   : std::vector<std::vector<int>>{{0, 1, 4}, {2}, {5, 8}, {9, 3}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    jobs.emplace_back(traced[i], on_cores(places[i], shareable));
    jobs.back().first.job.processes = static_cast<ProcessCount>(places[i].size());
  }
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rates = rates_after(*model_, machine_, jobs, order);
  while (std::ranges::next_permutation(order).found) {
    auto others = rates_after(*model_, machine_, jobs, order);
    for (std::size_t i = 0; i + 1 < jobs.size(); ++i)
      EXPECT_EQ(others.at(jobs[i].first.job.id), rates.at(jobs[i].first.job.id));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryModel, testing::ValuesIn(every_model()),
                         [](const testing::TestParamInfo<std::string>& model) {
                           std::string name = model.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace replay::test
