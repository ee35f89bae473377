// How a job ends, for any cause: by an order, because the agent has found it broken, or by mpiexec's exit. It decides
// which processes get SIGTERM and which SIGKILL. The end is reported exactly once, when /proc shows no process of the
// job any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "launcher/agent/job/job_context.hpp"
#include "launcher/agent/job/job_outcome.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::launcher {

/// How long a killed job's processes have until SIGKILL.
enum class Patience : std::uint8_t {
  kNormal,   ///< SIGTERM, 1.5 s, SIGKILL: two seconds after the order nothing is left
  kHurried,  ///< SIGTERM, 0.5 s, SIGKILL: the daemon is gone, or the program has hardly begun
  kNone      ///< SIGKILL
};

/// How long mpiexec has to see a failure.
inline constexpr std::chrono::milliseconds kMpiexecNoticesWithin{3000};

class JobEnding {
 public:
  /// `before_leaving` is called before the processes are asked to exit: nothing else is to be done to them after it.
  JobEnding(JobContext& job, std::function<void()> before_leaving);

  /// Whether mpiexec has not exited yet.
  [[nodiscard]] bool is_running() const { return phase_ == Phase::kRunning; }
  /// Whether end() or break_off() was called, or the job was found broken.
  [[nodiscard]] bool is_to_end() const { return how_.asked || how_.broken; }

  /// Its processes have not been started. Reports the end.
  void on_failed_launch(const std::string& reason, bool is_site_fault);
  /// Whether it had not been said before.
  bool on_started();
  void end(Outcome outcome, Patience patience);
  /// Ends a job that cannot go on, for this reason.
  void break_off(const std::string& reason);
  /// The same for one of which no process of the program was started, by a fault of the site.
  void break_off_unstarted(const std::string& reason);
  /// A failure that mpiexec usually sees at once and ends the job itself; it gets `within` to do so. Of several
  /// failures the first counts, and the shortest time.
  void fail_unless_noticed(const std::string& reason, std::chrono::milliseconds within = kMpiexecNoticesWithin);
  /// The same for ranks here that have died without MPI_Finalize: "rank 1", "ranks 0-2".
  void on_death(const std::string& ranks);
  /// The same for one on another node of the job, whose host `reason` names.
  void fail_elsewhere(const std::string& reason, std::chrono::milliseconds within = kMpiexecNoticesWithin);
  /// The failure that mpiexec has perhaps not noticed; empty: none.
  [[nodiscard]] const std::string& unnoticed() const { return how_.unnoticed; }
  /// The failure given last is the consequence of another.
  void forget_unnoticed() { how_.unnoticed = how_.dead = ""; }
  /// `status` as waitpid gives it. `had_child`: mpiexec has waited for one, as it does for its proxy.
  void on_mpiexec_exit(int status, bool had_child);
  /// Of a job on several nodes, away from mpiexec: this node's part has no process that could go on.
  void on_part_over();

 private:
  enum class Phase : std::uint8_t { kRunning, kLeaving, kOver };

  void ask_to_leave(Patience patience);
  void on_unnoticed();
  void on_sigterm_in_vain();
  void kill_everything();
  void leave();
  [[nodiscard]] bool kill_ranks_left();
  void finish();
  void learn_end_cost(const JobEnd& end) const;

  JobContext& job_;
  std::function<void()> before_leaving_;
  Phase phase_ = Phase::kRunning;
  bool has_started_ = false;
  bool is_site_fault_ = false;
  HowItEnded how_;
  LoopEvent unnoticed_timer_;
  std::chrono::steady_clock::time_point unnoticed_until_;
  LoopEvent kill_timer_;
  LoopEvent leave_timer_;
};

}  // namespace replay::launcher
