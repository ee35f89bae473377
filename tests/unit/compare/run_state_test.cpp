#include "scheduler/compare/run_state.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/sim/simulator.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/sharing_policies.hpp"
#include "tests/support/stalled_run.hpp"
#include "tests/unit/metrics/five_jobs.hpp"
#include "tests/unit/metrics/records.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::compare {
namespace {

using namespace std::chrono_literals;
using metrics::Point;
using metrics::Records;
using metrics::Series;
using test::at;
using test::core_loads;

// A simulation carries decisions out within the instant: at its end the plan equals the machine's state.
TEST(RunState, AgreesWithTheMachineAtTheEndOfEachInstant) {
  for (const char* policy : {"easy", "fcfs-malleable", "easy-malleable"})
    for (const char* machine : {"flat:8", "2x1x4"})
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto log = test::simulate(policy, Machine::parse(machine), test::random_jobs(seed, 60, 8));
        RunState state;
        Series series;
        history::Follower follower{{&state, &series}};
        log::Header header;
        header.set("machine", machine);
        follower.header(header);
        for (std::size_t i = 0; i < log.records().size(); ++i) {
          const log::Record& record = log.records()[i];
          follower.record(record);
          if (i + 1 < log.records().size() && log.records()[i + 1].at == record.at) continue;
          const Point& now = series.points().back();
          ASSERT_EQ(state.cores() - state.free_cores(), now.busy_cores) << policy << " " << seed << " record " << i;
          ASSERT_EQ(state.waiting().size(), static_cast<std::size_t>(now.queued));
          ASSERT_EQ(state.running().size(), static_cast<std::size_t>(now.running));
        }
      }
}

TEST(RunState, CoresCountAsGivenAwayWhenThatIsDecided) {
  test::Followed<RunState> state;
  Records("flat:4")
      .submit(0, 1, 4, 10)
      .add(0, log::StartDecided{JobId{1}, {4, 1, {}}})
      .launch(0, 1, 4)
      .add(3, log::ResizeDecided{JobId{1}, {2, 2, {}}})
      .feed(state);
  EXPECT_EQ(state->free_cores(), 2) << "the processes may still be on all four";
  state.record({at(4s), log::SuspendDecided{JobId{1}}});
  EXPECT_EQ(state->free_cores(), 4);
  state.record({at(4s), log::SuspendDone{JobId{1}}});
  EXPECT_EQ(state->find(JobId{1})->estimated_end(), kNever);
  state.record({at(9s), log::ResumeDecided{JobId{1}}});
  EXPECT_EQ(state->free_cores(), 2);
  state.record({at(9s), log::ResumeDone{JobId{1}}});
  EXPECT_EQ(state->find(JobId{1})->estimated_end(), at(15s)) << "10 s of estimate and 5 s asleep";
  state.record({at(9s), log::KillDecided{JobId{1}, {}}});
  EXPECT_EQ(state->free_cores(), 4);
  state.record({at(10s), log::Finished{JobId{1}, {}}});
  EXPECT_EQ(state->free_cores(), 4);
  EXPECT_EQ(state->find(JobId{1}), nullptr);
}

// Compares, before each pass, the instants at which running jobs use up their estimates: from the controller, and from
// the log.
class EndsWitness final : public Policy, public log::Sink {
 public:
  EndsWitness(const Machine& machine, const RuntimeModel& model, Policy& inner)
      : Policy(inner.traits()), inner_(inner), state_(declared_rate(model)) {
    log::Header header;
    header.set("machine", machine.to_text());
    follower_.header(header);
  }
  void decide(const ClusterView& view, Decisions& out) override {
    for (const RunningJob* job : view.running.by_start()) {
      const LiveJob* known = state_.find(job->job->id);
      ASSERT_NE(known, nullptr);
      ASSERT_EQ(known->estimated_end(), job->estimated_end)
          << "job " << static_cast<std::int64_t>(job->job->id) << " at " << to_text(view.now);
      seen_.shrunk += known->held.mpl > 1 ? 1 : 0;
      seen_.slowed += known->held.shareable && known->budget.rate() < 1 && known->held.mpl == 1 ? 1 : 0;
      seen_.asleep += known->estimated_end() == kNever ? 1 : 0;
    }
    inner_.decide(view, out);
  }
  void header(const log::Header&) override {}
  void record(const log::Record& record) override { follower_.record(record); }
  struct Seen {
    int shrunk = 0, slowed = 0, asleep = 0;  // slowed: expanded, beside a neighbour
  };
  [[nodiscard]] Seen seen() const { return seen_; }

 private:
  Policy& inner_;
  RunState state_;
  history::Follower follower_{{&state_}};
  Seen seen_;
};

EndsWitness::Seen expect_the_same_ends(Policy& policy, const Machine& machine, std::vector<TracedJob> jobs,
                                       const char* model_name, Overrun overrun, EndsWitness::Seen so_far) {
  const auto model = make_runtime_model(model_name);
  EndsWitness witness{machine, *model, policy};
  SimulationOptions options;
  options.overrun = overrun;
  replay::simulate(machine, Workload{std::move(jobs)}, witness, *model, witness, options);
  const EndsWitness::Seen seen = witness.seen();
  return {so_far.shrunk + seen.shrunk, so_far.slowed + seen.slowed, so_far.asleep + seen.asleep};
}

TEST(RunState, EstimatesAreUsedUpWhenTheControllerSaysSo) {
  EndsWitness::Seen seen;
  for (const char* policy : {"easy", "fcfs-malleable", "easy-malleable"})
    for (const char* model : {"utrera", "isolated"})
      for (std::uint64_t seed = 1; seed <= 5; ++seed)
        seen =
            expect_the_same_ends(*make_policy(policy).policy, Machine::parse("2x1x4"), test::random_jobs(seed, 60, 8),
                                 model, seed % 2 == 0 ? Overrun::kKill : Overrun::kExtend, seen);
  EXPECT_GT(seen.shrunk, 100);
}

TEST(RunState, SoTheyAreOfJobsThatShareCoresAndSleep) {
  EndsWitness::Seen seen;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    test::Beside beside;
    test::Slices slices{10s, true};
    for (Policy* policy : {static_cast<Policy*>(&beside), static_cast<Policy*>(&slices)})
      seen = expect_the_same_ends(*policy, Machine::parse("1x1x8"), test::random_jobs(seed, 40, 8), "isolated",
                                  Overrun::kKill, seen);
  }
  EXPECT_GT(seen.slowed, 100);
  EXPECT_GT(seen.asleep, 100);
}

log::Header header_of(const Machine& machine) {
  log::Header header;
  header.set("machine", machine.to_text());
  return header;
}

// What a policy knows of free cores at its passes.
class FreeCoresWitness final : public Policy, public log::Sink {
 public:
  FreeCoresWitness(std::unique_ptr<Policy> policy, const Machine& machine)
      : Policy(policy->traits()), inner_(std::move(policy)) {
    follower_.header(header_of(machine));
  }
  void decide(const ClusterView& view, Decisions& out) override {
    // One that counts jobs as gone whose estimate is used up knows so before the log does.
    const CoreCount seen = view.free.total(), here = state_.free_cores();
    if (wrong.empty() && (traits().pass_rule == PassRule::kEvent ? here > seen || here < 0 : here != seen))
      wrong = "at " + to_text(view.now) + " s the log has " + std::to_string(here) + " free, the policy sees " +
              std::to_string(seen);
    inner_->decide(view, out);
  }
  Duration more_time(const ClusterView& view, const RunningJob& job) override { return inner_->more_time(view, job); }
  void header(const log::Header&) override {}
  void record(const log::Record& record) override { follower_.record(record); }

  std::string wrong;

 private:
  std::unique_ptr<Policy> inner_;
  RunState state_;
  history::Follower follower_{{&state_}};
};

struct SharingCase {
  const char* policy;
  const char* model;
};
constexpr SharingCase kCasesOnNodes[] = {
    {"easy", "rigid"},
    {"easy:reservations=all", "rigid"},
    {"easy:pass=instant", "rigid"},
    {"conservative", "rigid"},
    {"plan:pass=event", "rigid"},
    {"slack", "rigid"},
    {"dynp", "rigid"},
    {"greedy-moldable", "rigid"},
    {"scojo", "speedup"},
    {"scojo-p", "rigid"},
    {"fcfs-malleable:max_mpl=3", "isolated"},
    {"fcfs-malleable:share=first:max_mpl=4", "isolated"},
    {"fcfs-malleable:share=last", "isolated"},
    {"easy-malleable:expand=eager", "isolated"},
    {"g-lomarc-ts:short=1s", "pairs"},
    {"g-lomarc-ts:short=1s", "isolated+pairs"},
    {"g-lomarc-ts:short=1s:variant=cst", "pairs"},
    {"scojo-pect:interval=60s:short-slice=10s:overhead=2s:short=10s:medium=40s:inner=easy", "rigid"},
    {"scojo-pect:interval=45s:short-slice=7s:overhead=0:short=20s:medium=60s:inner={fcfs-malleable:max_mpl=3}",
     "isolated"},
    {"scojo-pect:interval=45s:short-slice=7s:overhead=2s:short=2s:medium=60s:inner={g-lomarc-ts:short=2s}", "pairs"},
};

TEST(RunState, HasTheFreeCoresThatEachPolicySees) {
  for (const auto& [policy, model_name] : kCasesOnNodes)
    for (const char* machine_text : {"4x1x4", "2x2x4"})
      for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const Machine machine = Machine::parse(machine_text);
        FreeCoresWitness witness{make_policy(policy).policy, machine};
        const auto model = make_runtime_model(model_name);
        replay::simulate(machine, Workload{test::random_moldable_jobs(seed, 40, machine.size())}, witness, *model,
                         witness, {});
        ASSERT_EQ(witness.wrong, "") << policy << " " << machine_text << " seed " << seed;
      }
}

// In a real run a job whose estimate is used up has some seconds of grace, in which policies with a pass for each event
// count its cores as free and give them away.
TEST(RunState, NeverHasFewerThanNoFreeCoreWhileJobsAreInTheirGrace) {
  for (const auto& [policy, model_name] : kCasesOnNodes)
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const Machine machine = Machine::parse("2x1x4");
      const auto inner = make_policy(policy).policy;
      const test::StalledRun run =
          test::run_with_stalls(*inner, machine, test::random_jobs(seed, 20, machine.size()), Overrun::kKill, seed);
      RunState state;
      history::Follower follower{{&state}};
      follower.header(header_of(machine));
      for (const log::Record& record : run.log.records()) {
        follower.record(record);
        ASSERT_GE(state.free_cores(), 0) << policy << " seed " << seed << " at " << to_text(record.at);
        ASSERT_LE(state.free_cores(), machine.size()) << policy << " seed " << seed << " at " << to_text(record.at);
      }
      EXPECT_EQ(state.free_cores(), machine.size()) << policy << " seed " << seed;
    }
}

TEST(RunState, AJobThatIsOverItsEstimateIsGoneWhenItsCoresAreGivenAway) {
  test::Followed<RunState> state;
  Records("1x1x4")
      .submit(0, 1, 2, 10)
      .submit(0, 2, 2, 90)
      .add(0, log::StartDecided{JobId{1}, {2, 1, core_loads({{0, 1}, {1, 1}})}})
      .launch_on(0, 1, {{0, 1}, {1, 1}})
      .add(0, log::StartDecided{JobId{2}, {2, 1, core_loads({{2, 1}, {3, 1}})}})
      .launch_on(0, 2, {{2, 1}, {3, 1}})
      .submit(11, 3, 1, 5)
      .feed(state);
  EXPECT_EQ(state->free_cores(), 0);
  state.record({at(11s), log::StartDecided{JobId{3}, {1, 1, core_loads({{1, 1}})}}});
  EXPECT_EQ(state->free_cores(), 1) << "core 0 is given back with core 1";
  EXPECT_EQ(state->running().size(), 2U);
  state.record({at(12s), log::KillDecided{JobId{1}, KillReason::kOverrun}});
  state.record({at(13s), log::Finished{JobId{1}, {}}});
  EXPECT_EQ(state->free_cores(), 1);
  state.record({at(13s), log::Launched{JobId{3}, {1, 1, core_loads({{1, 1}})}}});
  EXPECT_EQ(state->free_cores(), 1);
}

TEST(RunState, OnAPoolTheJobThatIsOverItsEstimateForLongestIsGone) {
  test::Followed<RunState> state;
  Records("flat:4")
      .submit(0, 1, 2, 90)
      .submit(0, 2, 2, 10)
      .add(0, log::StartDecided{JobId{1}, {2, 1, {}}})
      .launch(0, 1, 2)
      .add(0, log::StartDecided{JobId{2}, {2, 1, {}}})
      .launch(0, 2, 2)
      .submit(11, 3, 1, 5)
      .add(11, log::StartDecided{JobId{3}, {1, 1, {}}})
      .feed(state);
  EXPECT_EQ(state->free_cores(), 1);
  EXPECT_TRUE(state->find(JobId{1})->holds_cores());
  EXPECT_FALSE(state->find(JobId{2})->holds_cores());
}

// Any log is either followed or refused.
TEST(RunState, MoreCoresThanTheMachineHasAreRefused) {
  RunState pool, nodes;
  EXPECT_THROW(Records("flat:4").submit(0, 1, 5, 10).add(0, log::StartDecided{JobId{1}, {5, 1, {}}}).feed(pool),
               InputError);
  EXPECT_THROW(Records("1x1x2")
                   .submit(0, 1, 1, 10)
                   .add(0, log::StartDecided{JobId{1}, {1, 1, core_loads({{2, 1}})}})
                   .feed(nodes),
               InputError);
}

TEST(RunState, MoreJobsOnACoreThanCanBeThereAreRefused) {
  const auto shared_start = [](int job) { return log::StartDecided{JobId{job}, {1, 1, core_loads({{0, 1}}), true}}; };
  Records records{"1x1x2"};
  for (int job = 1; job <= 3; ++job)
    records.submit(0, job, 1, 10).add(0, shared_start(job)).launch_shared(0, job, {{0, 1}});
  test::Followed<RunState> state;
  EXPECT_THROW(records.feed(state), InputError);
  RunState far;
  EXPECT_THROW(Records("1x1x2").submit(0, 1, 1, 10).add(0, shared_start(1)).launch_shared(0, 1, {{7, 1}}).feed(far),
               InputError);
  RunState twice;
  EXPECT_THROW(Records("1x1x2")
                   .submit(0, 1, 1, 10)
                   .add(0, shared_start(1))
                   .launch_on(0, 1, {{0, 1}})
                   .launch_on(1, 1, {{1, 1}})
                   .feed(twice),
               InputError);
}

TEST(RunState, ASharedCoreIsBusyOnce) {
  test::Followed<RunState> state;
  Records("1x1x4")
      .submit(0, 1, 2, 10)
      .submit(0, 2, 2, 10)
      .add(0, log::StartDecided{JobId{1}, {2, 1, core_loads({{0, 1}, {1, 1}}), true}})
      .add(0, log::StartDecided{JobId{2}, {2, 1, core_loads({{1, 1}, {2, 1}}), true}})
      .feed(state);
  EXPECT_EQ(state->free_cores(), 1);
  state.record({at(1s), log::Finished{JobId{1}, {}}});
  EXPECT_EQ(state->free_cores(), 2);
}

TEST(RunState, TheEarliestStartIsByEstimatesAndExtensionsCount) {
  test::Followed<RunState> state;
  Records("flat:8")
      .submit(0, 1, 3, 10)
      .submit(0, 2, 4, 20)
      .add(0, log::StartDecided{JobId{1}, {3, 1, {}}})
      .launch(0, 1, 3)
      .add(0, log::StartDecided{JobId{2}, {4, 1, {}}})
      .launch(2, 2, 4)
      .feed(state);
  EXPECT_EQ(state->earliest_start(1, at(3s)), at(3s));
  EXPECT_EQ(state->earliest_start(4, at(3s)), at(10s));
  EXPECT_EQ(state->earliest_start(5, at(3s)), at(22s)) << "counted from its launch";
  EXPECT_EQ(state->earliest_start(9, at(3s)), kNever);
  state.record({at(10s), log::Extended{JobId{1}, 15s}});
  EXPECT_EQ(state->earliest_start(4, at(10s)), at(15s));
  EXPECT_EQ(state->earliest_start(4, at(17s)), at(17s)) << "an estimate that is over may end at any time";
}

TEST(RunState, ALogThatCannotBeTrueIsRefused) {
  const auto state_after = [](const Records& records) {
    test::Followed<RunState> state;
    records.feed(state);
  };
  const log::StartDecided start{JobId{1}, {1, 1, {}}};
  EXPECT_THROW(state_after(Records("flat:4").add(0, start)), InputError);
  EXPECT_THROW(state_after(Records("flat:4").submit(0, 1, 1, 1).add(0, start).add(1, start)), InputError);
  EXPECT_THROW(state_after(Records("flat:4").submit(0, 1, 1, 1).submit(1, 1, 1, 1)), InputError);
  EXPECT_THROW(state_after(Records("flat:4").submit(0, 1, 1, 1).add(1, log::SuspendDecided{JobId{1}})), InputError);
  EXPECT_THROW(state_after(Records("")), InputError);
}

}  // namespace
}  // namespace replay::compare
