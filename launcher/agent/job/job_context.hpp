// What the parts of one job share: the order that started it, its key, its ranks and its processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "launcher/agent/cores/job_segment.hpp"
#include "launcher/agent/job/agent_site.hpp"
#include "launcher/agent/job/job_processes.hpp"
#include "launcher/agent/job/job_ranks.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

struct JobContext {
  JobContext(const AgentSite& agent_site, protocol::LaunchJob launch_order, JobRanks::OnExit on_rank_exit);
  JobContext(JobContext&&) = delete;

  [[nodiscard]] JobId id() const { return order.job; }
  /// How long its ranks have to register.
  [[nodiscard]] std::chrono::milliseconds registration_limit() const {
    return site.registration_limit + site.registration_limit_per_rank * static_cast<long>(order.world_size());
  }
  /// Reports, once, that its ranks have been started.
  void note_begin();
  /// Reports a line for the user and adds it beside the job's output, where that is possible.
  void note(const std::string& text) const;

  const AgentSite& site;
  const protocol::LaunchJob order;
  const JobKey key;
  const std::chrono::steady_clock::time_point launched = std::chrono::steady_clock::now();
  JobRanks ranks;
  JobProcesses processes;
  bool has_begun = false;
  std::set<pid_t> seen_ranks;  ///< processes that the proxy was seen to have started
  /// When mpiexec or its proxy was last seen stopped from outside: what it has not done since is no fault of the site.
  std::chrono::steady_clock::time_point stopped{};
  bool has_vmlib = false;  ///< its ranks preload it; they register where ranks.segment() is there
  /// No rank had taken processes, memory or descriptors worth mentioning as it entered MPI_Init, nor had limits of its own.
  bool are_ranks_plain = true;
  /// How far any rank has come that has vmlib and does not register. kEntered: and none has left MPI_Init.
  enum class Init : std::uint8_t { kAhead, kEntered, kLeft };
  Init init_of_unregistered = Init::kAhead;
};

}  // namespace replay::launcher
