// Tests that no job waits that fits the free processors when no plan of an earlier job is delayed by it. The table
// below says what that means for each policy; it is checked on event logs, after every instant. All policies but two
// promise two more things: an empty machine has no waiting job, and a job that waits alone does not fit the free
// processors. The exceptions: `conservative` that compresses by arrival, and at early ends only, promises them at early
// ends: a job that was lifted out in vain, because of another that was lifted out after it and moved away, is not
// looked at again until the next early end. `slack` promises less, at early ends and submissions (where_slack_plans);
// with sf=0 it promises both as the others do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "tests/oracle/easy.hpp"
#include "tests/oracle/fresh_plan.hpp"
#include "tests/oracle/moldable/sizes.hpp"
#include "tests/oracle_test/comparison.hpp"
#include "tests/oracle_test/moment.hpp"
#include "tests/support/deciding_policies.hpp"

namespace replay::test {
namespace {

using oracle::Job;
using oracle::QueueOrder;
using oracle::Time;

/// The input of a check: a moment of the run, and each job's start in the finished run.
struct Seen {
  Moment moment;
  std::function<Time(const Job&)> start;
};
/// The job that waits against the promise.
using Idle = std::optional<const Job*>;
using Check = std::function<Idle(const Seen&)>;

Idle empty_machine(const Seen& seen) {
  const Moment& moment = seen.moment;
  return moment.running.empty() && !moment.waiting.empty() ? Idle{moment.waiting.front()} : std::nullopt;
}

Idle waits_alone(const Seen& seen) {
  const Moment& moment = seen.moment;
  if (moment.waiting.size() != 1 || moment.waiting.front()->processes > moment.free()) return std::nullopt;
  return moment.waiting.front();
}

Idle alone_or_on_empty_machine(const Seen& seen) {
  const Idle idle = empty_machine(seen);
  return idle ? idle : waits_alone(seen);
}

// Planned starts move at submissions, early ends and ticks only: "the exact end of an estimate removes nothing", so
// after such an end an empty machine stays idle until the first planned start. Where they do move, the cheapest
// schedule wins, and with several jobs it may start none of them, not even on an empty machine: at an early end the
// only job that may move may be one that has little slack left, to right behind one that stays; and the place of a new
// job may be behind older ones with too little slack for a delay. But where all could start at once, no schedule is
// cheaper than that; only a job beyond its quota gains nothing by moving up, and stays where it is at a submission. If
// no job waited before, the first one that comes to an empty machine starts.
Idle where_slack_plans(const Seen& seen) {
  const Moment& moment = seen.moment;
  if (moment.waiting.empty()) return std::nullopt;
  const bool all_are_new = std::ranges::all_of(
      moment.waiting, [&](const Job* job) { return std::ranges::count(moment.submitted, job) != 0; });
  if (moment.early_ends == 0 && all_are_new) return alone_or_on_empty_machine(seen);
  const bool all_gain =
      std::ranges::none_of(moment.waiting, [](const Job* job) { return job->political_priority < 0; });
  const bool all_would_move = moment.early_ends > 0 || (!moment.submitted.empty() && all_gain);
  int wanted = 0;
  for (const Job* const job : moment.waiting) wanted += job->processes;
  return all_would_move && wanted <= moment.free() ? Idle{moment.waiting.front()} : std::nullopt;
}

Idle nothing_more(const Seen&) { return std::nullopt; }

Idle head_fits(const Seen& seen) {
  const Moment& moment = seen.moment;
  if (moment.waiting.empty() || moment.waiting.front()->processes > moment.free()) return std::nullopt;
  return moment.waiting.front();
}

// Checked on a pool, at multiprogramming levels up to 2.
Idle head_fits_shrunk(const Seen& seen) {
  const Moment& moment = seen.moment;
  if (moment.waiting.empty() || !moment.workload->flat) return std::nullopt;
  const auto least = [](const Job& job) { return job.can_shrink() ? (job.processes + 1) / 2 : job.processes; };
  int could_be_free = moment.free();
  for (const Moment::Running& running : moment.running) could_be_free += running.cores - least(*running.job);
  const Job* const head = moment.waiting.front();
  return least(*head) <= could_be_free ? Idle{head} : std::nullopt;
}

// The first `reserved` jobs of `queue` reserve their earliest holes, in order; finds the first job that fits now beside
// these.
Idle fits_beside_reservations(const Moment& moment, const std::vector<const Job*>& queue, std::size_t reserved) {
  oracle::Plan plan = moment.plan();
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Time estimate = queue[i]->estimate();
    const Time at = plan.earliest(queue[i]->processes, moment.now, estimate);
    if (at == moment.now) return queue[i];
    if (i < reserved) plan.put(queue[i]->processes, at, at + estimate);
  }
  return std::nullopt;
}

Check beside_reservations(std::size_t reserved) {
  return [reserved](const Seen& seen) { return fits_beside_reservations(seen.moment, seen.moment.waiting, reserved); };
}

Check beside_the_first_by_class(oracle::Aging aging) {
  return [aging](const Seen& seen) {
    std::vector<const Job*> queue = seen.moment.waiting;
    std::ranges::stable_sort(queue, {}, [&](const Job* job) {
      return class_at(*job, seen.moment.workload->cores(), seen.moment.now, aging);
    });
    return fits_beside_reservations(seen.moment, queue, 1);
  };
}

Idle fits_in_fresh_plan(const Moment& moment, QueueOrder order) {
  std::vector<const Job*> queue = moment.waiting;
  if (order != QueueOrder::kFcfs)
    std::ranges::stable_sort(
        queue, {}, [&](const Job* job) { return order == QueueOrder::kSjf ? job->estimate() : -job->estimate(); });
  return fits_beside_reservations(moment, queue, queue.size());
}

Check in_fresh_plan(QueueOrder order) {
  return [order](const Seen& seen) { return fits_in_fresh_plan(seen.moment, order); };
}

// The current plan is one of three, so a job must fit in each of them.
Idle in_each_of_three_plans(const Seen& seen) {
  if (seen.moment.submitted.empty() && seen.moment.ends == 0) return std::nullopt;  // no step
  Idle idle;
  for (const QueueOrder order : {QueueOrder::kFcfs, QueueOrder::kSjf, QueueOrder::kLjf})
    if (!(idle = fits_in_fresh_plan(seen.moment, order))) return std::nullopt;
  return idle;
}

// Whether the job fits now for its whole estimate and ends before the first of the others starts. Where a planned start
// never moves later, none of them can have been planned before that, so the job's hole in the plan of all others is
// now.
bool has_hole_now(const Seen& seen, const Job& job) {
  const Moment& moment = seen.moment;
  return moment.plan().fits(job.processes, moment.now, job.estimate()) &&
         std::ranges::all_of(moment.waiting, [&](const Job* other) {
           return other == &job || seen.start(*other) >= moment.now + job.estimate();
         });
}

Idle always_has_hole(const Seen& seen) {
  if (seen.moment.workload->overrun == oracle::Overrun::kExtend) return std::nullopt;  // planned starts move later
  for (const Job* const job : seen.moment.waiting)
    if (has_hole_now(seen, *job)) return job;
  return std::nullopt;
}

// A compression lifts each job out once, one by one: holes that others leave afterwards are not used before the next
// end that calls for compression. If no job starts now, no other job has left anything within the hole of this one.
Check has_hole_when_looked_at(bool at_every_end) {
  return [at_every_end](const Seen& seen) -> Idle {
    const Moment& moment = seen.moment;
    const bool compressed = (at_every_end ? moment.ends : moment.early_ends) > 0;
    if (compressed)
      if (const Idle idle = alone_or_on_empty_machine(seen)) return idle;
    if (moment.workload->overrun == oracle::Overrun::kExtend) return std::nullopt;
    for (const Job* const job : moment.waiting) {
      const bool submitted_now = std::ranges::count(moment.submitted, job) != 0;
      const bool lifted_now = compressed && moment.started.empty();
      if ((submitted_now || lifted_now) && has_hole_now(seen, *job)) return job;
    }
    return std::nullopt;
  };
}

Idle fits_at_a_size(const Seen& seen) {
  for (const Job* const job : seen.moment.waiting)
    if (!offered_sizes(*job, seen.moment.free()).empty()) return job;
  return std::nullopt;
}

struct Promise {
  std::string policy;
  std::string text;  ///< the jobs that may not wait
  Check idle;
  Draw draw{};
  std::string model = "rigid";
  Check always = alone_or_on_empty_machine;
};
void PrintTo(const Promise& promise, std::ostream* out) { *out << promise.policy << ": " << promise.text; }

const std::vector<Promise>& promises() {
  // A submission asks `easy` for a pass only where the job fits. That is enough, as the new job is the last of the queue.
  const Draw long_times{.long_times = true};
  const Draw malleable{.most_nodes = 3, .behaviour = true};
  const Draw moldable{.most_nodes = 3, .moldable = true};
  const Draw priorities{.priorities = true, .extends = false, .policy_tells = true};
  static const std::vector<Promise> all{
      {"fcfs", "the head, where it fits", head_fits},
      {"easy", "the head, and who does not delay it", beside_reservations(1)},
      {"easy:backfill=shortest", "the head, and who does not delay it", beside_reservations(1)},
      {"easy:reservations=3", "who delays none of the first three", beside_reservations(3)},
      {"easy:reservations=all", "who delays nobody before it", in_fresh_plan(QueueOrder::kFcfs)},
      {"priority-easy", "the head by class, and who does not delay it", beside_the_first_by_class(oracle::Aging::kTop),
       long_times},
      {"conservative",
       "who has a hole now when it is submitted, or when it is lifted out at an early end",
       has_hole_when_looked_at(false),
       {},
       "rigid",
       nothing_more},
      {"conservative:compress-at=every-end",
       "who has a hole now when it is submitted, or when it is lifted out at an end", has_hole_when_looked_at(true)},
      {"conservative:compress=start-order", "who has a hole now in the plan of all others", always_has_hole},
      {"conservative:compress=replan", "who delays nobody before it", in_fresh_plan(QueueOrder::kFcfs)},
      {"plan", "who delays nobody before it by arrival", in_fresh_plan(QueueOrder::kFcfs)},
      {"sjf", "who delays nobody with a shorter estimate", in_fresh_plan(QueueOrder::kSjf)},
      {"ljf", "who delays nobody with a longer estimate", in_fresh_plan(QueueOrder::kLjf)},
      {"slack", "all who wait, where they fit at once, at early ends and submissions; else prices decide", nothing_more,
       priorities, "rigid", where_slack_plans},
      {"slack:sf=0", "a job alone, where it fits", nothing_more, priorities},
      {"dynp", "who delays nobody before it in the plan in force, at submissions and ends", in_each_of_three_plans},
      {"dynp:step=submit", "who delays nobody before it in the plan in force", in_each_of_three_plans},
      {"fcfs-malleable", "the head, where shrinking makes room for half of it", head_fits_shrunk, malleable,
       "isolated"},
      {"easy-malleable", "the head, where shrinking makes room for half of it", head_fits_shrunk, malleable,
       "isolated"},
      {"greedy-moldable", "who fits at one of its sizes", fits_at_a_size, moldable, "rigid", nothing_more},
      {"cirne-berman", "some job, on an empty machine", empty_machine, moldable, "rigid", nothing_more},
      {"scojo-p", "some job, on an empty machine", empty_machine, moldable, "rigid", nothing_more},
      {"scojo", "some job, on an empty machine", empty_machine, moldable, "speedup", nothing_more},
      {"scojo-pect:overhead=0:inner=fcfs",
       "some job, where none has started",
       empty_machine,
       {},
       "rigid",
       nothing_more},
  };
  return all;
}

struct Violation {
  Time at;
  const Job* job;
};

std::optional<Violation> violation(const oracle::Workload& workload, const Promise& promise) {
  const MemoryLog log = simulated(workload, promise.policy, promise.model);
  Seen seen{{}, [&](const Job& job) { return log.start(static_cast<JobId>(job.number)).time_since_epoch().count(); }};
  for (Moment& moment : moments_of(log, workload)) {
    seen.moment = std::move(moment);
    for (const Check& check : {promise.always, promise.idle})
      if (const Idle idle = check(seen)) return Violation{seen.moment.now, *idle};
  }
  return std::nullopt;
}

class IdleMachine : public testing::TestWithParam<Promise> {};

TEST_P(IdleMachine, NoJobWaitsThatFitsAndDelaysNobodyWhoMustNotBeDelayed) {
  const Promise& promise = GetParam();
  const auto is_broken = [&](const oracle::Workload& workload) { return violation(workload, promise).has_value(); };
  for (std::uint64_t seed = first_seed(); seed < first_seed() + runs(); ++seed) {
    const oracle::Workload workload = drawn_workload(seed, promise.draw);
    if (!is_broken(workload)) continue;
    const oracle::Workload small = minimised(workload, is_broken);
    const Violation found = *violation(small, promise);
    FAIL() << "seed " << seed << ": promised not to wait: " << promise.text << "; but job " << found.job->number
           << " does at " << to_text(Duration{found.at}) << " s\n"
           << as_command(small, promise.policy, promise.model)
           << as_text(small, program_schedule(small, {promise.policy, {}, promise.draw, promise.model}));
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, IdleMachine, testing::ValuesIn(promises()),
                         [](const testing::TestParamInfo<Promise>& promise) {
                           return test_name(promise.param.policy);
                         });

TEST(IdleMachineTable, HasEveryPolicyOfTheRegistry) {
  std::set<std::string, std::less<>> promising;
  for (const Promise& promise : promises()) promising.insert(promise.policy.substr(0, promise.policy.find(':')));
  for (const PolicyEntry& entry : deciding_policies())
    EXPECT_TRUE(entry.needs_nodes || promising.contains(entry.name)) << entry.name;
}

}  // namespace
}  // namespace replay::test
