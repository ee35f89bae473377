// Tests of slack-based backfilling: prices against the tables of the paper's section 4.4 (the last row is a misprint
// there: its prices are those of alpha_p = 1/3), its priorities and slacks, and its rules on any workload.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/slack/slack_price.hpp"
#include "scheduler/policy/view/hosting.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

// Section 4.1: J1 has 2 processors, J2 has 1, and J3, the new job, has 2; each may be delayed by 2 s in favour of
// another.
struct Row {
  SlackWeights weights;
  SlackOf j1, j2;
  double p3;
  double s1, s2, s3;  // prices of the three schedules
};

SlackOf job_with(double s, double s0, double p) { return {p, s, s0, true}; }

TEST(SlackPrice, TablesOfSection44) {
  const SlackWeights all_one;
  const Row rows[] = {
      {all_one, job_with(10, 10, 0.5), job_with(10, 10, 0.75), 0.5, 4, 3, 4},
      {all_one, job_with(10, 10, 0.15), job_with(10, 10, 0.9), 0.3, 4, 6, 2},
      {all_one, job_with(5, 10, 0.15), job_with(10, 10, 0.9), 0.3, 4, 6, 4},
      {all_one, job_with(1, 10, 0.15), job_with(1, 10, 0.9), 0.3, 4, kImpossible, kImpossible},
      {{0.5, 1, 1, 1}, job_with(10, 10, 0.5), job_with(10, 10, 0.75), 0.5, 2.828427, 3, 2.828427},
      {{1, 1, 0.5, 1}, job_with(10, 10, 0.15), job_with(10, 10, 0.9), 0.3, 4, 3.464102, 2.828427},
      {{1, 1, 1.0 / 3, 1}, job_with(10, 10, 0.15), job_with(10, 10, 0.9), 0.3, 4, 2.884499, 3.174802},
  };
  for (const Row& row : rows) {
    const SlackOf j3 = job_with(10, 10, row.p3);
    constexpr double kPrinted = 1e-6;
    EXPECT_NEAR(price_of_waiting(2, 2, row.weights), row.s1, kPrinted);
    const double s2 = cost_of_moving(1, row.j2, 2, j3, row.weights);
    const double s3 = cost_of_moving(2, row.j1, 2, j3, row.weights);
    if (std::isinf(row.s2)) {
      EXPECT_TRUE(std::isinf(s2) && std::isinf(s3));
    } else {
      EXPECT_NEAR(s2, row.s2, kPrinted);
      EXPECT_NEAR(s3, row.s3, kPrinted);
    }
  }
}

TEST(SlackPrice, AJobThatMovesUpIsAGain) {
  EXPECT_DOUBLE_EQ(cost_of_moving(3, job_with(10, 10, 0.5), -4, job_with(0, 0, 0.5), {}), -12);
  EXPECT_DOUBLE_EQ(cost_of_moving(3, job_with(10, 10, 0.5), 0, job_with(0, 0, 0.5), {}), 0);
}

TEST(SlackPrice, SlackThatIsUsedUpForbidsNoGain) {
  EXPECT_DOUBLE_EQ(cost_of_moving(3, job_with(-50, 10, 0.5), -4, job_with(0, 0, 0.5), {.priority = 0}), -12);
  EXPECT_EQ(cost_of_moving(3, job_with(-50, 10, 0.5), 4, job_with(0, 0, 0.5), {}), kImpossible);
}

TEST(SlackPrice, SlackGrowsAsThePriorityFalls) {
  // Section 4.3 with SF = 3 and AWT = 2401.
  constexpr double kAwt = 2401;
  EXPECT_DOUBLE_EQ(slack_of(0, 0, 0.5, 3, kAwt).s0, 6002.5) << "at first SP is 1/2";
  EXPECT_DOUBLE_EQ(slack_of(0, 0, scheduler_priority(kAwt, kAwt), 3, kAwt).s0, 6002.5) << "an average wait";
  EXPECT_DOUBLE_EQ(slack_of(0, 0, scheduler_priority(0, kAwt), 3, kAwt).s0, 7203) << "starts at once";
  EXPECT_DOUBLE_EQ(slack_of(0, 0, scheduler_priority(3 * kAwt, kAwt), 3, kAwt).s0, 4802) << "twice the average or more";
}

TEST(SlackPrice, AJobMayBeDelayedByAllOfItsSlackHoweverOftenItWasMoved) {
  SlackOf moved = slack_of(0, 0, 0, 1, 30);
  for (const Duration delay : {5'867'200us, 4'000'000us, -1'132'800us, 10'132'800us, 8'000'000us})
    use_slack(moved, delay);
  EXPECT_LT(cost_of_moving(1, moved, seconds(3'132'800us), job_with(0, 0, 0.5), {}), kImpossible);
  EXPECT_EQ(cost_of_moving(1, moved, seconds(3'132'801us), job_with(0, 0, 0.5), {}), kImpossible);
}

TEST(SlackPrice, AJobBeyondItsQuotaCanBeDelayedForEverAndDelaysNobody) {
  const SlackOf beyond = slack_of(0.5, -std::numeric_limits<double>::infinity(), 0.5, 3, 100);
  EXPECT_EQ(cost_of_moving(4, beyond, 1e9, job_with(1, 1, 0.5), {}), 0);
  EXPECT_EQ(cost_of_moving(4, job_with(1e9, 1e9, 0.5), 1, beyond, {}), kImpossible);
}

std::map<JobId, Instant> starts(std::string_view policy, const std::vector<TracedJob>& jobs) {
  const auto log = simulate(policy, cores(16), jobs, "rigid");
  std::map<JobId, Instant> all;
  for (const TracedJob& traced : jobs) all[traced.job.id] = log.start(traced.job.id);
  return all;
}

TEST(Slack, DelaysTheNarrowJobInFavourOfTheWideOne) {
  // The paper's example: J1 (2 processors) and J2 (1) are planned for X's end; J3 has 2 processors and 2 s. In favour
  // of J3 the narrow J2 is delayed, at a price of 2 instead of 4.
  const std::vector<TracedJob> jobs{job('X').cores(4).runs(10s), job('A').cores(2).runs(2s).arrives(1s),
                                    job('B').cores(1).runs(2s).arrives(2s), job('C').cores(2).runs(2s).arrives(3s)};
  const auto log = simulate("slack:awt=60:alpha_p=0", cores(4), jobs, "rigid");
  EXPECT_EQ(log.start(id('A')), at(10s));
  EXPECT_EQ(log.start(id('C')), at(10s));
  EXPECT_EQ(log.start(id('B')), at(12s));
  EXPECT_EQ(simulate("conservative", cores(4), jobs, "rigid").start(id('B')), at(10s));
}

TEST(Slack, DelaysAJobByExactlyItsSlack) {
  // B is planned for 18 s with p = (1/2 + 1 + 1) / 3: its slack is (1 - p) 3 AWT = 1.5 s, which C takes.
  TracedJob late = job('B').cores(3).runs(13s).arrives(2s);
  late.job.user_priority = 0.5;
  late.job.political_priority = 1;
  const auto log =
      simulate("slack:awt=3", cores(4),
               {job('A').cores(4).runs(17s).arrives(1s), late, job('C').cores(4).runs(1500ms).arrives(2s)}, "rigid");
  EXPECT_EQ(log.start(id('C')), at(18s));
  EXPECT_EQ(log.start(id('B')), at(19500ms));
}

// Every fourth job has the highest priorities, every seventh is beyond its user's quota.
std::vector<TracedJob> with_priorities(std::vector<TracedJob> jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i % 4 == 0) jobs[i].job.user_priority = jobs[i].job.political_priority = 1;
    if (i % 7 == 0) jobs[i].job.political_priority = -std::numeric_limits<double>::infinity();
  }
  return jobs;
}

TEST(Slack, WithoutSlackItIsConservativeBackfillingInStartOrder) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto jobs = random_jobs(seed, 60 + static_cast<int>(seed) % 100, 16);
    for (const auto& all : {jobs, with_priorities(jobs)})
      ASSERT_EQ(starts("slack:sf=0:awt=100", all), starts("conservative:compress=start-order:pass=instant", all))
          << seed;
  }
}

TEST(Slack, AJobBeyondItsQuotaMovesUpWhenTimeBecomesFree) {
  auto jobs = std::vector<TracedJob>{job('A').cores(4).runs(10s).estimated(60s),
                                     job('B').cores(4).runs(10s).arrives(1s).estimated(20s)};
  jobs[1].job.political_priority = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(simulate("slack:awt=60", cores(4), jobs, "rigid").start(id('B')), at(10s));
}

// Every fifth job is taken back by its user. In the second workload those that run by then under `policy` end by themselves
// at that instant.
struct TakenBack {
  std::vector<TracedJob> by_users;
  std::vector<TracedJob> by_themselves;
  int while_they_run = 0;
};

TakenBack with_jobs_taken_back(std::string_view policy, std::vector<TracedJob> jobs) {
  for (std::size_t i = 0; i < jobs.size(); i += 5)
    jobs[i].cancelled_after = (jobs[i].job.estimate + jobs[i % 40].job.estimate) / 2;
  TakenBack both{jobs, jobs};
  const auto log = simulate(policy, cores(16), jobs, "rigid");
  for (TracedJob& traced : both.by_themselves) {
    const Instant start = log.start(traced.job.id);
    if (log.outcome(traced.job.id) != Outcome::kCancelled || start == kNever) continue;
    traced.cancelled_after.reset();
    traced.truth.runtime = log.end(traced.job.id) - start;
    ++both.while_they_run;
  }
  return both;
}

TEST(Slack, WhereARunningJobIsTakenBackTheOthersMoveUpAsAtAnyEarlyEnd) {
  int taken_back = 0;
  for (const char* policy :
       {"slack:awt=100", "slack:awt=100:heuristic=aat", "slack:awt=100:heuristic=du", "slack:awt=100:heuristic=dc",
        "slack:awt=100:heuristic=dp", "slack:awt=100:heuristic=all", "slack:awt=100:sf=0", "conservative:pass=instant",
        "conservative:compress=start-order:pass=instant", "conservative:compress-at=every-end:pass=instant"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const TakenBack jobs = with_jobs_taken_back(policy, random_jobs(seed, 100, 16));
      taken_back += jobs.while_they_run;
      ASSERT_EQ(starts(policy, jobs.by_users), starts(policy, jobs.by_themselves)) << policy << ", seed " << seed;
    }
  EXPECT_GT(taken_back, 100);
}

TEST(Slack, AJobStartsInsideItsInsertAndCannotBePushedAwayByTheNextOneOfThatInstant) {
  // A schedule with B at 0 is cheaper: B's wait for A's place costs more than A's delay. But A runs by then.
  const std::vector<TracedJob> jobs{job('A').cores(1).runs(100s).estimated(7200s),
                                    job('B').cores(1).runs(1s).estimated(3600s)};
  const auto log = simulate("slack:awt=2401", cores(1), jobs, "rigid");
  EXPECT_EQ(log.start(id('A')), at(0s));
  EXPECT_EQ(log.start(id('B')), at(100s));
}

// Spreads the submissions, so that the plan after a pass is the one that was promised to the new job.
std::vector<TracedJob> one_at_a_time(std::vector<TracedJob> jobs) {
  Duration later{};
  for (TracedJob& traced : jobs) traced.job.submitted += ++later;
  return jobs;
}

// Records the first promise of a policy to each job.
class Promises final : public Policy {
 public:
  explicit Promises(Policy& inner) : Policy(inner.traits()), inner_(inner) {}
  void decide(const ClusterView& view, Decisions& out) override {
    inner_.decide(view, out);
    for (const Trigger& trigger : view.triggers)
      if (trigger.kind == TriggerKind::kSubmit)
        first[trigger.job->id] = hosting_of(inner_).planned_start(*trigger.job).value_or(view.now);
  }

  std::map<JobId, Instant> first;

 private:
  Policy& inner_;
};

TEST(Slack, NobodyStartsLaterThanItsFirstPromisePlusItsFirstSlack) {
  constexpr double kSlackFactor = 3;
  constexpr double kAwt = 50;
  int delayed = 0;
  for (const Overrun overrun : {Overrun::kKill, Overrun::kPolicy})
    for (const char* heuristic : {"ast", "aat", "du", "dc", "dp"})
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SimulationOptions options;
        options.overrun = overrun;
        const auto jobs = one_at_a_time(random_jobs(seed, 150, 16));
        const NamedPolicy slack = make_policy(std::string{"slack:sf=3:awt=50:heuristic="} + heuristic);
        Promises promises{*slack.policy};
        const auto log = simulate(promises, cores(16), jobs, "rigid", options);
        for (const TracedJob& traced : jobs) {
          const double promise = seconds(promises.first.at(traced.job.id));
          const double wait = promise - seconds(traced.job.submitted);
          const double first_slack = slack_of(0, 0, scheduler_priority(wait, kAwt), kSlackFactor, kAwt).s0;
          const double start = seconds(log.start(traced.job.id));
          ASSERT_LE(start, promise + first_slack + 1e-6) << heuristic << ", seed " << seed;
          delayed += start > promise ? 1 : 0;
        }
      }
  EXPECT_GT(delayed, 0) << "some job has to be delayed, else this test says nothing";
}

// Section 4.7. A runs for 25 s and has requested 20: at 20 it asks for 2 s more, and again at 22 and 24.
std::vector<TracedJob> one_that_overruns() { return {job('A').cores(4).runs(25s).estimated(20s)}; }

SimulationOptions as_the_policy_says() {
  SimulationOptions options;
  options.overrun = Overrun::kPolicy;
  return options;
}

TEST(SlackTick, AJobThatIsInNobodysWayGoesOn) {
  const auto log = simulate("slack:awt=60", cores(4), one_that_overruns(), "rigid", as_the_policy_says());
  EXPECT_EQ(log.end(id('A')), at(25s));
  EXPECT_EQ(log.outcome(id('A')), Outcome::kCompleted);
}

TEST(SlackTick, OthersMakeRoomWithinTheirSlack) {
  auto jobs = one_that_overruns();
  jobs.push_back(job('B').cores(4).runs(5s).arrives(1s));
  const auto log = simulate("slack:awt=60", cores(4), jobs, "rigid", as_the_policy_says());
  EXPECT_EQ(log.end(id('A')), at(25s)) << "4 processors for 2 s cost less than 4 for the 20 s that would be lost";
  EXPECT_EQ(log.start(id('B')), at(25s));
}

TEST(SlackTick, ItIsKilledWhereItWouldBreakAPromise) {
  auto jobs = one_that_overruns();
  jobs.push_back(job('B').cores(4).runs(5s).arrives(1s));
  // (1 - 1/6 - ...) x 3 x 1 s of slack: one extension of 2 s may be within it, three are not.
  const auto log = simulate("slack:awt=1", cores(4), jobs, "rigid", as_the_policy_says());
  EXPECT_EQ(log.outcome(id('A')), Outcome::kOverrun);
  EXPECT_EQ(log.end(id('A')), at(22s));
  EXPECT_EQ(log.start(id('B')), at(22s));
}

TEST(SlackTick, ItIsKilledWhereOthersAreWorthMore) {
  // Without priorities each job that waits 2 s on 4 processors costs 8; A's 20 s on 4 processors are worth 80.
  auto jobs = one_that_overruns();
  for (const char name : {'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J'})
    jobs.push_back(job(name).cores(4).runs(5s).arrives(1s));
  const auto nine = simulate("slack:awt=1000:alpha_p=0", cores(4), jobs, "rigid", as_the_policy_says());
  EXPECT_EQ(nine.end(id('A')), at(25s));
  jobs.push_back(job('K').cores(4).runs(5s).arrives(1s));
  const auto ten = simulate("slack:awt=1000:alpha_p=0", cores(4), jobs, "rigid", as_the_policy_says());
  EXPECT_EQ(ten.outcome(id('A')), Outcome::kOverrun);
  EXPECT_EQ(ten.end(id('A')), at(20s));
}

TEST(SlackTick, SeesThePlanAfterTheEndsAndSubmissionsOfItsInstant) {
  // B reaches its estimate at 50. At that instant A's processor becomes free, and C is submitted and planned before B
  // asks.
  const auto a = job('A').cores(1).runs(50s).estimated(100s);
  const auto b = job('B').cores(1).runs(52s).estimated(50s);
  const auto c = job('C').cores(1).runs(10s);
  const std::vector<TracedJob> room{a, b};
  EXPECT_EQ(simulate("slack:sf=0:awt=60", cores(2), room, "rigid", as_the_policy_says()).end(id('B')), at(52s));
  std::vector<TracedJob> filled{a, b, c};
  filled[2].job.submitted = at(50s);
  const auto one = simulate("slack:sf=0:awt=60", cores(2), filled, "rigid", as_the_policy_says());
  EXPECT_EQ(one.end(id('B')), at(52s)) << "C has A's processor";
  EXPECT_EQ(one.start(id('C')), at(50s));
  filled.push_back(job('D').cores(1).runs(10s).arrives(50s));
  const auto two = simulate("slack:sf=0:awt=60", cores(2), filled, "rigid", as_the_policy_says());
  EXPECT_EQ(two.outcome(id('B')), Outcome::kOverrun) << "D is promised the processor of B";
  EXPECT_EQ(two.start(id('D')), at(50s));
}

TEST(SlackTick, OtherPoliciesKill) {
  const auto log = simulate("easy", cores(4), one_that_overruns(), "rigid", as_the_policy_says());
  EXPECT_EQ(log.end(id('A')), at(20s));
}

TEST(Conservative, KeepsItsFirstPromises) {
  for (const char* compress : {"arrival", "start-order"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto jobs = random_jobs(seed, 150, 16);
      const NamedPolicy conservative = make_policy(std::string{"conservative:compress="} + compress);
      Promises promises{*conservative.policy};
      const auto log = simulate(promises, cores(16), jobs, "rigid");
      for (const TracedJob& traced : jobs)
        ASSERT_LE(log.start(traced.job.id), promises.first.at(traced.job.id)) << compress << ", seed " << seed;
    }
}

}  // namespace
}  // namespace replay::test
