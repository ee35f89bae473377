// Runs one MPI program by an executor: launches it, carries out a plan of changes, keeps vmlib's counters at each of
// them. It gives its orders on the thread of an event loop; it prints nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/daemon/agent_executor.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/calibrate/program/change_plan.hpp"
#include "scheduler/calibrate/program/phase_figures.hpp"
#include "scheduler/experiment/disturbance.hpp"
#include "scheduler/live/executor.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::calibrate {

/// The exit status where the program could not be started, as a shell reports it.
inline constexpr int kCannotStart = 127;

struct ProgramOrder {
  live::LaunchOrder launch;         ///< its core_of_rank: the placement at the start and when expanded again
  std::vector<CoreId> shrunk_to{};  ///< core of each rank
  bool measures_load = true;        ///< that of other processes on this machine, where the cores are
};

struct StartedProgram {
  bool malleable = false;
  std::string reason;
};

/// One change that was ordered.
struct ChangeRecord {
  Change planned;
  double at = 0;        ///< s after MPI_Init: when it was ordered
  double took = 0;      ///< s from the order to the acknowledgement
  std::string refused;  ///< by the agent, and why; empty: done
};

struct ProgramHistory {
  std::optional<StartedProgram> started;  ///< nothing: it ended before its ranks were registered
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

class ProgramRun final : live::ExecutorListener {
 public:
  /// Called after each change, carried out or refused.
  using OnChange = std::function<void(const ChangeRecord&, const PhaseKind& now)>;
  /// Called when the job has started, and again when it turns out malleable after all.
  using OnStart = std::function<void(const StartedProgram&)>;

  /// Attaches itself to the executor, and detaches itself at its end. Both and the loop outlive this.
  ProgramRun(event_base* loop, launcher::MeasuredExecutor& executor, ProgramOrder order, ChangePlan plan,
             OnStart on_start, OnChange on_change);
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;
  ~ProgramRun() override;

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

  void on_started(JobId job, bool malleable, const std::string& reason) override;
  void on_resized(JobId /*job*/) override { on_changed(""); }
  void on_suspended(JobId /*job*/) override { on_changed(""); }
  void on_resumed(JobId /*job*/) override { on_changed(""); }
  void on_measured(JobId /*job*/, double /*cpu_use*/) override {}
  void on_noted(JobId /*job*/, const std::string& text) override { on_site_noted(text); }
  void on_site_noted(const std::string& text) override;
  void on_node(const NodeChange& change, const std::string& host) override;
  void on_ended(JobId job, const JobEnd& end) override;
  void on_not_started(JobId job, const std::string& reason) override;
  void on_action_failed(JobId job, const std::string& action, const std::string& reason) override;
  void on_lost(const std::string& reason) override;
  void on_statistics(const protocol::JobStatistics& now);

  void ask() { executor_.ask_statistics(order_.launch.job); }
  void on_late_ranks();
  void arm_next_change();
  void order_change();
  void on_changed(const std::string& refused);
  void close_phase();
  void stop();
  [[nodiscard]] PhaseKind kind() const;
  [[nodiscard]] experiment::MachineTime machine_time() const;
  [[nodiscard]] double since_start() const;

  using Clock = std::chrono::steady_clock;

  event_base* loop_;
  launcher::MeasuredExecutor& executor_;
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
};

}  // namespace replay::calibrate
