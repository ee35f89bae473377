// The node agent: a process of its own that starts, watches, moves and reaps the jobs of one node, so that a daemon
// that dies leaves nothing behind. The daemon forks it before anything else (no thread, event loop or log yet). When
// either side closes the stream, the agent ends all jobs; that is how it notices kill -9 of the daemon. Over a network
// `replay agent` forks it, for the stream of a daemon that has proved the key (launcher/service/agent_service.hpp).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/daemon_stream.hpp"
#include "launcher/mpich/job_network.hpp"
#include "launcher/mpich/user_variables.hpp"
#include "launcher/os/pu_id.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/orphans.hpp"

namespace replay::launcher {

/// How ranks that share a core hand it over. kAuto: the token where ranks of two jobs share a core, or others compute on
/// it, as looked at once a second; else as a test of sched_yield decides. kYield, kToken: always that one. Emulated
/// cores always use the token.
enum class BackEnd : std::uint8_t { kAuto, kYield, kToken };

struct AgentOptions {
  std::filesystem::path mpiexec;            ///< empty: found on PATH
  std::filesystem::path vmlib;              ///< libreplay-vm.so; empty: every job is rigid
  std::filesystem::path replay_proxy;       ///< what mpiexec calls for each host; empty: no job on several nodes
  std::string interface {};                 ///< of the network between the nodes, for UCX; empty: not said
  DialAgent dial;                           ///< of lines to other nodes' agents; empty: no job on several nodes
  std::filesystem::path runtime_directory;  ///< for the agent's own 0700 directory; empty: $XDG_RUNTIME_DIR, else /tmp
  BackEnd back_end = BackEnd::kAuto;
  JobNetwork network = JobNetwork::kOwn;  ///< kHost in effect where the system permits no namespace per job
  std::vector<int> kept_open;             ///< descriptors of the caller that stay open as long as the agent lives
  std::vector<PuId> cores;                ///< that Hello names; empty: the affinity mask
  std::string mpi{};                      ///< "MPICH 4.0.2", for the daemon; empty: not known
  std::vector<std::string> notes{};       ///< of this agent's start, for the daemon
  /// After this long without a message the daemon counts as lost; 0: no limit.
  std::chrono::milliseconds silence_limit{0};
  /// A job is rigid if its ranks have not registered within this.
  std::chrono::milliseconds registration_limit{5000};
  std::chrono::milliseconds registration_limit_per_rank{200};  ///< added per rank
  int packages = 1;                                            ///< over which the cores are spread, for Hello
  int emulated_cores = 0;  ///< 0: the machine's own; else so many virtual ones, each with a token
  /// Real cores: how long a job computes on cores that it shares with another while that one is stopped; 0: both run.
  std::chrono::microseconds turn{0};
  [[nodiscard]] std::chrono::microseconds turn_of_jobs() const;  ///< 0: they take none, as on emulated cores
  std::chrono::microseconds quantum{10'000};  ///< emulated: longest hold of a token that another rank waits for
};

/// The daemon's handle of its agent. Destroying it ends the agent and with it all jobs, within about 3 s.
class AgentHandle {
 public:
  /// `further` is the other end of AgentConnection::further.
  AgentHandle(pid_t pid, UniqueFd stream, std::filesystem::path directory, UniqueFd further = {});
  AgentHandle(AgentHandle&& other) noexcept;
  AgentHandle& operator=(AgentHandle&&) = delete;
  ~AgentHandle();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Readable when the agent's process has ended.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  /// Non-blocking; the messages of scheduler/protocol/agent_messages.hpp. Negative: the agent serves another process.
  [[nodiscard]] int stream() const { return stream_.get(); }
  /// The agent's private directory: segments and socket; removed when the agent ends.
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

  /// Gives the agent a connection of its daemon in place of a cut one, or a job line. False: the agent cannot take it.
  [[nodiscard]] bool pass_on(const DaemonStream& connection, const protocol::LinkSession& session) const;

  /// Closes the stream (or, without one, sends SIGTERM) and waits until the agent is gone; after 3 s, or when it died
  /// or was stopped, cleans up in its place.
  void stop();

 private:
  [[nodiscard]] bool wait_until_gone(std::chrono::milliseconds limit);
  void clean_up_in_its_place() const;

  pid_t pid_;
  UniqueFd stream_;
  UniqueFd further_;
  UniqueFd pidfd_;
  std::filesystem::path directory_;
  std::optional<OwnSessionChild> known_;  // until the agent is reaped
};

/// Forks the agent. Before that it ends the processes and removes the directories that dead agents have left under the
/// same runtime directory.
/// REQUIRES: a single thread. Throws std::system_error.
[[nodiscard]] AgentHandle start_agent(const AgentOptions& options);
/// The same for an existing connection to a daemon, with a lease; the handle has no stream. When this process dies, the
/// agent ends as on SIGTERM.
[[nodiscard]] AgentHandle start_agent(const AgentOptions& options, DaemonStream first, std::chrono::milliseconds lease);

/// What pass_on() has sent.
struct PassedConnection {
  DaemonStream stream;
  protocol::LinkSession session;
};
/// Nothing: there is none.
[[nodiscard]] std::optional<PassedConnection> receive_connection(int further);

/// The note for the user if jobs in that network do not get all variables of this process, and of `further`, since they
/// name a device that the network lacks; else nothing.
[[nodiscard]] std::optional<std::string> missing_devices_note(JobNetwork network, const Variables& further = {});

/// One line when a job with this process's environment and `further` variables makes threads that share its ranks' cores.
/// Nothing: it makes none.
[[nodiscard]] std::optional<std::string> threads_note(const Variables& further = {});

}  // namespace replay::launcher
