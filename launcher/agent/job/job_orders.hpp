// The orders for a running job: move, stop, resume. They wait for the start and are carried out in the order given;
// each is answered once, when it has taken effect: a move when the old cores are free, a stop when no process of the
// job can run.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/agent/cores/rank_move.hpp"
#include "launcher/agent/job/job_context.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

class JobOrders {
 public:
  using Order = std::variant<protocol::MoveRanks, protocol::SuspendJob, protocol::ResumeJob>;

  /// `on_move` is called on real cores when the registered ranks have been bound to other ones.
  JobOrders(JobContext& job, std::function<void()> on_move);

  /// At once, or after the start and the orders before it.
  void carry_out(const Order& order);
  void on_started();
  /// The job is to end, which answers every order: drops them, the current one too.
  void stop();

 private:
  /// What the current order waits for; later orders are queued.
  enum class Busy : std::uint8_t { kNo, kMoving, kStopping };

  void apply(const protocol::MoveRanks& order);
  void apply(const protocol::SuspendJob& order);
  void apply(const protocol::ResumeJob& order);
  void apply_waiting();
  void refuse(std::string_view action, const std::string& reason) const;
  void wait_for(Busy what, std::chrono::milliseconds limit);
  void look_again();

  [[nodiscard]] std::optional<std::string> why_not_move(const std::vector<std::int32_t>& core_of_rank) const;
  void bind_or_go_back(const std::vector<std::int32_t>& core_of_rank) const;
  void bind_ranks(const std::vector<std::int32_t>& core_of_rank) const;
  void finish_move();

  [[nodiscard]] bool has_stopped() const;
  void finish_suspend();

  JobContext& job_;
  std::function<void()> on_move_;
  bool is_started_ = false;
  std::deque<Order> waiting_;
  std::optional<RankMove> move_;  // the current one
  Busy busy_ = Busy::kNo;
  std::chrono::steady_clock::time_point busy_until_;
  LoopEvent timer_;
};

}  // namespace replay::launcher
