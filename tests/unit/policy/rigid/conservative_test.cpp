// Tests of conservative backfilling and its variants, against a schedule made in the simplest way, and against each
// other.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/rigid/backfill.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

std::map<JobId, Instant> starts(std::string_view policy, CoreCount machine, const std::vector<TracedJob>& jobs) {
  const auto log = simulate(policy, cores(machine), jobs, "rigid");
  std::map<JobId, Instant> all;
  for (const TracedJob& traced : jobs) all[traced.job.id] = log.start(traced.job.id);
  return all;
}

// Sets estimates that end the jobs, as in a log with run times cut at the request.
std::vector<TracedJob> cut_at_request(std::vector<TracedJob> jobs) {
  for (TracedJob& traced : jobs) traced.truth.runtime = std::min(traced.truth.runtime, traced.job.estimate);
  return jobs;
}

TEST(Conservative, ABackfilledJobDelaysNobodyNotJustTheHead) {
  // EASY lets D start at once, as it does not delay the head B; C, the second in the queue, would then start later.
  const std::vector<TracedJob> jobs{job('A').cores(3).runs(2min), job('B').cores(3).runs(2min),
                                    job('C').cores(4).runs(1min), job('D').cores(1).runs(6min)};
  EXPECT_EQ(gantt(simulate("easy", cores(4), jobs), 4, 1min),
            "AABB..C\n"
            "AABB..C\n"
            "AABB..C\n"
            "DDDDDDC\n");
  EXPECT_EQ(gantt(simulate("conservative", cores(4), jobs), 4, 1min),
            "AABBCDDDDDD\n"
            "AABBC......\n"
            "AABBC......\n"
            "....C......\n");
}

// Records when a policy wants to be asked again.
class Wakes final : public Policy {
 public:
  explicit Wakes(Policy& inner) : Policy(inner.traits()), inner_(inner) {}
  void decide(const ClusterView& view, Decisions& out) override {
    inner_.decide(view, out);
    for (const Decision& decision : out)
      if (const auto* wake = std::get_if<WakeAt>(&decision)) all.insert(wake->at);
  }
  std::set<Instant> all;

 private:
  Policy& inner_;
};

TEST(Conservative, APlannedStartFiresAlthoughNothingElseHappensThen) {
  // B is planned for A's estimated end, and asks for a pass then, whatever A does.
  const auto policy = make_policy("conservative:pass=instant");
  Wakes wakes{*policy.policy};
  const auto log =
      simulate(wakes, cores(2), {job('A').cores(2).runs(5min).estimated(3min), job('B').cores(2).runs(1min)}, "rigid");
  EXPECT_EQ(log.start(id('B')), at(3min));
  EXPECT_TRUE(wakes.all.contains(at(3min)));
}

TEST(Conservative, MovesUpWhenAJobEndsEarly) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(1min).estimated(4min), job('B').cores(2).runs(2min),
                                    job('C').cores(4).runs(1min), job('D').cores(2).runs(2min)};
  for (const char* compress : {"arrival", "start-order", "replan"})
    EXPECT_EQ(gantt(simulate(std::string{"conservative:compress="} + compress, cores(4), jobs), 4, 1min),
              "ABBC\n"
              "ABBC\n"
              "ADDC\n"
              "ADDC\n")
        << compress;
}

// A plan as a list of reservations, scanned from the front for each job: slow and plain.
class PlainPlan {
 public:
  explicit PlainPlan(CoreCount machine) : machine_(machine) {}
  struct Slot {
    Instant from, to;
    CoreCount cores;
  };
  std::map<JobId, Slot> slots;

  [[nodiscard]] bool fits(CoreCount cores, Instant from, Instant to) const {
    for (const auto& [id, at] : slots)  // use only changes where a slot begins, or at `from`
      if (at.from > from && at.from < to && used(at.from) + cores > machine_) return false;
    return used(from) + cores <= machine_;
  }
  [[nodiscard]] Instant earliest(const Job& job, Instant now) const {
    std::vector<Instant> candidates{now};
    for (const auto& [id, slot] : slots)
      if (slot.to > now) candidates.push_back(slot.to);
    std::ranges::sort(candidates);
    for (const Instant start : candidates)
      if (fits(cores_needed(job), start, start + job.estimate)) return start;
    return kNever;
  }

 private:
  [[nodiscard]] CoreCount used(Instant at) const {
    CoreCount sum = 0;
    for (const auto& [id, slot] : slots) sum += slot.from <= at && at < slot.to ? slot.cores : CoreCount{0};
    return sum;
  }
  CoreCount machine_;
};

// The schedule of conservative backfilling event by event: submissions before terminations, each followed by its pass.
// Also the first promise of each job.
struct PlainSchedule {
  std::map<JobId, Instant> start, promise;
};

PlainSchedule plain_conservative(CoreCount machine, const std::vector<TracedJob>& jobs, bool in_start_order,
                                 bool at_every_end) {
  PlainPlan plan{machine};
  PlainSchedule schedule;
  std::vector<const TracedJob*> waiting, running, coming;
  for (const TracedJob& traced : jobs) coming.push_back(&traced);
  std::ranges::stable_sort(coming, {}, [](const TracedJob* t) { return t->job.submitted; });
  const auto end_of = [&](const TracedJob* t) { return schedule.start.at(t->job.id) + t->truth.runtime; };
  const auto put = [&](const TracedJob* t, Instant now) {
    const Instant start = plan.earliest(t->job, now);
    plan.slots[t->job.id] = {start, start + t->job.estimate, cores_needed(t->job)};
  };
  const auto start_due = [&](Instant now) {
    std::ranges::stable_sort(waiting, {}, [](const TracedJob* t) { return std::pair{t->job.submitted, t->job.id}; });
    std::vector<const TracedJob*> due;
    for (const TracedJob* t : waiting)
      if (plan.slots.at(t->job.id).from <= now) due.push_back(t);
    std::ranges::stable_sort(due, {}, [&](const TracedJob* t) { return plan.slots.at(t->job.id).from; });
    for (const TracedJob* t : due) {
      schedule.start[t->job.id] = now;
      running.push_back(t);
      std::erase(waiting, t);
    }
  };
  const auto compress = [&](Instant now) {
    std::vector<const TracedJob*> order = waiting;
    std::ranges::stable_sort(order, {}, [](const TracedJob* t) { return std::pair{t->job.submitted, t->job.id}; });
    if (in_start_order) {
      std::ranges::stable_sort(order, {}, [&](const TracedJob* t) { return plan.slots.at(t->job.id).from; });
      for (const TracedJob* t : order) plan.slots.erase(t->job.id);
    }
    for (const TracedJob* t : order) {
      plan.slots.erase(t->job.id);
      put(t, now);
    }
  };
  while (!coming.empty() || !waiting.empty() || !running.empty()) {
    Instant now = kNever;
    if (!coming.empty()) now = coming.front()->job.submitted;
    for (const TracedJob* t : running) now = std::min(now, end_of(t));
    for (const TracedJob* t : waiting) now = std::min(now, plan.slots.at(t->job.id).from);
    bool something = true;
    while (something) {
      something = false;
      if (!coming.empty() && coming.front()->job.submitted == now) {
        const TracedJob* t = coming.front();
        coming.erase(coming.begin());
        put(t, now);
        schedule.promise[t->job.id] = plan.slots.at(t->job.id).from;
        waiting.push_back(t);
        something = true;
      } else if (const auto ended = std::ranges::find_if(running, [&](const TracedJob* t) { return end_of(t) == now; });
                 ended != running.end()) {
        const TracedJob* t = *ended;
        running.erase(ended);
        const bool early = plan.slots.at(t->job.id).to > now;
        plan.slots.erase(t->job.id);
        if (early || at_every_end) compress(now);
        something = true;
      }
      start_due(now);
    }
  }
  return schedule;
}

class ConservativeAgainstThePlainOne : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ConservativeAgainstThePlainOne, EveryJobStartsAtTheSameInstantAndNoLaterThanItsFirstPromise) {
  const std::string order = std::get<0>(GetParam()), end = std::get<1>(GetParam());
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto jobs = cut_at_request(random_jobs(seed, 150, 16));
    const PlainSchedule plain = plain_conservative(16, jobs, order == "start-order", end == "every-end");
    const auto ours = starts("conservative:compress=" + order + ":compress-at=" + end, 16, jobs);
    for (const TracedJob& traced : jobs) {
      const JobId job = traced.job.id;
      ASSERT_EQ(ours.at(job), plain.start.at(job)) << "job " << static_cast<int>(job) << ", seed " << seed;
      ASSERT_LE(ours.at(job), plain.promise.at(job)) << "job " << static_cast<int>(job) << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Compression, ConservativeAgainstThePlainOne,
                         testing::Combine(testing::Values("arrival", "start-order"),
                                          testing::Values("early-end", "every-end")),
                         [](const auto& compression) {
                           std::string name =
                               std::string{std::get<0>(compression.param)} + "_" + std::get<1>(compression.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// A job that is killed ends once: the plan is compressed with the decision, before jobs submitted at that instant are
// placed.
TEST(Conservative, WhetherAJobIsKilledAtItsEstimateOrEndsThereIsTheSame) {
  const std::string policy = "conservative:compress-at=every-end:pass=instant";
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto jobs = random_jobs(seed, 150, 16);
    ASSERT_EQ(starts(policy, 16, jobs), starts(policy, 16, cut_at_request(jobs))) << seed;
  }
}

TEST(Reservations, AllOfThemAreAPlanThatIsMadeAnew) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto jobs = random_jobs(seed, 200, 16);
    ASSERT_EQ(starts("easy:reservations=all", 16, jobs), starts("conservative:compress=replan", 16, jobs)) << seed;
  }
}

TEST(Reservations, OneOfThemByTheProfileIsEasy) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto jobs = random_jobs(seed, 200, 16);
    const auto easy = starts("easy", 16, jobs);
    const auto by_profile = make_reserving_backfill(PassRule::kEvent, 1);
    const auto log = simulate(*by_profile, cores(16), jobs, "rigid");
    for (const auto& [job, start] : easy)
      ASSERT_EQ(log.start(job), start) << static_cast<int>(job) << ", seed " << seed;
  }
}

TEST(Backfill, ShortestFirstAsksTheShortestOfThoseThatWait) {
  const std::vector<TracedJob> jobs{job('A').cores(3).runs(3min), job('B').cores(4).runs(1min),
                                    job('C').cores(1).runs(3min), job('D').cores(1).runs(1min)};
  EXPECT_EQ(simulate("easy:pass=instant", cores(4), jobs).start(id('C')), at(0min));
  const auto log = simulate("easy:pass=instant:backfill=shortest", cores(4), jobs);
  EXPECT_EQ(log.start(id('D')), at(0min));
  EXPECT_EQ(log.start(id('C')), at(4min)) << "after the head: behind D it would delay it";
}

TEST(Backfill, NarrowestFirstAsksTheNarrowest) {
  const std::vector<TracedJob> jobs{job('A').cores(5).runs(3min), job('B').cores(8).runs(1min),
                                    job('C').cores(2).runs(3min), job('D').cores(2).runs(3min),
                                    job('E').cores(1).runs(3min)};
  EXPECT_EQ(simulate("easy:pass=instant", cores(8), jobs).decisions(),
            "start A 5; start C 2; start E 1; start B 8; start D 2");
  EXPECT_EQ(simulate("easy:pass=instant:backfill=narrowest", cores(8), jobs).decisions(),
            "start A 5; start E 1; start C 2; start B 8; start D 2");
}

TEST(Plan, TakesTheWaitingJobsInItsOrder) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(1min), job('B').cores(4).runs(2min),
                                    job('C').cores(4).runs(1min), job('D').cores(4).runs(3min)};
  EXPECT_EQ(gantt(simulate("plan", cores(4), jobs), 1, 1min), "ABBCDDD\n");
  EXPECT_EQ(gantt(simulate("plan:order=sjf", cores(4), jobs), 1, 1min), "ACBBDDD\n");
  EXPECT_EQ(gantt(simulate("sjf", cores(4), jobs), 1, 1min), "ACBBDDD\n");
  EXPECT_EQ(gantt(simulate("ljf", cores(4), jobs), 1, 1min), "DDDBBAC\n");
}

TEST(Plan, BackfillsWhereNobodyOfThePlanIsDelayed) {
  const std::vector<TracedJob> jobs{job('A').cores(3).runs(2min), job('B').cores(4).runs(1min),
                                    job('C').cores(1).runs(2min)};
  EXPECT_EQ(gantt(simulate("ljf", cores(4), jobs), 4, 1min),
            "AAB\n"
            "AAB\n"
            "AAB\n"
            "CCB\n");
}

}  // namespace
}  // namespace replay::test
