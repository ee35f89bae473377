#include "launcher/local_executor.hpp"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <fmt/format.h>

#include <set>
#include <variant>

#include "launcher/loop_event.hpp"
#include "scheduler/model/error.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

class LocalExecutor final : public live::Executor {
 public:
  LocalExecutor(AgentHandle agent, LocalMachine local) : agent_(std::move(agent)), local_(std::move(local)) {}

  void attach(event_base* loop, live::ExecutorListener* listener) override {
    INVARIANT(listener_ == nullptr, "the executor is attached twice");
    listener_ = listener;
    line_.reset(bufferevent_socket_new(loop, agent_.stream(), 0));
    INVARIANT(line_ != nullptr, "libevent takes no line to the agent");
    bufferevent_setcb(
        line_.get(), [](bufferevent*, void* self) { static_cast<LocalExecutor*>(self)->on_readable(); }, nullptr,
        [](bufferevent*, short, void* self) { static_cast<LocalExecutor*>(self)->lose("the node agent has died"); },
        this);
    bufferevent_enable(line_.get(), EV_READ | EV_WRITE);
  }

  void detach() override {
    line_.reset();
    listener_ = nullptr;
    is_lost_ = true;  // to the loop; the jobs end with the agent, in the destructor
  }

  void launch(const live::LaunchOrder& order) override {
    alive_.insert(order.job);
    send(protocol::LaunchJob{order.job, order.command, order.environment, order.directory.string(),
                             pus_of(order.core_of_rank), order.malleable});
  }
  void resize(JobId job, const std::vector<CoreId>& core_of_rank) override {
    send(protocol::MoveRanks{job, pus_of(core_of_rank)});
  }
  void suspend(JobId job) override { send(protocol::SuspendJob{job}); }
  void resume(JobId job) override { send(protocol::ResumeJob{job}); }
  void end(JobId job, Outcome reason) override { send(protocol::EndJob{job, reason}); }

 private:
  [[nodiscard]] std::vector<std::int32_t> pus_of(const std::vector<CoreId>& cores) const {
    std::vector<std::int32_t> pus;
    for (const CoreId core : cores) {
      INVARIANT(core >= 0 && static_cast<std::size_t>(core) < local_.pu_of_core.size(), "core {} of a machine of {}",
                core, local_.pu_of_core.size());
      pus.push_back(local_.pu_of_core[static_cast<std::size_t>(core)]);
    }
    return pus;
  }

  void send(const protocol::AgentOrder& order) {
    INVARIANT(line_ != nullptr || is_lost_, "an order before attach()");
    if (is_lost_) return;
    const std::string bytes = protocol::encode(order);
    bufferevent_write(line_.get(), bytes.data(), bytes.size());
  }

  void on_readable() {
    evbuffer* input = bufferevent_get_input(line_.get());
    std::string bytes(evbuffer_get_length(input), '\0');
    evbuffer_remove(input, bytes.data(), bytes.size());
    try {
      decoder_.feed(bytes);
      while (const auto frame = decoder_.next())
        std::visit([this](const auto& report) { on(report); }, protocol::decode_report(*frame));
    } catch (const protocol::ProtocolError& error) {
      lose(fmt::format("the node agent sent no report: {}", error.what()));
    }
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

  void lose(const std::string& reason) {
    if (is_lost_) return;
    is_lost_ = true;
    bufferevent_disable(line_.get(), EV_READ | EV_WRITE);
    agent_.stop();  // whatever it left running ends here
    alive_.clear();
    listener_->on_lost(reason);
  }

  AgentHandle agent_;
  LocalMachine local_;
  live::ExecutorListener* listener_ = nullptr;
  protocol::FrameDecoder decoder_;
  std::set<JobId> alive_;  // launched, end not yet heard
  bool is_lost_ = false;
  // Last, so that it goes before the agent's stream is closed: closing means goodbye.
  std::unique_ptr<bufferevent, decltype([](bufferevent* b) { bufferevent_free(b); })> line_;
};

}  // namespace

std::unique_ptr<live::Executor> make_local_executor(AgentHandle agent, LocalMachine local) {
  return std::make_unique<LocalExecutor>(std::move(agent), std::move(local));
}

}  // namespace replay::launcher
