// Tests of jobs that slow each other down by sharing a node, and of jobs that start at another size than they were
// submitted with: worked by hand, and against an integration of the rates from the event log.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "scheduler/model/contention.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/sim/simulator.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/sharing_policies.hpp"

namespace replay::test {
namespace {

MemoryLog run(const Machine& machine, std::vector<TracedJob> jobs, const char* policy, const RuntimeModel& model) {
  MemoryLog log;
  replay::simulate(machine, Workload{std::move(jobs)}, *make_policy(policy).policy, model, log);
  return log;
}

TEST(SharedNodes, TwoJobsSlowEachOtherByTheirPairAndRecoverWhenOneEnds) {
  // A alone to 10 s; then B needs 60 s for its 30, and A does 40 s of its work meanwhile: 50 s are left at 70 s.
  PairTable pairs;
  pairs.add(id('A'), id('B'), 1.5);
  pairs.add(id('B'), id('A'), 2);
  const auto model = make_runtime_model("pairs", {.pairs = &pairs});
  const std::vector<TracedJob> jobs{job('A').cores(2).runs(100s), job('B').cores(2).arrives(10s).runs(30s)};
  const auto one_node = run(Machine::cluster(1, 1, 4), jobs, "easy", *model);
  EXPECT_EQ(one_node.end(id('B')), at(70s));
  EXPECT_EQ(one_node.end(id('A')), at(120s));
  const auto two_nodes = run(Machine::cluster(2, 1, 2), jobs, "easy", *model);
  EXPECT_EQ(two_nodes.end(id('B')), at(40s)) << "a job elsewhere changes nothing";
  EXPECT_EQ(two_nodes.end(id('A')), at(100s));
}

TEST(SharedNodes, BudgetsFollowWhatIsDeclaredAndEndsWhatIsTrue) {
  // B's slowdown is the square of what it declares: after its budget of 30 s at half speed it has done 15 s, is killed.
  PairTable pairs;
  pairs.add(id('B'), id('A'), 2);
  const auto model = make_runtime_model("pairs", {.pairs = &pairs});
  std::vector<TracedJob> jobs{job('A').cores(2).runs(100s), job('B').cores(2).runs(30s)};
  jobs[1].truth.slowdown_power = 2;
  const auto log = run(Machine::cluster(1, 1, 4), jobs, "easy", *model);
  EXPECT_EQ(log.outcome(id('B')), Outcome::kOverrun);
  EXPECT_EQ(log.end(id('B')), at(60s));
}

TEST(SharedNodes, PlansKnowThatAJobIsSlowFromItsStart) {
  // A slows itself down: by plan it ends at 20 min, not at its estimate of 10. At C's submission B must not start.
  std::vector<TracedJob> jobs{job('A').cores(2).runs(10min), job('B').cores(4).arrives(1min).runs(1min),
                              job('C').cores(1).arrives(11min).runs(20min)};
  Declaration slow;
  slow.same_cpu_slowdown = 2;
  jobs[0].job.declaration = std::make_shared<const Declaration>(slow);
  const auto model = make_runtime_model("pairs", {});
  for (const char* policy : {"plan", "sjf", "dynp", "conservative", "slack"}) {
    const auto log = run(Machine::cluster(1, 1, 4), jobs, policy, *model);
    EXPECT_EQ(log.end(id('A')), at(20min)) << policy;
    EXPECT_EQ(log.start(id('B')), at(20min)) << policy;
    EXPECT_EQ(log.start(id('C')), at(21min)) << policy;
  }
}

// What each job has done of its work when it ends, by the launches and ends in the log alone.
std::map<JobId, double> work_done(const MemoryLog& log, const std::map<JobId, TracedJob>& jobs,
                                  const Machine& machine) {
  std::map<JobId, std::set<NodeId>> nodes;
  std::map<JobId, double> done;
  Instant last{};
  const auto shares = [&](JobId a, JobId b) {
    return std::ranges::any_of(nodes.at(a), [&](NodeId node) { return nodes.at(b).contains(node); });
  };
  const auto advance = [&](Instant now) {
    for (auto& [job, its_nodes] : nodes) {
      double slowdown = 0;
      for (const auto& [other, others_nodes] : nodes)
        if (other != job && shares(job, other))
          slowdown = std::max(slowdown, co_scheduling_slowdown(*jobs.at(job).job.declaration->pair_key,
                                                               *jobs.at(other).job.declaration->pair_key));
      done[job] += seconds(now - last) / (slowdown == 0 ? 1 : slowdown);
    }
    last = now;
  };
  for (const log::Record& record : log.records()) {
    advance(record.at);
    if (const auto* launch = std::get_if<log::Launched>(&record.what))
      for (const CoreLoad& load : launch->allocation.named) nodes[launch->job].insert(machine.node_of(load.core));
    if (const auto* finish = std::get_if<log::Finished>(&record.what)) nodes.erase(finish->job);
  }
  return done;
}

TEST(SharedNodes, WorkIsTheIntegralOfTheRatesThatNeighboursLeave) {
  const Machine machine = Machine::cluster(4, 2, 2);
  const auto model = make_runtime_model("pairs");
  int compared = 0;
  for (const char* policy : {"easy", "conservative"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::map<JobId, TracedJob> of_trace;
      auto jobs = random_jobs(seed, 80, 16);
      for (TracedJob& traced : jobs) {
        Declaration declaration;
        declaration.pair_key = static_cast<std::uint64_t>(traced.job.id) * 77 + seed;
        traced.job.declaration = std::make_shared<const Declaration>(declaration);
        of_trace[traced.job.id] = traced;
      }
      const auto log = run(machine, jobs, policy, *model);
      const auto done = work_done(log, of_trace, machine);
      for (const auto& [job, work] : done) {
        if (log.outcome(job) != Outcome::kCompleted) continue;
        EXPECT_NEAR(work, seconds(of_trace.at(job).truth.runtime), 1e-4)
            << policy << ", seed " << seed << ", job " << number(job);
        ++compared;
      }
    }
  EXPECT_GT(compared, 1000) << "of 3200 jobs; the others are killed at their estimates";
}

// Starts each job that waits at seven processes.
class Sevens final : public Policy {
 public:
  void decide(const ClusterView& view, Decisions& out) override {
    CoreCount free = view.free.total();
    for (const Job* job : view.waiting) {
      if (free < 7) return;
      free -= 7;
      Start start{job->id, {}};
      start.allocation.cores = 7;
      start.allocation.processes = 7;
      out.emplace_back(start);
    }
  }
};

TEST(Moldable, AJobStartedAtSevenProcessesEndsWhenItsCurveSays) {
  Declaration declared;
  declared.least = 4;
  declared.most = 16;
  declared.speedup = SpeedupCurve{DowneySpeedup{10, 0.5}};
  TracedJob traced = job('A').cores(12).runs(100s).estimated(110s);
  traced.job.flexibility = Flexibility::kMoldable;
  traced.job.declaration = std::make_shared<const Declaration>(declared);
  // Downey, low variance: S(n) = A n / (A + sigma (n - 1) / 2) up to A, S(7) = 70 / 11.5; beyond it
  // A n / (sigma (A - 1/2) + n (1 - sigma / 2)), S(12) = 120 / 13.75. T(7) = 100 S(12) / S(7) s = 143.376624 s, rounded up.
  for (const Machine& machine : {Machine::pool(16), Machine::cluster(4, 2, 2)}) {
    Sevens policy;
    MemoryLog log;
    replay::simulate(machine, Workload{{traced}}, policy, *make_runtime_model("isolated"), log);
    EXPECT_EQ(log.end(id('A')), at(Duration{143'376'624}));
    EXPECT_EQ(log.outcome(id('A')), Outcome::kCompleted);
  }
  traced.truth.runtime = 120s;  // over its estimate of 110 s, which is 157.714286 s at seven
  Sevens policy;
  MemoryLog log;
  replay::simulate(Machine::pool(16), Workload{{traced}}, policy, *make_runtime_model("isolated"), log);
  EXPECT_EQ(log.end(id('A')), at(Duration{157'714'286}));
  EXPECT_EQ(log.outcome(id('A')), Outcome::kOverrun);
}

TEST(Moldable, ASizeThatIsNotOfferedIsThePolicysError) {
  Declaration declared;
  declared.sizes = {2, 4};
  declared.speedup = SpeedupCurve{};
  TracedJob traced = job('A').cores(4).runs(10s);
  traced.job.flexibility = Flexibility::kMoldable;
  traced.job.declaration = std::make_shared<const Declaration>(declared);
  Sevens policy;
  MemoryLog log;
  try {
    replay::simulate(Machine::pool(16), Workload{{traced}}, policy, *make_runtime_model("isolated"), log);
    FAIL() << "expected an error";
  } catch (const PolicyError& error) {
    EXPECT_STREQ(error.what(), "the policy starts job 65 on 7 cores: they carry 7 processes, the job runs with 2|4");
  }
}

}  // namespace
}  // namespace replay::test
