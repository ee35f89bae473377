#include "launcher/daemon/agent_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "launcher/daemon/agent_session.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {
namespace {

class AgentExecutor final : public live::Executor {
 public:
  AgentExecutor(AgentHandle child, std::vector<PuId> pu_of_core)
      : child_(std::move(child)), pu_of_core_(std::move(pu_of_core)) {}
  explicit AgentExecutor(AgentLink link) : link_(std::move(link)), pu_of_core_(pus_of(link_->hello.cores)) {}

  void attach(event_base* loop, live::ExecutorListener* listener) override {
    INVARIANT(listener_ == nullptr, "the executor is attached twice");
    listener_ = listener;
    const auto on_report = [this](const protocol::AgentReport& report) {
      std::visit([this](const auto& r) { pass_on(r); }, report);
    };
    const auto on_lost = [this](const std::string& reason) { lose(reason); };
    if (link_)
      session_.emplace(loop, *link_, on_report, on_lost,
                       [this](const std::string& text) { listener_->on_site_noted(explain(text)); });
    else
      session_.emplace(loop, child_->stream(), on_report, on_lost);
  }

  void detach() override {
    session_.reset();
    listener_ = nullptr;
    is_lost_ = true;  // no order is sent any more; the destructor ends the agent and its jobs
  }

  void launch(const live::LaunchOrder& order) override {
    alive_.insert(order.job);
    const std::uint64_t now_ns = link_ ? 0 : monotonic_ns();  // the clock of another node is another one
    send(protocol::LaunchJob{order.job, order.command, order.environment,
                             std::filesystem::absolute(order.directory).string(), cores_of(order.core_of_rank),
                             order.malleable, now_ns, order.working_directory.string(), order.surroundings});
  }
  void resize(JobId job, const std::vector<CoreId>& core_of_rank) override {
    send(protocol::MoveRanks{job, cores_of(core_of_rank)});
  }
  void suspend(JobId job) override { send(protocol::SuspendJob{job}); }
  void resume(JobId job) override { send(protocol::ResumeJob{job}); }
  void end(JobId job, Outcome reason) override { send(protocol::EndJob{job, reason}); }
  void slow_down(JobId job, double slowdown) override {
    send(protocol::SlowDown{job, std::clamp(slowdown, protocol::kLeastSlowdown, protocol::kMostSlowdown)});
  }

 private:
  /// As the agent numbers them.
  [[nodiscard]] std::vector<std::int32_t> cores_of(const std::vector<CoreId>& cores) const {
    std::vector<std::int32_t> found;
    for (const CoreId core : cores) {
      INVARIANT(index_of(core) < pu_of_core_.size(), "core {} of a machine of {}", core, pu_of_core_.size());
      found.push_back(number(pu_of_core_[index_of(core)]));
    }
    return found;
  }

  void send(const protocol::AgentOrder& order) {
    INVARIANT(session_ || is_lost_, "an order before attach()");
    if (!is_lost_) session_->send(order);
  }

  /// Of a job that has ended nothing is passed on.
  template <class Report>
  void pass_on(const Report& r) {
    if constexpr (requires { r.job; })
      if (!alive_.contains(r.job)) return;
    on(r);
  }
  template <class Other>
  void on(const Other&) {}  // Hello, Heartbeat, JobStatistics; Farewell: AgentSession has called lose()
  void on(const protocol::JobStarted& r) { listener_->on_started(r.job, r.malleable, r.reason); }
  void on(const protocol::RanksMoved& r) { listener_->on_resized(r.job); }
  void on(const protocol::JobSuspended& r) { listener_->on_suspended(r.job); }
  void on(const protocol::JobResumed& r) { listener_->on_resumed(r.job); }
  void on(const protocol::JobMeasured& r) { listener_->on_measured(r.job, r.cpu_use); }
  void on(const protocol::JobNoted& r) { listener_->on_noted(r.job, r.text); }
  void on(const protocol::OrderFailed& r) { listener_->on_action_failed(r.job, r.action, r.reason); }
  void on(const protocol::JobEnded& r) {
    alive_.erase(r.job);
    r.is_site_fault ? listener_->on_not_started(r.job, explain(r.end.reason)) : listener_->on_ended(r.job, r.end);
  }

  void lose(const std::string& reason) {
    if (is_lost_) return;
    is_lost_ = true;
    link_ ? link_->end() : child_->stop();  // ends what the agent left running, also if it was killed
    alive_.clear();
    listener_->on_lost(explain(reason));
  }

  [[nodiscard]] std::string explain(const std::string& reason) const {
    return link_ ? fmt::format("{}: {}", link_->name, reason) : reason;
  }

  std::optional<AgentHandle> child_;  // one of the two
  std::optional<AgentLink> link_;
  std::vector<PuId> pu_of_core_;
  live::ExecutorListener* listener_ = nullptr;
  std::set<JobId> alive_;  // launched, end not yet heard
  bool is_lost_ = false;
  // Last, so that it is destroyed before the stream is closed, which ends all jobs.
  std::optional<AgentSession> session_;
};

}  // namespace

std::unique_ptr<live::Executor> make_local_executor(AgentHandle agent, LocalMachine local) {
  return std::make_unique<AgentExecutor>(std::move(agent), std::move(local.pu_of_core));
}

std::unique_ptr<live::Executor> make_remote_executor(AgentLink link) {
  return std::make_unique<AgentExecutor>(std::move(link));
}

}  // namespace replay::launcher
