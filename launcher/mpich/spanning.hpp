// How Hydra starts a job on several nodes. mpiexec runs at the job's first node, in a network of its own, and calls
// replay-proxy for each host; the agent of that host starts Hydra's proxy as its own child. The proxy talks to mpiexec over a
// descriptor that it is given, and the ranks have the proxy's environment and cores, so each node can have its own.
// docs/adr/0030-agents-start-the-proxies.md says why.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/mpich/user_variables.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

/// One start of mpiexec for a job on several nodes.
struct SpanningCall {
  struct Host {
    std::string name;  ///< no colon, no comma; different from the others'. It is not resolved
    std::size_t ranks = 0;
  };
  std::filesystem::path replay_proxy;  ///< an absolute path
  std::vector<Host> hosts;             ///< in the order of the ranks
  Variables environment;  ///< for all ranks, in place of the proxies' values; but LD_PRELOAD is the proxies'
  std::vector<std::string> command;
  bool label = false;  ///< MpiexecCall::label
};

/// mpiexec's arguments, without mpiexec itself.
[[nodiscard]] std::vector<std::string> spanning_arguments(const SpanningCall& call);
/// mpiexec's whole environment. It sends it to the proxies, so nothing of the user's is in it.
[[nodiscard]] Variables spanning_environment(const std::filesystem::path& desk, const std::string& token);

/// The proxy program that belongs to this mpiexec. Throws InputError where there is none.
[[nodiscard]] std::filesystem::path find_proxy_beside(const std::filesystem::path& mpiexec);
/// Empty: these are arguments with which mpiexec of this MPICH calls hydra_pmi_proxy for a job of spanning_arguments(). Else
/// what is wrong, as a sentence.
[[nodiscard]] std::string why_no_proxy(const std::vector<std::string>& arguments);

/// A line between a proxy and what relays its bytes (sealed_relay.hpp).
struct ControlLine {
  UniqueFd ours;
  UniqueFd proxys;
};
/// Throws std::system_error.
[[nodiscard]] ControlLine make_control_line();

struct ProxyStart {
  std::filesystem::path program;       ///< find_proxy_beside()
  std::vector<std::string> arguments;  ///< of the ProxyCall
  int control = -1;                    ///< the proxy's end of its line; the ranks inherit it
  Variables environment;              ///< the proxy's and the ranks'; without variables for Hydra (variables_for_job())
  std::vector<int> cores{};           ///< of the job on this node, OS indices; empty: it is not bound
  std::filesystem::path directory{};  ///< where it is started; the ranks run where mpiexec does
  std::size_t descriptors = 0;        ///< as HydraStart::descriptors
};
struct StartedProxy {
  Process process;
  UniqueFd err;  ///< its own stderr, for read_tail(); that of the ranks goes to mpiexec
};
/// Starts Hydra's proxy in a session of its own. It gets SIGPIPE when we die, and then kills its ranks and ends; the same
/// signal ends this node's part of a job. The caller reaps it. Throws InputError when `arguments` are no proxy's, and
/// std::system_error as start_hydra() does.
[[nodiscard]] StartedProxy start_proxy(const ProxyStart& start);

/// For the line of a proxy that has been reaped: mpiexec still gets what was written, and then the end. The ranks have the
/// line, too, so closing it would end nothing.
void end_control_line(const UniqueFd& line);

}  // namespace replay::launcher
