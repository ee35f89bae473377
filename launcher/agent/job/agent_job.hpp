// One job on this node, from mpiexec's start until nothing of it is left. It owns the parts that the job's life
// consists of and passes on to them what happens: launch, registration, orders, watch and end. Its state follows from
// three sources: mpiexec's exit, the pidfds of the ranks that registered, and the segment in which each rank reports
// its progress.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "launcher/agent/job/binding_check.hpp"
#include "launcher/agent/job/job_context.hpp"
#include "launcher/agent/job/job_ending.hpp"
#include "launcher/agent/job/job_orders.hpp"
#include "launcher/agent/job/job_registration.hpp"
#include "launcher/agent/job/job_span.hpp"
#include "launcher/agent/job/job_start.hpp"
#include "launcher/agent/job/job_watch.hpp"
#include "launcher/agent/job/other_mpi_watch.hpp"
#include "launcher/agent/registrar.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

class AgentJob {
 public:
  AgentJob(const AgentSite& site, protocol::LaunchJob order);

  /// Starts mpiexec. A failure is reported as the job's end.
  void launch();

  [[nodiscard]] JobId id() const { return job_.id(); }
  [[nodiscard]] const JobKey& key() const { return job_.key; }
  /// 0: none, or reaped already.
  [[nodiscard]] pid_t mpiexec_pid() const { return job_.processes.mpiexec(); }

  /// That was started here, of a job on several nodes. 0: none, or reaped already.
  [[nodiscard]] pid_t proxy_pid() const { return job_.processes.own_proxy(); }
  void on_proxy_exit(int status) { span_->on_proxy_exit(status); }
  /// A line from the agent of the node where mpiexec runs.
  void take_line(DaemonStream stream);

  /// The slot and the segments, or a refusal. A program that is not fit for emulated cores is refused, and its job
  /// ends; so does one of another MPI, unless it is the only rank.
  [[nodiscard]] Admission admit(const replay_vm_hello& hello);
  void add_rank(const replay_vm_hello& hello, UniqueFd stream);

  /// Carried out once the job has started, in the order given.
  void carry_out(const JobOrders::Order& order);
  /// Emulated cores: how many times as long its work takes from now on, whether it has started or not.
  void slow_down(double slowdown) { job_.ranks.set_slowdown(slowdown); }
  void end(Outcome outcome, Patience patience) { ending_.end(outcome, patience); }
  [[nodiscard]] bool is_to_end() const { return ending_.is_to_end(); }

  /// `status` as waitpid gives it. `had_child`: mpiexec has waited for one, as it does for its proxy.
  void on_mpiexec_exit(int status, bool had_child);
  /// Once a second.
  void measure();
  [[nodiscard]] protocol::JobStatistics statistics() const { return job_.ranks.statistics(); }

 private:
  void on_started(bool is_malleable, const std::string& reason);
  void on_rank_exit(std::size_t rank);
  void let_go();

  JobContext job_;
  JobEnding ending_;
  JobWatch watch_;
  JobOrders orders_;
  BindingCheck binding_check_;
  JobStart start_;
  JobRegistration registration_;
  OtherMpiWatch other_mpi_;
  std::optional<JobSpan> span_;  // none: the job is on this node alone
};

}  // namespace replay::launcher
