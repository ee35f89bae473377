// The seam between the live engine and real processes. The engine knows jobs, cores and instants; what is behind the
// seam knows programs, pids and sockets. Every call returns at once; its answer comes later through the listener, on
// the thread of the event loop. Orders for one job are carried out in the order given.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/core_id.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/units.hpp"

struct event_base;

namespace replay::live {

/// One job to start.
struct LaunchOrder {
  JobId job{};
  std::vector<std::string> command;                              ///< program (a path, or found on PATH) and arguments
  std::vector<std::pair<std::string, std::string>> environment;  ///< for the ranks, on top of `surroundings`
  std::filesystem::path directory;   ///< exists; gets `stdout`, `stderr`, `command`, `environment`
  std::vector<CoreId> core_of_rank;  ///< cores of the machine; its size is the number of processes
  bool malleable = true;             ///< false: do not preload vmlib
  bool label = false;                ///< each line of its output begins with host and rank
  /// Where it runs, absolute; empty: where the daemon runs, or its remote agent.
  std::filesystem::path working_directory{};
  /// The environment below `environment`; empty: the daemon's, or its remote agent's.
  std::vector<std::pair<std::string, std::string>> surroundings{};
};

/// Called on the loop's thread, never from inside a call of Executor.
class ExecutorListener {
 public:
  virtual ~ExecutorListener() = default;
  /// All its ranks have been started; or some, if the job ends before.
  virtual void on_begun(JobId /*job*/) {}
  /// Every rank is registered and its mask read back; or the job turned out rigid (`malleable` false, with the reason),
  /// and is called again if its ranks have registered after all.
  virtual void on_started(JobId job, bool malleable, const std::string& reason) = 0;
  /// Every thread of every rank is on its new core.
  virtual void on_resized(JobId job) = 0;
  virtual void on_suspended(JobId job) = 0;
  virtual void on_resumed(JobId job) = 0;
  virtual void on_measured(JobId job, double cpu_use) = 0;
  /// A line for the user about a job that runs.
  virtual void on_noted(JobId /*job*/, const std::string& /*text*/) {}
  /// A line for the user about the executor, such as a link that was cut.
  virtual void on_site_noted(const std::string& /*text*/) {}
  /// One of the machine's nodes is kSilent (nothing is heard of it: its jobs have no end before it is up or down, and orders
  /// for them wait), kUp again, or kDown: its jobs are lost, and their ends follow. `host` is its name. Only of a machine of
  /// several nodes: the loss of the only one, or of the last one, is on_lost().
  virtual void on_node(const NodeChange& /*change*/, const std::string& /*host*/) {}
  /// Exactly once for each launched job, when no process of it is left, or none that a node that is down could still end; or
  /// on_not_started(). The outcome is kLost if a node on which it ran went down.
  virtual void on_ended(JobId job, const JobEnd& end) = 0;
  /// The site could not start the job, nor could it start another one: no process, no memory, no room on the disk, a
  /// folder of the run is gone. No process of the job is left.
  virtual void on_not_started(JobId job, const std::string& reason) = 0;
  /// The order could not be carried out; the job is as it was before.
  virtual void on_action_failed(JobId job, const std::string& action, const std::string& reason) = 0;
  /// The executor itself is lost (its only agent died, all nodes are down): no more reports of launched jobs will come.
  virtual void on_lost(const std::string& reason) = 0;
  /// Of an executor that holds its orders: what has reached it. The calls that follow from it come next, as they do of an
  /// executor that plays it back.
  virtual void on_input(const std::string& /*input*/) {}
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// Once, before the first order. Both must stay until detach().
  virtual void attach(event_base* loop, ExecutorListener* listener) = 0;
  /// No events on the loop and no calls of the listener from here on. Jobs that still run are ended by the destructor.
  virtual void detach() = 0;
  virtual void launch(const LaunchOrder& order) = 0;
  /// Moves each rank to its core. `core_of_rank` has one entry per process of the job.
  virtual void resize(JobId job, const std::vector<CoreId>& core_of_rank) = 0;
  virtual void suspend(JobId job) = 0;
  virtual void resume(JobId job) = 0;
  /// Ends the job: SIGTERM, then SIGKILL; on_ended follows with `reason`'s outcome. A job that is ending already gets
  /// SIGKILL now.
  virtual void end(JobId job, Outcome reason) = 0;
  /// From now on the job's work takes `slowdown` times as long, beside the jobs on its nodes. Only where cores are emulated:
  /// real jobs slow each other down by themselves. Comes after the job's launch. Has no answer; nothing happens for a job
  /// that has ended.
  virtual void slow_down(JobId /*job*/, double /*slowdown*/) {}
  /// The user has stopped the run: what does not answer is not waited for longer than what does. A node that has
  /// not been heard of for 5 s is down, or the executor lost, when only jobs are left that have a part on such nodes.
  virtual void hurry() {}

  // A run whose jobs outlive their daemon. REQUIRES for each: the machine has agents that do.
  /// Before attach(): its inputs are told, and no order goes out, nor is a report acknowledged, before release().
  virtual void hold() {}
  virtual void release() {}
  /// In place of an input: what another executor of this run has told to its listener. The orders that are given meanwhile were
  /// given then. REQUIRES: go_on() has not been called.
  virtual void play(const std::string& /*input*/) {}
  /// All has been played back: finds the jobs again.
  virtual void go_on() {}
  /// The jobs are another executor's from now on: the destructor ends none.
  virtual void leave() {}
};

}  // namespace replay::live
