// The processes of one job, as /proc and the job's control group show them: mpiexec, Hydra's proxy, the user's program,
// and strays, which mpiexec knows nothing of. Each is held by a Process, so a signal reaches no other process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/agent/job/agent_site.hpp"
#include "launcher/mpich/mpiexec.hpp"
#include "launcher/mpich/shared_files.hpp"
#include "launcher/mpich/spanning.hpp"
#include "launcher/os/control_group.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

/// A proxy, whether it is Hydra's or ours.
[[nodiscard]] bool is_of_hydra(const ProcessStat& stat);

class JobProcesses {
 public:
  /// `key` is the job's, as its processes have it in their environment; `first_rank` the world's rank that is the first here.
  JobProcesses(const AgentSite& site, JobId job, std::string key, std::size_t first_rank)
      : site_(site), job_(job), key_(std::move(key)), first_rank_(first_rank) {}

  /// From here on they are the job's.
  void take(StartedMpiexec started);
  void on_mpiexec_exit() { has_mpiexec_exited_ = true; }
  /// Hydra's proxy that was started here, of a job on several nodes.
  void take(StartedProxy started);
  void on_proxy_exit() { has_proxy_exited_ = true; }
  /// Gives the control group up. REQUIRES: no process is left.
  void drop_group() { group_.reset(); }

  [[nodiscard]] bool was_started() const { return mpiexec_.process.has_value(); }
  /// 0: none, or reaped already.
  [[nodiscard]] pid_t mpiexec() const { return has_mpiexec_exited_ || !was_started() ? 0 : mpiexec_.process->pid(); }
  /// That was started here. 0: none, or reaped already.
  [[nodiscard]] pid_t own_proxy() const { return has_proxy_exited_ || !own_proxy_ ? 0 : own_proxy_->process.pid(); }
  /// Hydra's. Nothing: not there, or not yet.
  [[nodiscard]] std::optional<Process> proxy() const;
  /// Whether mpiexec or Hydra's proxy is stopped.
  [[nodiscard]] bool is_hydra_stopped() const;
  /// Whether a process of the program was started: it is there, or Hydra has waited for one.
  [[nodiscard]] bool was_program_started() const;
  /// Whether it is Hydra's: mpiexec's proxy, or what that is forking.
  [[nodiscard]] static bool is_hydra(const Process& process);
  /// Of the user's program: all below mpiexec, or our own proxy, except Hydra's own.
  [[nodiscard]] std::vector<Process> program() const;
  /// Of the user's program, each with the rank below which it runs, if that is below `ranks`. Nothing: of no one rank,
  /// as what an mpiexec of the program's has started, or MPI_Comm_spawn; or it cannot be told.
  [[nodiscard]] std::vector<std::pair<std::optional<std::size_t>, Process>> program_by_rank(std::size_t ranks) const;
  /// Whether an mpiexec of the program's has started this process: it has another job's rank.
  [[nodiscard]] bool is_of_inner_mpiexec(pid_t pid) const;
  /// The job's processes outside mpiexec's tree.
  [[nodiscard]] std::vector<Process> strays() const;
  /// The processes that were stopped from outside, which cannot act on SIGTERM, as a sentence. Empty: none. With
  /// `is_suspended` the program's own do not count.
  [[nodiscard]] std::string stopped_by_others(bool is_suspended) const;

  /// The files in /dev/shm that they share now are removed by remove_shared_files(), if the job leaves them.
  void note_shared_files();
  /// REQUIRES: no process is left.
  void remove_shared_files() { shared_files_.remove(); }

  /// Asks mpiexec, where it runs here, to end the job; else our own proxy to end its part.
  void ask_to_end() const;
  void signal_program(int number) const;
  /// SIGKILL to mpiexec, our own proxy, and all that is below them.
  void kill_tree() const;

  /// The end of the job's output, at most `most` bytes, even if the job has renamed the file.
  [[nodiscard]] std::string output(std::size_t most) const;
  [[nodiscard]] std::string error_output(std::size_t most) const;

 private:
  [[nodiscard]] std::vector<pid_t> below() const;
  void join_group(const Process& process);

  const AgentSite& site_;
  JobId job_;
  std::string key_;
  std::size_t first_rank_;
  StartedMpiexec mpiexec_;
  bool has_mpiexec_exited_ = false;
  std::optional<StartedProxy> own_proxy_;
  bool has_proxy_exited_ = false;
  SharedFiles shared_files_;
  std::optional<ControlGroup> group_;  // none: strays are recognised by parent and environment
};

}  // namespace replay::launcher
