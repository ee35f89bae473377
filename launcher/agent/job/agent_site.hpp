// What all jobs of an agent share.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/agent/cores/node_cores.hpp"
#include "launcher/agent/daemon_stream.hpp"
#include "launcher/agent/end_cost.hpp"
#include "launcher/agent/recent_starts.hpp"
#include "launcher/mpich/job_network.hpp"
#include "launcher/os/control_group.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

class Guard;
class JobTurns;
class ProxyDesk;

/// Outlives the jobs.
struct AgentSite {
  event_base* loop = nullptr;
  const Topology* topology = nullptr;
  NodeCores* cores = nullptr;
  EndCost* end_cost = nullptr;
  RecentStarts* starts = nullptr;
  JobNetwork network = JobNetwork::kHost;
  Guard* guard = nullptr;     ///< null: what is stopped stays so when this process is killed
  JobTurns* turns = nullptr;  ///< null: jobs that share cores run at the same time
  bool is_emulated = false;   ///< cores are virtual: ranks are not bound, and only programs fit for emulation run
  std::chrono::microseconds quantum{0};
  std::chrono::milliseconds registration_limit{0};
  std::chrono::milliseconds registration_limit_per_rank{0};
  std::filesystem::path mpiexec;  ///< empty: looked up on PATH
  std::filesystem::path vmlib;    ///< empty: every job is rigid
  std::filesystem::path socket;
  std::filesystem::path shared;        ///< our folder in /dev/shm; empty: there is none
  std::filesystem::path replay_proxy;  ///< empty: no job on several nodes
  std::filesystem::path proxy_socket;  ///< of `proxy_desk`
  ProxyDesk* proxy_desk = nullptr;
  std::string interface {};  ///< for UCX, of jobs on several nodes; empty: it chooses
  DialAgent dial;            ///< to other nodes' agents
  std::function<void(const protocol::AgentReport&)> report;
  /// Called once, when the job has reported its end; it may be destroyed soon after, not during the call.
  std::function<void(JobId)> retire;
  const ControlGroup* group = nullptr;  ///< of this agent's jobs; null: no control group can be made here
  /// Processes that belong to the job with this key, and to no living mpiexec, as far as one can see without a group.
  std::function<std::vector<pid_t>(const std::string& key)> orphans_of;
};

/// The end of a reason why a job cannot run on emulated cores.
inline constexpr std::string_view kOnlyFitPrograms =
    "on emulated cores only programs that do their work through vm_burst() run, such as phases";

}  // namespace replay::launcher
