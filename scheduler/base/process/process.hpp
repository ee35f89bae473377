// Processes as /proc shows them. A pid can be reused, so Process holds a pidfd, opened and then compared with the start
// time: a signal never reaches another process that got the same number later.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay {

struct ProcessStat {
  pid_t parent = 0;
  char state = '?';                      ///< 'Z': a zombie
  bool is_exiting = false;               ///< field 9: its exit has begun, and may be through
  std::uint64_t faults_of_children = 0;  ///< field 11: minor page faults of the children that it has waited for
  std::uint64_t start = 0;               ///< field 22: clock ticks after boot
  std::string name;                      ///< at most 15 characters
};
/// Nothing: no such process.
[[nodiscard]] std::optional<ProcessStat> read_stat(pid_t pid);
/// The text of /proc/PID/stat. Nothing: malformed.
[[nodiscard]] std::optional<ProcessStat> parse_stat(std::string_view text);

/// Zombies included.
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);
/// Children, their children and so on, without `pid` itself.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t pid);
/// Every thread id of the process.
[[nodiscard]] std::vector<pid_t> threads_of(pid_t pid);

/// The CPU time of all its threads since its start, in ns. Nothing: no such process.
[[nodiscard]] std::optional<std::uint64_t> cpu_ns(pid_t pid);
/// How long the process's first thread could run since its start and had to wait for a core, in ns. Nothing: no such process,
/// or a kernel without CONFIG_SCHED_INFO.
[[nodiscard]] std::optional<std::uint64_t> kept_waiting_ns(pid_t pid);
/// Whether no thread of the process can run before a SIGCONT. True when it is gone.
[[nodiscard]] bool is_stopped(pid_t pid);

/// The environment with which the process was started, each variable ended by NUL. Empty: it has none, may not be read, or
/// execve() is giving it one at this moment.
[[nodiscard]] std::string environment_of(pid_t pid);
/// Of such an environment. Nothing: no such variable.
[[nodiscard]] std::optional<std::string> value_in(std::string_view environment, std::string_view name);
/// The value of this variable when the process was started. Nothing: no such variable, or it may not be read.
[[nodiscard]] std::optional<std::string> environment_value(pid_t pid, std::string_view name);
/// Whether the process was started with exactly this "NAME=value" in its environment. False when it may not be read.
[[nodiscard]] bool environment_has(pid_t pid, std::string_view assignment);
/// Every process of the machine for which environment_has; about 10 us per process on the machine.
[[nodiscard]] std::vector<pid_t> processes_with(std::string_view assignment);
struct ProcessesWith {
  std::vector<pid_t> processes;
  /// Of this user's, those to which execve() was giving an environment at that moment. Without processes whose environment
  /// may not be read.
  std::vector<pid_t> in_execve;
};
/// The same, from one reading of each environment.
[[nodiscard]] ProcessesWith find_processes_with(std::string_view assignment);

/// What can be told about a program that did not register.
struct Image {
  std::string program;      ///< path, empty when it cannot be read
  bool is_dynamic = false;  ///< has a dynamic loader, so vmlib could be preloaded
  bool has_vmlib = false;
  bool has_mpich = false;
  std::string other_mpi;  ///< file name of another MPI's library, empty: none
};
/// Whether a library with this file name is of an MPI that is no relative of MPICH: Open MPI, of any language. The name
/// libmpi.so.12, which both have had, counts as MPICH's.
[[nodiscard]] bool is_of_another_mpi(std::string_view file);
[[nodiscard]] Image image_of(pid_t pid);
/// The same from the text of /proc/PID/maps.
[[nodiscard]] Image parse_maps(std::string_view maps);

/// One particular process.
class Process {
 public:
  /// Nothing when it is gone, or started at another time than `start` (0: any).
  [[nodiscard]] static std::optional<Process> open(pid_t pid, std::uint64_t start = 0);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  /// Exited, a zombie perhaps.
  [[nodiscard]] bool is_gone() const;
  /// As waitpid gives it, of a process whose parent, whichever that is, has reaped it. Nothing: it has not, or Linux is
  /// older than 6.15.
  [[nodiscard]] std::optional<int> exit_status() const;
  /// Does nothing when it is gone.
  void signal(int number) const;

 private:
  Process(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid_;
  UniqueFd pidfd_;
};

/// Opens `pid`'s child with this number and then checks that it still is that child, so that a number that the kernel
/// has reused is not taken for it. Nothing: it is gone, perhaps a zombie.
[[nodiscard]] std::optional<Process> open_child(pid_t child, pid_t pid);
/// Children, their children and so on, without `pid` itself, each opened like that. REQUIRES: `pid` is our child and
/// not reaped, or is us.
[[nodiscard]] std::vector<Process> open_all_below(pid_t pid);

}  // namespace replay
