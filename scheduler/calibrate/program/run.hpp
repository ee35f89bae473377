// Runs one MPI program under the node agent: launches it, carries out a plan of changes, keeps vmlib's counters at each
// of them. It drives the agent with the protocol's own orders on the thread of an event loop; it prints nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/daemon/agent_session.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/calibrate/program/change_plan.hpp"
#include "scheduler/calibrate/program/phase_figures.hpp"
#include "scheduler/experiment/disturbance.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::calibrate {

struct ProgramOrder {
  protocol::LaunchJob launch;           ///< its core_of_rank: the placement at the start and when expanded again
  std::vector<std::int32_t> shrunk_to;  ///< core of each rank
};

/// One change that was ordered.
struct ChangeRecord {
  Change planned;
  double at = 0;        ///< s after MPI_Init: when it was ordered
  double took = 0;      ///< s from the order to the acknowledgement
  std::string refused;  ///< by the agent, and why; empty: done
};

struct ProgramHistory {
  std::optional<protocol::JobStarted> started;  ///< nothing: it ended before its ranks were registered
  std::string mode = "none";
  std::string back_end;
  std::vector<PhaseTotals> phases;
  std::vector<ChangeRecord> changes;
  std::vector<std::string> notes;  ///< of the agent
  bool has_skipped = false;        ///< resizes, because the job is rigid
  double ran = 0;                  ///< s from the launch to its end
  std::optional<JobEnd> end;       ///< nothing: it was given up
  std::string lost;                ///< why the connection to the agent broke; empty: it did not
};

class ProgramRun {
 public:
  /// Called after each change, carried out or refused.
  using OnChange = std::function<void(const ChangeRecord&, const PhaseKind& now)>;
  /// Called when the job has started, and again when it turns out malleable after all.
  using OnStart = std::function<void(const protocol::JobStarted&)>;

  /// `stream` is connected to an agent; it and the loop outlive this.
  ProgramRun(event_base* loop, int stream, ProgramOrder order, ChangePlan plan, OnStart on_start, OnChange on_change);

  /// Sends the launch. When the job is over, the loop is stopped.
  void launch();
  /// Kills the job; its end is reported as any other.
  void end();

  [[nodiscard]] const ProgramHistory& history() const { return history_; }

 private:
  /// The report that is expected next.
  enum class State : std::uint8_t {
    kLaunching,
    kOpening,    ///< the statistics that begin a phase
    kMeasuring,  ///< nothing in particular
    kClosing,    ///< the statistics that end it, before a change
    kChanging,   ///< the answer to the change's order
    kOver
  };

  void on(const protocol::JobStarted& report);
  void on(const protocol::JobStatistics& report);
  void on(const protocol::RanksMoved& /*report*/) { on_changed(""); }
  void on(const protocol::JobSuspended& /*report*/) { on_changed(""); }
  void on(const protocol::JobResumed& /*report*/) { on_changed(""); }
  void on(const protocol::OrderFailed& report);
  void on(const protocol::JobNoted& report) { history_.notes.push_back(clean_line(report.text, 300)); }
  void on(const protocol::JobEnded& report);
  template <class Other>
  void on(const Other& /*report*/) {}

  void ask();
  void on_late_ranks();
  void arm_next_change();
  void order_change();
  void on_changed(const std::string& refused);
  void close_phase();
  void stop();
  [[nodiscard]] PhaseKind kind() const;
  [[nodiscard]] double since_start() const;

  using Clock = std::chrono::steady_clock;

  event_base* loop_;
  ProgramOrder order_;
  ChangePlan plan_;
  ChangePlan plan_if_malleable_;
  OnStart on_start_;
  OnChange on_change_;
  ProgramHistory history_;

  State state_ = State::kLaunching;
  bool is_shrunk_ = false;
  bool is_suspended_ = false;
  std::optional<Change> change_;  // planned next, or under way
  Clock::time_point launched_;
  Clock::time_point started_;
  Clock::time_point plan_from_;  // when the ranks had registered
  Clock::time_point ordered_;
  double phase_from_ = 0;
  protocol::JobStatistics phase_begin_;
  protocol::JobStatistics phase_end_;
  experiment::MachineTime machine_begin_;
  experiment::MachineTime machine_end_;

  LoopEvent change_event_;
  LoopEvent sample_event_;
  launcher::AgentSession agent_;  // last: destroyed first, so that no report reaches a half-destroyed object
};

}  // namespace replay::calibrate
