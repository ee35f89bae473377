// The live engine, body no. 2: it runs in real time. Events come from the clock and from an Executor, which carries
// out the orders. Trace time runs `1 / time_scale` times as fast as the wall clock, and starts when the source of the
// jobs says: that of a trace at the first submission.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/core/controller.hpp"
#include "scheduler/live/executor.hpp"
#include "scheduler/live/job_source.hpp"
#include "scheduler/live/turn_log.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::live {

/// Thrown by RunOptions::order: this job cannot be started, nor could any other one, such as on a full disk. The same as
/// ExecutorListener::on_not_started().
class CannotStartJobs : public InputError {
 public:
  using InputError::InputError;
};

/// Thrown by RunOptions::order: JobSource::why_not_startable().
class NotStartable : public InputError {
 public:
  using InputError::InputError;
};

/// When the site takes the machine away, such as a batch system at its time limit, and what does: "the time limit of
/// Slurm job 7".
struct MachineEnd {
  std::chrono::steady_clock::time_point at;
  std::string what;
};

/// How long before the machine's end a run ends: jobs are given time to end, and results to be written.
inline constexpr std::chrono::seconds kBeforeMachineEnd{30};

struct RunOptions {
  double time_scale = 1;  ///< real seconds per second of the trace; > 0
  Overrun overrun = Overrun::kKill;
  Instant until = kNever;  ///< trace time: what runs then is killed, what waits is cancelled
  /// The run ends kBeforeMachineEnd before it as at `until`, and RunResult::broken_off says so. Policies are told when
  /// that is.
  std::optional<MachineEnd> machine_end{};
  Pairing pairing = Pairing::kBlock;  ///< which ranks of a shrunk job share a core
  /// What to start for a job with that many processes; cores are filled in by the engine. Throws InputError if there is nothing to start: the
  /// job fails. After CannotStartJobs no further job is started, unless the source has it tried again; what runs goes on to its end.
  std::function<LaunchOrder(const TracedJob&, ProcessCount)> order;
  /// Of a run that begins with the jobs of another one: the same for a job that runs, should the order to start it not have
  /// arrived. Throws nothing.
  std::function<LaunchOrder(const TracedJob&)> order_again{};
  /// Emulated cores: by how much jobs are slowed down by those on their nodes and by their own processes there, which the
  /// executor is told. Null: they are not.
  const RuntimeModel* neighbours = nullptr;
  /// Why jobs that waited at a stop signal have ended, for the event log.
  std::string stop_reason = "the run was interrupted";
  /// Real time from a start that the site refused, or that was not possible for the one job, to the next one. Changed by
  /// tests only.
  std::chrono::milliseconds between_tries{10'000};
  /// Jobs of a node that goes down wait again. The source may say so of single ones, too.
  bool requeues_lost = false;
  /// Real time for which a node that went down may come back: jobs that fit no other ones wait as long, if nothing else is
  /// to happen. Changed by tests only.
  std::chrono::milliseconds nodes_come_back_within{30'000};
  /// Called about ten times per second with the time of the trace.
  std::function<void(Instant)> tick;
  /// The run's inputs are kept in it: each is on disk before anything follows from it. Those that it has already are played back
  /// first, and then the run goes on. Null: they are not kept. It outlives the run.
  TurnLog* turns = nullptr;
  /// Of a run with `turns`: an instant before its begin, from which that is counted.
  std::chrono::steady_clock::time_point started{};
  /// SIGTERM and SIGHUP end the run at once, and leave its jobs to the next daemon. REQUIRES: `turns`.
  bool leaves_jobs = false;
  /// What a program that is the policy had answered stands where it decides otherwise when it is asked again; false: then the run
  /// does not come out again.
  bool answers_stand = true;
  /// Of a run that begins with the jobs of another one, as TurnLog::before() says: a line for the event log.
  std::string adopts{};
  /// All that was kept has been played back, and the log has what followed from it: an exception ends the run here.
  std::function<void()> played_back{};
};

struct RunResult {
  std::size_t ended = 0;
  bool left = false;         ///< its jobs go on without it
  std::string not_kept;      ///< why it has left them, and not ended as it was told: its inputs could not be kept
  bool interrupted = false;  ///< by a stop signal, or the end of the machine
  int first_stop = 0;        ///< of the run's stop signals, where its inputs are kept; 0: none came
  bool abandoned = false;    ///< by three of them: the ends of its jobs were not waited for
  std::string broken_off;    ///< why no further job was started; empty: all were
  std::string lost;          ///< why the executor was lost; empty: it was not
  std::string fault;         ///< the policy's failure that ended the run early; empty: none
};

/// How long after the end of its estimate a real job may still run: max(5 %, 2 s real) plus what launching costs.
[[nodiscard]] Duration grace(const Job& job, double time_scale);

/// Runs the jobs of `source`, which outlives this, until it is done. Stop signals that are heeded (stop_signals.hpp) end it
/// early: at the first one the jobs are ended, at the second one at once (SIGKILL), and at the third one their ends are not
/// waited for. A policy that fails ends it early, too: running jobs are killed, waiting ones are cancelled, and the log has
/// every end.
/// While the disk does not take the inputs of a run with `turns`, a stop signal leaves the jobs to the next daemon.
/// Throws TurnLogDiffers when what was kept does not come out again.
RunResult run(const Machine& machine, JobSource& source, Policy& policy, const RuntimeModel& model, Executor& executor,
              log::Sink& log, const RunOptions& options);

}  // namespace replay::live
