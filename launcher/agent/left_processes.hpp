// The processes that an agent which was killed has left behind, and the guard that continues those of them which are
// stopped. Jobs take turns by being stopped, and mpiexec, which ends when the agent dies, ends its ranks by a signal
// that a stopped process does not act on.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

/// Processes that have the socket's path of the agent with this directory in their environment, as all processes of
/// its jobs have, or that are in its control group.
[[nodiscard]] std::vector<Process> processes_left_by(const std::filesystem::path& agent_directory);

/// Ends them and `others` by SIGKILL, and those that they start meanwhile, except this process and its ancestors: a program
/// of a job may have started us. False: some did not end within 10 s.
[[nodiscard]] bool end_processes_left_by(const std::filesystem::path& agent_directory,
                                         const std::function<std::vector<Process>()>& others = {});

/// A child of the agent's that waits for the agent's death, however it dies, and then continues what it has left
/// behind. It has nothing of the agent's open, and ignores the signals of a terminal.
class Guard {
 public:
  explicit Guard(std::filesystem::path agent_directory) : directory_(std::move(agent_directory)) {}
  /// Starts it, if it does not run. Best effort: without it only the death of daemon and agent together leaves stopped
  /// processes. REQUIRES: a single thread.
  void begin();
  /// A child of ours with this number has been reaped.
  void on_exit(pid_t pid);
  /// 0: it does not run.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  std::filesystem::path directory_;
  UniqueFd alive_;  // closed by our death; only the guard has its other end
  pid_t pid_ = 0;
};

}  // namespace replay::launcher
