#include "launcher/agent/job/job_ending.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "launcher/mpich/shared_files.hpp"
#include "scheduler/base/process/limit_of_processes.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;

constexpr auto kBetweenLooksAtEnd = 5ms;

milliseconds time_to_leave(Patience patience) { return patience == Patience::kNormal ? 1500ms : 500ms; }

}  // namespace

JobEnding::JobEnding(JobContext& job, std::function<void()> before_leaving)
    : job_(job),
      before_leaving_(std::move(before_leaving)),
      unnoticed_timer_(job.site.loop, -1, 0, [this] { on_unnoticed(); }),
      kill_timer_(job.site.loop, -1, 0, [this] { on_sigterm_in_vain(); }),
      leave_timer_(job.site.loop, -1, 0, [this] { leave(); }) {}

// ---- causes ---------------------------------------------------------------------------------------------------------

void JobEnding::on_failed_launch(const std::string& reason, bool is_site_fault) {
  is_site_fault_ = is_site_fault;
  how_.broken = reason;
  how_.exit_status = 127 << 8;  // the shell's status for a command that could not be started
  finish();
}

bool JobEnding::on_started() {
  job_.processes.note_shared_files();
  return !std::exchange(has_started_, true);
}

void JobEnding::end(Outcome outcome, Patience patience) {
  if (phase_ != Phase::kRunning) return;
  if (!is_to_end()) how_.asked = outcome;
  if (job_.processes.was_program_started()) job_.note_begin();
  const bool has_processes = job_.processes.mpiexec() != 0 || job_.processes.own_proxy() != 0;
  if (!job_.has_begun && has_processes) patience = Patience::kNone;  // so that nothing is started after this
  patience == Patience::kNone ? kill_everything() : ask_to_leave(patience);
}

void JobEnding::break_off(const std::string& reason) {
  if (phase_ != Phase::kRunning || is_to_end()) return;
  how_.broken = reason;
  ask_to_leave(Patience::kNormal);
}

void JobEnding::break_off_unstarted(const std::string& reason) {
  is_site_fault_ = !is_to_end();
  break_off(reason);
}

void JobEnding::fail_unless_noticed(const std::string& reason, milliseconds within) {
  if (phase_ != Phase::kRunning || how_.asked) return;
  const bool is_first = how_.unnoticed.empty();
  const auto until = std::chrono::steady_clock::now() + within;
  if (!is_first && until >= unnoticed_until_) return;
  if (is_first) how_.unnoticed = reason;
  job_.processes.note_shared_files();
  unnoticed_until_ = until;
  unnoticed_timer_.arm_after(within);
}

void JobEnding::on_death(const std::string& ranks) {
  if (how_.unnoticed.empty()) how_.dead = ranks;
  fail_unless_noticed(fmt::format("{} died without MPI_Finalize", ranks));
}

void JobEnding::fail_elsewhere(const std::string& reason, milliseconds within) {
  const bool is_first = how_.unnoticed.empty();
  fail_unless_noticed(reason, within);
  how_.is_elsewhere |= is_first && !how_.unnoticed.empty();  // else it comes too late to count
}

void JobEnding::on_unnoticed() {
  how_.broken = fmt::format("{}, and mpiexec did not notice", how_.unnoticed);
  kill_everything();
}

void JobEnding::on_part_over() {
  if (phase_ != Phase::kRunning) return;
  before_leaving_();
  on_mpiexec_exit(0, true);
}

void JobEnding::on_mpiexec_exit(int status, bool had_child) {
  how_.exit_status = status;
  if (!had_child && !is_to_end() && has_lost_its_proxy(job_)) {  // mpiexec 4.0.2 takes a failed fork for a proxy
    is_site_fault_ = true;
    how_.broken = fmt::format("mpiexec could not fork its proxy: {}", kLimitOfProcesses);
  }
  phase_ = Phase::kLeaving;
  job_.processes.on_mpiexec_exit();
  unnoticed_timer_.disarm();
  kill_timer_.disarm();
  leave();
}

// ---- signals --------------------------------------------------------------------------------------------------------

void JobEnding::ask_to_leave(Patience patience) {
  before_leaving_();
  job_.processes.note_shared_files();
  if (how_.stopped.empty()) how_.stopped = job_.processes.stopped_by_others(job_.ranks.is_suspended());
  if (!how_.stopped.empty()) return kill_everything();
  if (job_.ranks.is_suspended()) job_.processes.signal_program(SIGKILL);  // stopped ones cannot act on SIGTERM
  if (!job_.order.is_home() && job_.processes.own_proxy() == 0) return on_part_over();  // nothing was started here
  job_.processes.ask_to_end();
  // mpiexec 4.0.2 loses a SIGTERM that comes while it starts the ranks, and then waits for ever.
  kill_timer_.arm_after(time_to_leave(has_started_ ? patience : Patience::kHurried));
}

/// SIGTERM did not end the job in time, perhaps because of a stop that came at the same time.
void JobEnding::on_sigterm_in_vain() {
  if (how_.stopped.empty()) how_.stopped = job_.processes.stopped_by_others(job_.ranks.is_suspended());
  kill_everything();
}

/// mpiexec's exit leads to leave(), which repeats until no process is left.
void JobEnding::kill_everything() {
  if (phase_ != Phase::kRunning) return;
  job_.processes.note_shared_files();
  job_.processes.kill_tree();
  job_.ranks.signal(SIGKILL);
}

// ---- the end --------------------------------------------------------------------------------------------------------

/// Kills the processes that are left, and repeats until there are none.
void JobEnding::leave() {
  bool is_any_left = kill_ranks_left();
  if (job_.processes.own_proxy() != 0) {  // mpiexec is gone, so it has nothing to do
    job_.processes.kill_tree();
    is_any_left = true;
  }
  for (const Process& process : job_.processes.strays()) {
    if (!JobProcesses::is_hydra(process)) job_.note_begin();
    process.signal(SIGKILL);
    is_any_left = true;
  }
  if (is_any_left)
    leave_timer_.arm_after(kBetweenLooksAtEnd);
  else
    finish();
}

/// Whether there were any.
bool JobEnding::kill_ranks_left() {
  bool is_any_left = false;
  for (std::size_t number = 0; number < job_.ranks.size(); ++number) {
    const JobRanks::Rank& rank = job_.ranks.all()[number];
    if (!rank.is_running()) continue;
    if (rank.process->is_gone()) {
      job_.ranks.lose(number);
    } else {
      rank.process->signal(SIGKILL);
      is_any_left = true;
    }
  }
  return is_any_left;
}

void JobEnding::finish() {
  phase_ = Phase::kOver;
  // Of a start of some ranks only mpiexec does not notice it: its proxy goes on trying to fork the others.
  if (!how_.asked && was_refused_a_thread(job_)) {
    is_site_fault_ = true;
    how_.broken = fmt::format("a rank could not make UCX's thread: {}", kLimitOfProcesses);
  }
  const JobEnd end = judge(job_, how_);
  learn_end_cost(end);
  job_.ranks.leave();
  job_.processes.remove_shared_files();
  if (!job_.site.shared.empty()) remove_unused_files(job_.site.shared);
  job_.processes.drop_group();
  job_.site.report(protocol::JobEnded{job_.id(), end, is_site_fault_});
  job_.site.retire(job_.id());
}

/// Learns from undisturbed ends only.
void JobEnding::learn_end_cost(const JobEnd& end) const {
  if (!job_.site.is_emulated || end.outcome != Outcome::kCompleted) return;
  std::uint64_t last = 0;
  for (std::uint32_t slot = 0; slot < job_.ranks.size(); ++slot)
    last = std::max(last, job_.ranks.segment()->times(slot, 0).finalize);
  if (const std::uint64_t now = monotonic_ns(); last != 0 && last < now)
    job_.site.end_cost->learn(job_.ranks.size(), now - last);
}

}  // namespace replay::launcher
