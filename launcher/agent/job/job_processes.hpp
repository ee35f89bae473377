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
#include "launcher/os/control_group.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

class JobProcesses {
 public:
  /// `key` is the job's, as its processes have it in their environment.
  JobProcesses(const AgentSite& site, JobId job, std::string key) : site_(site), job_(job), key_(std::move(key)) {}

  /// From here on they are the job's.
  void take(StartedMpiexec started);
  void on_mpiexec_exit() { has_mpiexec_exited_ = true; }
  /// Gives the control group up. REQUIRES: no process is left.
  void drop_group() { group_.reset(); }

  [[nodiscard]] bool was_started() const { return mpiexec_.process.has_value(); }
  /// 0: none, or reaped already.
  [[nodiscard]] pid_t mpiexec() const { return has_mpiexec_exited_ || !was_started() ? 0 : mpiexec_.process->pid(); }
  /// Hydra's. Nothing: not there, or not yet.
  [[nodiscard]] std::optional<Process> proxy() const;
  /// Of the user's program: all below mpiexec except Hydra's own.
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

  void signal_mpiexec(int number) const;
  void signal_program(int number) const;
  /// SIGKILL to mpiexec and all that is below it.
  void kill_tree() const;

  /// The end of the job's output, at most `most` bytes, even if the job has renamed the file.
  [[nodiscard]] std::string output(std::size_t most) const { return read_tail(mpiexec_.out.get(), most); }
  [[nodiscard]] std::string error_output(std::size_t most) const { return read_tail(mpiexec_.err.get(), most); }

 private:
  const AgentSite& site_;
  JobId job_;
  std::string key_;
  StartedMpiexec mpiexec_;
  bool has_mpiexec_exited_ = false;
  SharedFiles shared_files_;
  std::optional<ControlGroup> group_;  // none: strays are recognised by parent and environment
};

}  // namespace replay::launcher
