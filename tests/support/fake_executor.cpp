#include "tests/support/fake_executor.hpp"

#include <fmt/core.h>

#include <algorithm>

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

void FakeExecutor::check_cores() {
  std::map<CoreId, JobId> owner;
  for (const auto& [job, running] : running_)
    for (const CoreId core : running.core_of_rank)
      if (const auto [it, fresh] = owner.emplace(core, job); !fresh && it->second != job && misuse.empty())
        misuse = fmt::format("core {} has jobs {} and {}", core, static_cast<std::int64_t>(it->second),
                             static_cast<std::int64_t>(job));
}

void FakeExecutor::launch(const live::LaunchOrder& order) {
  running_[order.job] = {order.core_of_rank, Progress{runtimes_.at(order.job), now(), 1.0}};
  check_cores();
  after(answer_after, [this, job = order.job] {
    if (running_.contains(job)) listener_->on_started(job, true, "");
  });
  resize(order.job, order.core_of_rank);
}

void FakeExecutor::resize(JobId job, const std::vector<CoreId>& core_of_rank) {
  if (!running_.contains(job)) return;  // its end is on the way
  Running& running = running_.at(job);
  const bool is_launch = running.core_of_rank == core_of_rank;
  running.core_of_rank = core_of_rank;
  const std::set<CoreId> cores{core_of_rank.begin(), core_of_rank.end()};
  running.progress.change_rate(now(), static_cast<double>(cores.size()) / static_cast<double>(core_of_rank.size()));
  check_cores();
  plan_end(job);
  if (is_launch) return;
  after(answer_after, [this, job] {
    if (running_.contains(job)) listener_->on_resized(job);
  });
}

void FakeExecutor::plan_end(JobId job) {
  const Instant end = running_.at(job).progress.end();
  after(end - now(), [this, job, end] {
    if (!running_.contains(job) || running_.at(job).progress.end() != end) return;  // a resize came between
    running_.erase(job);
    JobEnd how;
    if (fails.contains(job)) how = {Outcome::kFailed, 3, Verification::kNone, -1, "exit status 3"};
    listener_->on_ended(job, how);
  });
}

void FakeExecutor::end(JobId job, Outcome reason) {
  after(answer_after, [this, job, reason] {
    if (running_.erase(job) > 0) listener_->on_ended(job, {reason, 15, Verification::kNone, -1, ""});
  });
}

}  // namespace replay::test
