// One job as its nodes have it: a part on each, with the ranks that lie there. An order for the job becomes one for each part
// that it concerns, and their answers become one: it is carried out on all nodes, or on none. Where one node refuses, the
// others are put back as they were; no other job has got the cores meanwhile, because the daemon's ledger holds both the old
// and the new ones until the answer. A part whose node is gone ends with it, and so does the job, on its other nodes too. Pure:
// it knows neither sockets nor time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/live/executor.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

class JobParts {
 public:
  struct Part {
    std::size_t node = 0;
    std::string host;                 ///< for reasons; empty: not named
    std::vector<std::int32_t> cores;  ///< of its ranks, as the node numbers them
  };
  using Send = std::function<void(std::size_t node, const protocol::AgentOrder&)>;

  /// In the order of the ranks; the first part has mpiexec. The order to launch has been given to each.
  /// REQUIRES: `listener` outlives this.
  JobParts(JobId job, std::vector<Part> parts, Send send, live::ExecutorListener& listener);

  /// The cores of all ranks, part by part.
  void resize(const std::vector<std::vector<std::int32_t>>& cores_of_parts);
  void suspend();
  void resume();
  void end(Outcome outcome);
  void slow_down(double slowdown);
  /// Its part on this node is gone with the node, for this reason: the others are ended, and then the job is lost. But an
  /// outcome that was asked for stays, and a job whose mpiexec has ended well has completed, whatever its node did not report.
  /// Nothing happens if the part has ended. REQUIRES: is_on(node).
  void lose(std::size_t node, const std::string& reason);
  /// The answer comes from join(), unless a part ends before.
  void ask_statistics();

  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] bool is_on(std::size_t node) const;
  /// Whether the end was reported. Nothing is reported after it.
  [[nodiscard]] bool is_over() const { return is_over_; }

  /// Reports of one node. REQUIRES: is_on(node).
  void on(std::size_t node, const protocol::JobBegun& report);
  void on(std::size_t node, const protocol::JobStarted& report);
  void on(std::size_t node, const protocol::RanksMoved&) { on_answer(node, Action::kMove, std::nullopt); }
  void on(std::size_t node, const protocol::JobSuspended&) { on_answer(node, Action::kSuspend, std::nullopt); }
  void on(std::size_t node, const protocol::JobResumed&) { on_answer(node, Action::kResume, std::nullopt); }
  void on(std::size_t node, const protocol::JobMeasured& report);
  void on(std::size_t node, const protocol::JobNoted& report);
  void on(std::size_t node, const protocol::OrderFailed& report);
  void on(std::size_t node, const protocol::JobEnded& report);
  /// The answer of one part; of all ranks, when the last one has come: times are those of the first part's clock.
  [[nodiscard]] std::optional<protocol::JobStatistics> join(std::size_t node, const protocol::JobStatistics& report);

 private:
  enum class Action : std::uint8_t { kMove, kSuspend, kResume };
  struct State {
    bool has_begun = false;
    std::optional<protocol::JobStarted> started;
    std::optional<double> cpu_use;
    std::optional<protocol::JobEnded> ended;
    std::deque<protocol::JobStatistics> statistics;  // that other parts have still to answer
  };
  /// The order that is being carried out, or taken back.
  struct Current {
    Action action;
    std::vector<std::vector<std::int32_t>> cores;  // to move to, of each part
    std::vector<bool> is_open{};                   // parts that have not answered
    std::vector<bool> is_done{};                   // parts on which it was carried out
    std::string failure{};                         // empty: none so far
    bool goes_back = false;
  };

  void add(Current order);
  void begin_next();
  void drop_orders();
  void send_to_all(const protocol::AgentOrder& order);
  [[nodiscard]] protocol::AgentOrder order_for(const Current& order, std::size_t part) const;
  void on_answer(std::size_t node, Action action, const std::optional<std::string>& failure);
  void finish();
  void tell_done(Action action);
  void break_off(const std::string& reason);
  /// The end is certain, and has been ordered on all nodes.
  [[nodiscard]] bool is_ending() const { return asked_ || !broken_.empty() || first_failed_ || lost_; }
  void end_others();
  void report_end_of_last();
  [[nodiscard]] protocol::JobEnded joined_end() const;
  [[nodiscard]] std::optional<double> mean_cpu_use() const;
  [[nodiscard]] std::size_t part_of(std::size_t node) const;
  [[nodiscard]] std::string named(std::size_t part, const std::string& reason) const;

  JobId job_;
  std::vector<Part> parts_;
  std::vector<State> states_;
  Send send_;
  live::ExecutorListener& listener_;
  std::deque<Current> waiting_;
  std::optional<Current> current_;
  std::optional<Outcome> asked_;
  std::string broken_;                       // why we have ended it; empty: we have not
  std::optional<std::size_t> first_failed_;  // part
  std::optional<std::size_t> lost_;          // the first part that was lost
  bool is_over_ = false;
};

}  // namespace replay::launcher
