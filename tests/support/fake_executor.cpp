#include "tests/support/fake_executor.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace replay::test {

struct FakeExecutor::Timer {
  std::function<void()> what;
  event* timer = nullptr;
  ~Timer() {
    if (timer != nullptr) event_free(timer);
  }
};

FakeExecutor::FakeExecutor(std::map<JobId, Duration> runtimes) : runtimes_(std::move(runtimes)) {}
FakeExecutor::~FakeExecutor() { detach(); }

void FakeExecutor::attach(event_base* loop, live::ExecutorListener* listener) {
  loop_ = loop;
  listener_ = listener;
}

void FakeExecutor::detach() {
  timers_.clear();
  loop_ = nullptr;
}

Instant FakeExecutor::now() const {
  return Instant{std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

void FakeExecutor::after(Duration wait, std::function<void()> what) {
  auto timer = std::make_unique<Timer>();
  timer->what = std::move(what);
  timer->timer = event_new(
      loop_, -1, 0, [](evutil_socket_t, short, void* self) { static_cast<Timer*>(self)->what(); }, timer.get());
  const auto micros = std::max<std::int64_t>(0, wait.count());
  const timeval tv{static_cast<time_t>(micros / 1'000'000), static_cast<suseconds_t>(micros % 1'000'000)};
  event_add(timer->timer, &tv);
  timers_.push_back(std::move(timer));
}

void FakeExecutor::populations_changed() {
  std::map<CoreId, int> ranks_on;
  std::map<CoreId, std::set<JobId>> jobs_on;
  for (const auto& [job, running] : running_)
    for (const CoreId core : running.core_of_rank)
      if (!running.asleep) ++ranks_on[core], jobs_on[core].insert(job);
  for (const auto& [core, jobs] : jobs_on)
    if (std::cmp_greater(jobs.size(), most_jobs_on_core) && misuse.empty())
      misuse = fmt::format("core {} has {} jobs, {} among them", core, jobs.size(),
                           static_cast<std::int64_t>(*jobs.rbegin()));
  for (auto& [job, running] : running_) {
    int most = 0;
    for (const CoreId core : running.core_of_rank) most = std::max(most, ranks_on[core]);
    const double rate = running.asleep ? 0 : 1.0 / most;
    if (rate == running.progress.rate()) continue;
    running.progress.change_rate(now(), rate);
    plan_end(job);
  }
}

void FakeExecutor::launch(const live::LaunchOrder& order) {
  launched_.insert(order.job);
  if (const auto fault = not_started.extract(order.job))
    return after(answer_after, [this, job = order.job, why = fault.mapped()] { listener_->on_not_started(job, why); });
  running_.insert_or_assign(order.job, Running{order.core_of_rank, Progress{runtimes_.at(order.job), now(), 1.0}});
  placements[order.job].push_back(order.core_of_rank);
  plan_end(order.job);
  populations_changed();
  const auto late = begins_after.find(order.job);
  after(late == begins_after.end() ? Duration{} : late->second, [this, job = order.job] {
    if (!running_.contains(job)) return;
    listener_->on_begun(job);
    after(answer_after, [this, job] {
      if (running_.contains(job)) listener_->on_started(job, true, "");
    });
  });
}

void FakeExecutor::resize(JobId job, const std::vector<CoreId>& core_of_rank) {
  if (!running_.contains(job)) return;  // it has ended; the report is on its way
  if (refuses_resize)
    return after(answer_after, [this, job] {
      if (running_.contains(job)) listener_->on_action_failed(job, "resize", "refused");
    });
  running_.at(job).core_of_rank = core_of_rank;
  placements[job].push_back(core_of_rank);
  populations_changed();
  after(answer_after, [this, job] {
    if (running_.contains(job)) listener_->on_resized(job);
  });
}

void FakeExecutor::suspend(JobId job) {
  if (!running_.contains(job)) return;
  if (refuses_suspension)
    return after(answer_after, [this, job] {
      if (running_.contains(job)) listener_->on_action_failed(job, "suspend", "refused");
    });
  if (std::exchange(running_.at(job).asleep, true) && misuse.empty()) misuse = "a job is suspended twice";
  populations_changed();
  after(answer_after, [this, job] {
    if (running_.contains(job)) listener_->on_suspended(job);
  });
}

void FakeExecutor::resume(JobId job) {
  if (!running_.contains(job)) return;
  if (!std::exchange(running_.at(job).asleep, false) && misuse.empty()) misuse = "a job is resumed that is awake";
  populations_changed();
  after(answer_after, [this, job] {
    if (running_.contains(job)) listener_->on_resumed(job);
  });
}

void FakeExecutor::plan_end(JobId job) {
  const Instant end = running_.at(job).progress.end();
  if (end == kNever) return;
  after(end - now(), [this, job, end] {
    if (!running_.contains(job) || running_.at(job).progress.end() != end) return;  // a resize has moved the end
    running_.erase(job);
    populations_changed();
    JobEnd how;
    if (fails.contains(job)) how = {Outcome::kFailed, 3, Verification::kNone, -1, last_words};
    listener_->on_ended(job, how);
  });
}

void FakeExecutor::change(const Machine& machine, const NodeChange& change) {
  listener_->on_node(change, "");
  if (change.state != NodeState::kDown) return;
  std::vector<JobId> lost;
  for (const auto& [job, running] : running_)
    if (std::ranges::any_of(running.core_of_rank, [&](CoreId core) { return machine.node_of(core) == change.node; }))
      lost.push_back(job);
  for (const JobId job : lost) {
    running_.erase(job);
    listener_->on_ended(job, {Outcome::kLost, 0, Verification::kNone, -1, change.reason});
  }
  populations_changed();
}

void FakeExecutor::slow_down(JobId job, double slowdown) {
  if (!launched_.contains(job) && misuse.empty()) misuse = "a job is slowed down before its launch";
  slowdowns.emplace_back(job, slowdown);
}

void FakeExecutor::end(JobId job, Outcome reason) {
  if (const auto found = running_.find(job); found != running_.end() && ++found->second.orders_to_end < orders_to_end)
    return;
  after(answer_after, [this, job, reason] {
    if (running_.erase(job) == 0) return;
    populations_changed();
    listener_->on_ended(job, {reason, 15, Verification::kNone, -1, ""});
  });
}

}  // namespace replay::test
