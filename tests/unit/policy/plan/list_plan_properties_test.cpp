// A plan that is kept is the plan that is made from nothing, whatever has happened in between, and so is its cost.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "scheduler/model/machine.hpp"
#include "scheduler/policy/plan/list_plan.hpp"
#include "tests/support/properties.hpp"

namespace replay::test {
namespace {

constexpr CoreCount kMachineCores = 8;

struct Running {
  Instant until;
  CoreCount cores;
};

// Waiting and running jobs, without a controller.
class World {
 public:
  explicit World(JobOrder order) : order_(order), plan_(order, [](const Job& job) { return cores_needed(job); }) {}

  void submit() {
    Job job;
    job.id = JobId{next_++};
    job.submitted = now_;
    job.processes = *rc::gen::inRange<int>(1, kMachineCores + 1);
    job.estimate = Duration{*rc::gen::inRange(1, 30)};
    jobs_.push_back(std::make_unique<Job>(job));
    waiting_.insert(*jobs_.back());
    tell(TriggerKind::kSubmit, *jobs_.back(), false);
  }

  void cancel() {
    if (jobs_.empty()) return;
    const auto which = *rc::gen::inRange(std::size_t{0}, jobs_.size());
    const std::unique_ptr<Job> gone = take(which);
    tell(TriggerKind::kFinish, *gone, false);
  }

  // Starts any job that fits, where it stands in the order.
  void start() {
    if (jobs_.empty()) return;
    const auto which = *rc::gen::inRange(std::size_t{0}, jobs_.size());
    if (!profile().fits(cores_needed(*jobs_[which]), now_, jobs_[which]->estimate)) return;
    const std::unique_ptr<Job> job = take(which);
    running_.push_back({now_ + job->estimate, cores_needed(*job)});
    plan_.note_start(*job, now_);
  }

  void start_those_planned() {
    for (const ListPlan::Planned& planned : fresh())
      if (planned.start == now_) {
        const auto at = std::ranges::find(jobs_, planned.job->id, [](const auto& job) { return job->id; });
        const std::unique_ptr<Job> job = take(static_cast<std::size_t>(at - jobs_.begin()));
        running_.push_back({now_ + job->estimate, cores_needed(*job)});
        plan_.note_start(*job, now_);
      }
  }

  void end_early() {
    if (running_.empty()) return;
    running_.erase(running_.begin() + *rc::gen::inRange(std::ptrdiff_t{0}, std::ssize(running_)));
    plan_.follow(view({}), true);
  }

  void pass_time() {
    now_ += Duration{*rc::gen::inRange(0, 6)};
    std::erase_if(running_, [this](const Running& running) { return running.until <= now_; });
  }

  void check() {
    const auto made = plan_.make(profile(), now_);
    const std::vector<ListPlan::Planned> expected = fresh();
    RC_ASSERT(made.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      RC_ASSERT(made[i].job == expected[i].job);
      RC_ASSERT(made[i].start == expected[i].start);
    }
  }

  // At limits near the cost and far below it: all of the plan, or a part of it, is made.
  void check_exceeds() {
    ListPlan::Cost cost = 0;
    for (const ListPlan::Planned& planned : fresh()) cost += planned.cores * planned.start.time_since_epoch().count();
    const ListPlan::Cost limit = cost * *rc::gen::inRange(50, 103) / 100 - *rc::gen::inRange(0, 3);
    RC_ASSERT(plan_.exceeds(limit, profile(), now_) == (cost > limit));
  }

 private:
  [[nodiscard]] std::unique_ptr<Job> take(std::size_t which) {
    std::unique_ptr<Job> job = std::move(jobs_[which]);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(which));
    waiting_.remove(*job);
    return job;
  }

  [[nodiscard]] Availability profile() const {
    Availability profile{kMachineCores, now_};
    for (const Running& running : running_) profile.reserve(now_, running.until, running.cores);
    return profile;
  }

  [[nodiscard]] std::vector<ListPlan::Planned> fresh() const {
    std::vector<ListPlan::Planned> plan;
    for (const Job* job : waiting_)
      plan.push_back({job, job->estimate, cores_needed(*job), cores_needed(*job), kNever});
    sort_by(order_, plan, &ListPlan::Planned::job);
    Availability free = profile();
    for (ListPlan::Planned& planned : plan) {
      planned.start = free.earliest_fit(planned.cores, planned.job->estimate, now_);
      free.reserve(planned.start, planned.start + planned.job->estimate, planned.cores);
    }
    return plan;
  }

  [[nodiscard]] ClusterView view(std::span<const Trigger> triggers) const {
    return {now_, machine_, free_, waiting_, no_running_, triggers};
  }
  void tell(TriggerKind kind, const Job& job, bool has_freed) {
    const Trigger trigger{kind, &job};
    plan_.follow(view({&trigger, 1}), has_freed);
  }

  JobOrder order_;
  ListPlan plan_;
  Instant now_{};
  std::int64_t next_ = 1;
  std::vector<std::unique_ptr<Job>> jobs_;  // that wait
  std::vector<Running> running_;
  WaitingQueue waiting_;
  RunningSet no_running_;
  Machine machine_ = Machine::pool(kMachineCores);
  FreeCores free_{machine_};
};

void plan_walk(JobOrder order, int operations) {
  World world{order};
  for (int i = 0; i < operations; ++i) {
    const int what = *rc::gen::inRange(0, 28);
    if (what < 8)
      world.submit();
    else if (what < 9)
      world.cancel();
    else if (what < 12)
      world.start();
    else if (what < 15)
      world.start_those_planned();
    else if (what < 16)
      world.end_early();
    else if (what < 20)
      world.pass_time();
    else if (what < 24)
      world.check_exceeds();
    else
      world.check();
  }
  world.check();
  world.check_exceeds();
}

TEST(ListPlan, IsTheOneMadeFromNothing) {
  EXPECT_TRUE(rc::check(
      [] { plan_walk(*rc::gen::element(JobOrder::kArrival, JobOrder::kShortest, JobOrder::kLongest), 150); }));
}

// So many jobs that there are marks to go back to.
TEST(ListPlan, IsTheOneMadeFromNothingWithALongQueue) {
  EXPECT_TRUE(rc::check([] {
    World world{*rc::gen::element(JobOrder::kArrival, JobOrder::kShortest, JobOrder::kLongest)};
    for (int i = 0; i < 120; ++i) world.submit();
    for (int i = 0; i < 20; ++i) {
      world.start_those_planned();
      world.check_exceeds();
      world.submit();
      world.pass_time();
      world.check();
    }
  }));
}

}  // namespace
}  // namespace replay::test
