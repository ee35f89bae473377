// What a job on several nodes has beyond one on this node alone: its own proxy here, and the lines between proxies and mpiexec.
// At home, where mpiexec runs, replay-proxy brings a call for each node; the agent starts the one for its own node, and opens a
// sealed line to the agent of each other node, which starts that one. docs/adr/0030-agents-start-the-proxies.md.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launcher/agent/daemon_stream.hpp"
#include "launcher/agent/job/job_context.hpp"
#include "launcher/agent/job/job_ending.hpp"
#include "launcher/mpich/proxy_desk.hpp"
#include "launcher/mpich/sealed_relay.hpp"
#include "launcher/mpich/spanning.hpp"
#include "scheduler/base/loop/blocking_call.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::launcher {

class JobSpan {
 public:
  /// REQUIRES: a job on several nodes.
  JobSpan(JobContext& job, JobEnding& ending);
  ~JobSpan();

  /// At home: mpiexec's calls are heard from now on.
  void begin();
  /// Away from home: the line to mpiexec, from home's agent.
  void take_line(DaemonStream stream);
  /// JobEnding knows of it. Home is told before mpiexec can kill the ranks there.
  void on_rank_died();
  /// Our proxy has been reaped; `status` as waitpid gives it.
  void on_proxy_exit(int status);

 private:
  void on_call(ProxyCall call);
  void open_line(std::size_t host, ProxyCall call);
  void on_far_end(std::size_t host, const ProxyEnd& end);
  void fail(std::size_t host, const std::string& reason);
  [[nodiscard]] std::string named(std::size_t host, const std::string& reason) const;
  void start_own_proxy(const std::vector<std::string>& words, int control);
  [[nodiscard]] ProxyEnd own_end() const;
  void leave();

  JobContext& job_;
  JobEnding& ending_;
  UniqueFd control_;                                                          // home: mpiexec's line to our proxy
  std::map<std::size_t, std::unique_ptr<BlockingCall<DaemonStream>>> calls_;  // home: to agents of hosts
  std::map<std::size_t, std::unique_ptr<SealedRelay>> relays_;                // home: to hosts; away: to home, 0
  UniqueFd proxys_end_;                                                       // away: until our proxy has it
  LoopEvent leave_timer_;
};

}  // namespace replay::launcher
