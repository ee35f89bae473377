// The node agent in its own process: event loop, jobs, registration of ranks, line to the daemon.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "launcher/agent/cores/busy_cores.hpp"
#include "launcher/agent/cores/node_cores.hpp"
#include "launcher/agent/daemon_line.hpp"
#include "launcher/agent/end_cost.hpp"
#include "launcher/agent/job/agent_job.hpp"
#include "launcher/agent/job/job_turns.hpp"
#include "launcher/agent/left_processes.hpp"
#include "launcher/agent/recent_starts.hpp"
#include "launcher/agent/registrar.hpp"
#include "launcher/mpich/proxy_desk.hpp"
#include "launcher/os/control_group.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

class NodeAgent {
 public:
  /// `directory` exists and is ours alone.
  NodeAgent(const AgentOptions& options, const AgentDirectory& home, AgentConnection connection);
  ~NodeAgent();

  /// Runs until the daemon says goodbye or is gone; then no process, segment or socket is left.
  void run();

 private:
  void handle(const protocol::AgentOrder& order);
  void on(const protocol::LaunchJob& order);
  void on(const protocol::EndJob& order);
  void on(const protocol::SlowDown& order);
  void on(const protocol::Goodbye& order);
  void on(const protocol::AskStatistics& order);
  void on(const protocol::Ping&) {}
  void on(const protocol::CheckNode& order);
  template <typename Order>
  void on(const Order& order);
  void part(const std::string& reason);
  void take_further_connection();

  [[nodiscard]] protocol::Hello hello() const;
  [[nodiscard]] AgentJob* job_with(const std::uint8_t* key) const;
  void look_at_cores();
  void test_yielding_again();
  void reap();
  void retire(JobId job);
  [[nodiscard]] bool has_left_a_proxy(const std::string& mpiexec) const;
  [[nodiscard]] std::vector<pid_t> orphans() const;
  [[nodiscard]] std::vector<pid_t> orphans_of(const std::string& key) const;
  void shut_down();
  void kill_all_descendants();

  AgentOptions options_;
  std::filesystem::path directory_;
  EventBase loop_;
  Topology topology_;
  NodeCores cores_;
  std::optional<BusyCores> busy_cores_;  // none: the back end is not ours to choose
  std::chrono::steady_clock::time_point yielding_tested_;
  EndCost end_cost_;
  RecentStarts starts_;
  Guard guard_;
  std::optional<JobTurns> turns_;  // none: on emulated cores, or not wanted
  std::optional<ControlGroup> group_;
  AgentSite site_;
  DaemonLine line_;
  DaemonStream first_;  // until run()
  UniqueFd further_;    // brings connections in place of a cut one
  std::unique_ptr<ProxyDesk> proxy_desk_;
  std::map<JobId, std::unique_ptr<AgentJob>> jobs_;
  std::vector<std::unique_ptr<AgentJob>> retired_;  // until the loop's next round
  bool is_shutting_down_ = false;
  std::unique_ptr<Registrar> registrar_;
  struct EarlyLine {
    std::chrono::steady_clock::time_point came;
    DaemonStream stream;
  };
  std::map<JobKey, EarlyLine> early_lines_;  // of jobs whose launch has not come yet
  LoopEvent further_event_;
  LoopEvent child_event_;
  LoopEvent terminate_event_;
  LoopEvent second_event_;
  LoopEvent first_look_;
  LoopEvent purge_event_;
  LoopEvent give_up_event_;
};

}  // namespace replay::launcher
