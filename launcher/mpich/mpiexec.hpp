// Hydra's mpiexec: its arguments, its environment, and the meaning of its last messages. vmlib is preloaded into the
// ranks only (-genv), not into Hydra's own processes. What identifies the job travels in mpiexec's environment, which
// Hydra passes on: a command line can be read by every user of the machine, an environment cannot.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/mpich/job_network.hpp"
#include "launcher/mpich/user_variables.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/model/event.hpp"

namespace replay::launcher {

/// The mpiexec on the PATH. Throws InputError.
[[nodiscard]] std::filesystem::path find_mpiexec();

/// What distinguishes one start of mpiexec from another.
struct MpiexecCall {
  std::vector<std::string> command;
  Variables environment;        ///< for the ranks
  std::vector<int> pu_of_rank;  ///< OS indices
  std::string preload;          ///< what the ranks preload, joined by colons; empty: nothing
  bool binds = true;            ///< false: ranks are not bound, and `pu_of_rank` only counts them
  bool label = false;           ///< lines of output begin with host and rank, "[node1 0] "
};

/// mpiexec's words for labels. 4.0.2 puts one in front of each line, and of each piece of a line that it reads: a line
/// that a rank writes in pieces, or that crosses 64 KiB of output, gets several.
inline constexpr std::array<const char*, 2> kLabelWords{"-prepend-pattern", "[%h %r] "};
/// The output without those labels.
[[nodiscard]] std::string without_labels(std::string_view output);

/// Program and arguments; with more of them mpiexec 4.0.2 dies of a segmentation fault.
inline constexpr std::size_t kMostWordsOfACommand = 999;

/// mpiexec's arguments, without mpiexec itself.
[[nodiscard]] std::vector<std::string> mpiexec_arguments(const MpiexecCall& call);

/// The environment for mpiexec: `kept` of variables_for_job() without LD_PRELOAD, which is for the ranks, and `extra`.
/// mpiexec reads no configuration file of the user's or the system's.
[[nodiscard]] Variables hydra_environment(const Variables& kept, const Variables& extra);
/// This process's environment.
[[nodiscard]] Variables own_environment();

/// A started mpiexec. The caller reaps it.
struct StartedMpiexec {
  std::optional<Process> process;
  UniqueFd out, err;  ///< the job's output, for reading, even if the job renames the files
};

/// Where mpiexec is started.
struct MpiexecPlace {
  std::filesystem::path output;     ///< folder that gets `stdout` and `stderr`
  std::filesystem::path directory;  ///< where it and the ranks run; empty: ours
  JobNetwork network = JobNetwork::kHost;
  std::size_t descriptors = 0;  ///< as HydraStart::descriptors
};

/// Starts mpiexec in a session of its own, stdin empty; it gets SIGTERM when we die. It inherits no other descriptor.
/// Throws std::system_error: then no process was started, or it has ended. argument_list_too_long: `arguments` and
/// `environment` are at fault.
[[nodiscard]] StartedMpiexec start_mpiexec(const std::filesystem::path& mpiexec,
                                           const std::vector<std::string>& arguments, const Variables& environment,
                                           const MpiexecPlace& place);

/// The rank that Hydra has put into a process's environment; children inherit it. Nothing: it belongs to no rank, or
/// was started just now.
[[nodiscard]] std::optional<std::size_t> rank_of(pid_t pid);

/// Hydra's report of a job that ended badly ("BAD TERMINATION ..."). Hydra 4.0.2 names the lowest rank that a signal
/// ended, even the SIGKILL with which it ends the others itself, and the signal in `how` is the bitwise or of all
/// ranks' signals. Of a rank whose connection it sees closed only after it has reaped it, the proxy overwrites the exit
/// status by 1 (pmip_cb.c), so that any exit code and any signal may become a SIGHUP.
struct BadTermination {
  pid_t pid = 0;    ///< 0: not said
  int signal = 0;   ///< that ended this process; 0: not said
  std::string how;  ///< "Killed (signal 9)"; empty: by an exit code
  /// Whether `signal` and `how` can be true.
  [[nodiscard]] bool says_how() const { return signal != SIGHUP; }
  bool operator==(const BadTermination&) const = default;
};
[[nodiscard]] std::optional<BadTermination> find_bad_termination(std::string_view output);

/// Which rank ended a job of `ranks` ranks, and how: "rank 1: Segmentation fault (signal 11)". `named` is the rank that
/// Hydra names. It is not blamed if Hydra killed it after another one. The order in which we see ranks exit is no
/// evidence: under load the one that was killed last is often gone first. `bad.how` is not empty.
[[nodiscard]] std::string explain(const BadTermination& bad, std::optional<std::size_t> named, std::size_t ranks);

/// The last line of a job's stderr. Hydra prints one line in each function on its way out, so of its lines at the end
/// the first is returned, which has the cause.
[[nodiscard]] std::string last_complaint(std::string_view text);

/// The last line of the form "VERIFICATION SUCCESSFUL" or "VERIFICATION FAILED".
[[nodiscard]] Verification find_verification(std::string_view output);

/// Whether a connection has ended mpiexec, which listens on all addresses and checks no caller; taken from its last
/// complaint. kUnclear: one that is not the job's own, or the end of its proxy's. kNoProxy: the same before any proxy had
/// identified itself: it was killed, or there was no process for it. `had_its_proxy`: it cannot be that.
enum class EndedByConnection : std::uint8_t { kNo, kForeign, kUnclear, kNoProxy };
[[nodiscard]] EndedByConnection find_ended_by_connection(std::string_view complaint, bool had_its_proxy);

/// The threads that UCX (1.13) has ended with their ranks because it could not make its own thread, for want of a process,
/// memory or descriptors: the rank's process where it is that one's first. 0: not said.
[[nodiscard]] std::vector<pid_t> lacking_ucx_thread(std::string_view error_output);

/// The last `most` bytes of an open file; empty when it cannot be read. Does not move its offset.
[[nodiscard]] std::string read_tail(int file, std::size_t most);
/// The same by name, only for a regular file that is no link: the job may have put a pipe there.
[[nodiscard]] std::string read_tail(const std::filesystem::path& file, std::size_t most);

}  // namespace replay::launcher
