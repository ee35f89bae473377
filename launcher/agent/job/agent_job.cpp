#include "launcher/agent/job/agent_job.hpp"

#include <fmt/format.h>

#include <utility>

#include "launcher/agent/job/job_launch.hpp"
#include "launcher/agent/job/job_turns.hpp"

namespace replay::launcher {
AgentJob::AgentJob(const AgentSite& site, protocol::LaunchJob order)
    : job_(site, std::move(order), [this](std::size_t rank) { on_rank_exit(rank); }),
      ending_(job_, [this] { let_go(); }),
      watch_(job_, ending_),
      orders_(job_, [this] { binding_check_.follow_soon(); }),
      binding_check_(job_),
      start_(job_, ending_),
      registration_(job_, ending_, watch_,
                    [this](bool is_malleable, const std::string& reason) { on_started(is_malleable, reason); }),
      other_mpi_(job_, ending_) {}

void AgentJob::launch() {
  if (job_.order.is_on_several_nodes()) span_.emplace(job_, ending_).begin();
  LaunchResult result = launcher::launch(job_);
  if (result.failure)
    ending_.on_failed_launch(*result.failure, result.is_site_fault);
  else
    registration_.begin(std::move(result.no_vmlib_reason));
  if (!result.failure) start_.begin();
  if (!result.failure && job_.ranks.segment() == nullptr) other_mpi_.begin();
}

Admission AgentJob::admit(const replay_vm_hello& hello) {
  if (hello.version == REPLAY_VM_VERSION && (hello.flags & REPLAY_VM_OTHER_MPI) != 0) {
    other_mpi_.on_start(hello.pid);
    return {kRefusedOtherMpi, {}};
  }
  if (hello.version == REPLAY_VM_VERSION && (hello.flags & (REPLAY_VM_ENTERS_INIT | REPLAY_VM_HAS_LEFT_INIT)) != 0) {
    registration_.note_init(hello);
    return {kRefusedRigid, {}};
  }
  return registration_.admit(hello);
}

void AgentJob::add_rank(const replay_vm_hello& hello, UniqueFd stream) {
  registration_.add(hello, std::move(stream));
  start_.look();
}

void AgentJob::on_started(bool is_malleable, const std::string& reason) {
  start_.stop();
  job_.note_begin();
  const bool is_first = ending_.on_started();
  watch_.on_started(is_malleable);
  if (is_first && !job_.site.is_emulated) binding_check_.begin();
  job_.site.report(protocol::JobStarted{id(), is_malleable, reason});
  if (!is_first) return;
  if (job_.site.turns != nullptr) job_.site.turns->join(job_);
  orders_.on_started();
}

void AgentJob::take_line(DaemonStream stream) {
  if (span_) span_->take_line(std::move(stream));
}

void AgentJob::carry_out(const JobOrders::Order& order) {
  if (ending_.is_running() && !ending_.is_to_end()) orders_.carry_out(order);  // else the job's end answers it
}

void AgentJob::measure() {
  watch_.look_after();
  binding_check_.look();
  if (ending_.is_running()) job_.ranks.measure();
  if (job_.site.turns != nullptr) job_.site.turns->refresh(id());
}

void AgentJob::on_rank_exit(std::size_t rank) {
  job_.ranks.lose(rank);
  if (!job_.ranks.all()[rank].is_finalized) {
    ending_.on_death(job_.ranks.names(job_.ranks.dying()));
    if (span_) span_->on_rank_died();
  }
  watch_.expect_strays();
  if (job_.site.turns != nullptr) job_.site.turns->look();
}

void AgentJob::on_mpiexec_exit(int status, bool had_child) {
  let_go();
  watch_.stop();
  ending_.on_mpiexec_exit(status, had_child);
}

/// The processes are on their way out: nothing more is done to them but what ends them.
void AgentJob::let_go() {
  if (job_.site.turns != nullptr) job_.site.turns->leave(id());
  orders_.stop();
  registration_.stop();
  start_.stop();
  binding_check_.stop();
  other_mpi_.stop();
}

}  // namespace replay::launcher
