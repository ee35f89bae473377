#include "launcher/daemon/agent_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "launcher/daemon/agent_client.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {
namespace {

/// The executor's connection to its agent; let_go() ends all jobs there.
class AgentHold {
 public:
  AgentHold() = default;
  AgentHold(const AgentHold&) = delete;
  AgentHold& operator=(const AgentHold&) = delete;
  virtual ~AgentHold() = default;

  [[nodiscard]] virtual int stream() const = 0;
  virtual void let_go() = 0;
  /// CLOCK_MONOTONIC as the agent reads it; 0: its clock is another one.
  [[nodiscard]] virtual std::uint64_t now_ns() const = 0;
  /// For a line over a network, on the first call. Nothing: frames are not sealed.
  [[nodiscard]] virtual std::optional<AgentClient::Sealed> take_sealed() = 0;
  /// The agent's reason as the user is told it.
  [[nodiscard]] virtual std::string explain(const std::string& reason) const = 0;
};

class LocalHold final : public AgentHold {
 public:
  explicit LocalHold(AgentHandle agent) : agent_(std::move(agent)) {}
  [[nodiscard]] int stream() const override { return agent_.stream(); }
  void let_go() override { agent_.stop(); }  // also cleans up after an agent that was killed
  [[nodiscard]] std::uint64_t now_ns() const override { return monotonic_ns(); }
  [[nodiscard]] std::optional<AgentClient::Sealed> take_sealed() override { return std::nullopt; }
  [[nodiscard]] std::string explain(const std::string& reason) const override { return reason; }

 private:
  AgentHandle agent_;
};

class RemoteHold final : public AgentHold {
 public:
  explicit RemoteHold(AgentLink link) : link_(std::move(link)) {}
  [[nodiscard]] int stream() const override { return link_.stream.get(); }
  void let_go() override { link_.close(); }
  [[nodiscard]] std::uint64_t now_ns() const override { return 0; }
  [[nodiscard]] std::optional<AgentClient::Sealed> take_sealed() override {
    return AgentClient::Sealed{link_.writer.get(), std::move(link_.decoder)};
  }
  [[nodiscard]] std::string explain(const std::string& reason) const override {
    return fmt::format("{}: {}", link_.name, reason);
  }

 private:
  AgentLink link_;
};

class AgentExecutor final : public live::Executor {
 public:
  AgentExecutor(std::unique_ptr<AgentHold> agent, std::vector<PuId> pu_of_core)
      : agent_(std::move(agent)), pu_of_core_(std::move(pu_of_core)) {}

  void attach(event_base* loop, live::ExecutorListener* listener) override {
    INVARIANT(listener_ == nullptr, "the executor is attached twice");
    listener_ = listener;
    client_.emplace(
        loop, agent_->stream(),
        [this](const protocol::AgentReport& report) { std::visit([this](const auto& r) { on(r); }, report); },
        [this](const std::string& reason) { lose(reason); }, AgentClient::kSilenceLimit, agent_->take_sealed());
  }

  void detach() override {
    client_.reset();
    listener_ = nullptr;
    is_lost_ = true;  // no order is sent any more; the destructor ends the agent and its jobs
  }

  void launch(const live::LaunchOrder& order) override {
    alive_.insert(order.job);
    send(protocol::LaunchJob{order.job, order.command, order.environment,
                             std::filesystem::absolute(order.directory).string(), cores_of(order.core_of_rank),
                             order.malleable, agent_->now_ns(), order.working_directory.string(), order.surroundings});
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
  void on(const protocol::JobNoted& r) {
    if (alive_.contains(r.job)) listener_->on_noted(r.job, r.text);
  }
  void on(const protocol::JobEnded& r) {
    if (alive_.erase(r.job) == 0) return;
    r.is_site_fault ? listener_->on_not_started(r.job, agent_->explain(r.end.reason))
                    : listener_->on_ended(r.job, r.end);
  }
  void on(const protocol::OrderFailed& r) {
    if (alive_.contains(r.job)) listener_->on_action_failed(r.job, r.action, r.reason);
  }

  void on(const protocol::JobStatistics&) {}
  void on(const protocol::Farewell&) {}  // AgentClient has called lose()

  void lose(const std::string& reason) {
    if (is_lost_) return;
    is_lost_ = true;
    agent_->let_go();  // ends what the agent left running
    alive_.clear();
    listener_->on_lost(agent_->explain(reason));
  }

  std::unique_ptr<AgentHold> agent_;
  std::vector<PuId> pu_of_core_;
  live::ExecutorListener* listener_ = nullptr;
  std::set<JobId> alive_;  // launched, end not yet heard
  bool is_lost_ = false;
  // Last, so that it is destroyed before agent_ closes the stream, which ends all jobs.
  std::optional<AgentClient> client_;
};

}  // namespace

std::unique_ptr<live::Executor> make_local_executor(AgentHandle agent, LocalMachine local) {
  return std::make_unique<AgentExecutor>(std::make_unique<LocalHold>(std::move(agent)), std::move(local.pu_of_core));
}

std::unique_ptr<live::Executor> make_remote_executor(AgentLink link) {
  std::vector<PuId> pu_of_core = pus_of(link.hello.cores);
  return std::make_unique<AgentExecutor>(std::make_unique<RemoteHold>(std::move(link)), std::move(pu_of_core));
}

}  // namespace replay::launcher
