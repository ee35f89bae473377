#include "launcher/local_executor.hpp"

#include <fmt/format.h>
#include <time.h>

#include <optional>
#include <set>
#include <variant>

#include "launcher/agent_client.hpp"
#include "scheduler/model/error.hpp"

namespace replay::launcher {
namespace {

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

class LocalExecutor final : public live::Executor {
 public:
  LocalExecutor(AgentHandle agent, LocalMachine local) : agent_(std::move(agent)), local_(std::move(local)) {}

  void attach(event_base* loop, live::ExecutorListener* listener) override {
    INVARIANT(listener_ == nullptr, "the executor is attached twice");
    listener_ = listener;
    client_.emplace(
        loop, agent_.stream(),
        [this](const protocol::AgentReport& report) { std::visit([this](const auto& r) { on(r); }, report); },
        [this](const std::string& reason) { lose(reason); });
  }

  void detach() override {
    client_.reset();
    listener_ = nullptr;
    is_lost_ = true;  // to the loop; the jobs end with the agent, in the destructor
  }

  void launch(const live::LaunchOrder& order) override {
    alive_.insert(order.job);
    send(protocol::LaunchJob{order.job, order.command, order.environment, order.directory.string(),
                             cores_of(order.core_of_rank), order.malleable, now_ns()});
  }
  void resize(JobId job, const std::vector<CoreId>& core_of_rank) override {
    send(protocol::MoveRanks{job, cores_of(core_of_rank)});
  }
  void suspend(JobId job) override { send(protocol::SuspendJob{job}); }
  void resume(JobId job) override { send(protocol::ResumeJob{job}); }
  void end(JobId job, Outcome reason) override { send(protocol::EndJob{job, reason}); }

 private:
  [[nodiscard]] std::vector<std::int32_t> cores_of(const std::vector<CoreId>& cores) const {
    std::vector<std::int32_t> found;
    for (const CoreId core : cores) {
      INVARIANT(core >= 0 && static_cast<std::size_t>(core) < local_.pu_of_core.size(), "core {} of a machine of {}",
                core, local_.pu_of_core.size());
      found.push_back(local_.pu_of_core[static_cast<std::size_t>(core)]);
    }
    return found;
  }

  void send(const protocol::AgentOrder& order) {
    INVARIANT(client_ || is_lost_, "an order before attach()");
    if (!is_lost_) client_->send(order);
  }

  void on(const protocol::Hello&) {}
  void on(const protocol::Heartbeat&) {}
  void on(const protocol::JobStarted& r) {
    if (alive_.contains(r.job)) listener_->on_started(r.job, r.malleable, r.reason);
  }
  void on(const protocol::RanksMoved& r) {
    if (alive_.contains(r.job)) listener_->on_resized(r.job);
  }
  void on(const protocol::JobSuspended& r) {
    if (alive_.contains(r.job)) listener_->on_suspended(r.job);
  }
  void on(const protocol::JobResumed& r) {
    if (alive_.contains(r.job)) listener_->on_resumed(r.job);
  }
  void on(const protocol::JobMeasured& r) {
    if (alive_.contains(r.job)) listener_->on_measured(r.job, r.cpu_use);
  }
  void on(const protocol::JobEnded& r) {
    if (alive_.erase(r.job) > 0) listener_->on_ended(r.job, r.end);
  }
  void on(const protocol::OrderFailed& r) {
    if (alive_.contains(r.job)) listener_->on_action_failed(r.job, r.action, r.reason);
  }

  void on(const protocol::JobStatistics&) {}

  void lose(const std::string& reason) {
    if (is_lost_) return;
    is_lost_ = true;
    agent_.stop();  // whatever it left running ends here
    alive_.clear();
    listener_->on_lost(reason);
  }

  AgentHandle agent_;
  LocalMachine local_;
  live::ExecutorListener* listener_ = nullptr;
  std::set<JobId> alive_;  // launched, end not yet heard
  bool is_lost_ = false;
  std::optional<AgentClient>
      client_;  // last, so that it goes before the agent's stream is closed: closing means goodbye
};

}  // namespace

std::unique_ptr<live::Executor> make_local_executor(AgentHandle agent, LocalMachine local) {
  return std::make_unique<LocalExecutor>(std::move(agent), std::move(local));
}

}  // namespace replay::launcher
