// Checks for failures that mpiexec does not see or does not report: a proxy that died, processes stopped from outside,
// a rank that left before MPI_Init while the others wait for it there, children of a rank that keep Hydra's pipes open
// after it. Without these checks such a job would hold its cores for ever. docs/failures.md has the whole table.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "launcher/agent/job/agent_job.hpp"
#include "launcher/mpich/mpiexec.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kMpiexecNoticesWithin = 3000ms;
constexpr auto kBetweenLooksAtStrays = 100ms;

bool is_hydra(const ProcessStat& stat) { return stat.name.starts_with("hydra_pmi"); }

}  // namespace

/// Once a second.
void AgentJob::look_after() {
  if (form_ == Form::kRigid) end_if_a_rank_left_early();
  end_strays();
}

// ---- the proxy ------------------------------------------------------------------------------------------------------

void AgentJob::watch_proxy() {
  if (proxy_) return;
  for (const pid_t pid : descendants_of(mpiexec_)) {
    const auto stat = read_stat(pid);
    if (!stat || !is_hydra(*stat)) continue;
    proxy_ = Process::open(pid, stat->start);
    if (!proxy_) continue;
    proxy_event_ = std::make_unique<LoopEvent>(site_.loop, proxy_->pidfd(), EV_READ, [this] { on_proxy_exit(); });
    proxy_event_->arm();
    return;
  }
}

/// The proxy normally exits after its ranks, and mpiexec after the proxy. A proxy that leaves ranks behind was killed,
/// and mpiexec then waits for ranks that no proxy watches.
void AgentJob::on_proxy_exit() {
  const bool leaves_ranks = std::ranges::any_of(ranks_, &Rank::is_running);
  if (leaves_ranks || registered() < ranks_.size()) unnoticed_.clear();  // other deaths are its consequence
  fail_unless_noticed("Hydra's proxy died", leaves_ranks ? kMpiexecNoticesWithin / 6 : kMpiexecNoticesWithin);
}

/// mpiexec usually sees a rank's death at once and ends the job itself; it gets `within` to do so.
void AgentJob::fail_unless_noticed(const std::string& reason, std::chrono::milliseconds within) {
  if (phase_ != Phase::kRunning || asked_outcome_ || !unnoticed_.empty()) return;
  unnoticed_ = reason;
  unnoticed_timer_.arm_after(within);
}

void AgentJob::fail_unless_noticed(const std::string& reason) { fail_unless_noticed(reason, kMpiexecNoticesWithin); }

void AgentJob::on_nobody_noticing() {
  found_broken_ = fmt::format("{}, and mpiexec did not notice", unnoticed_);
  kill_everything();
}

// ---- stopped --------------------------------------------------------------------------------------------------------

/// The processes that were stopped from outside: they cannot act on SIGTERM. Empty: none.
std::string AgentJob::who_is_stopped() const {
  std::vector<std::string> hydra;
  std::set<std::size_t> ranks;
  std::vector<pid_t> all = descendants_of(mpiexec_);
  all.insert(all.begin(), mpiexec_);
  for (const pid_t pid : all) {
    const auto stat = read_stat(pid);
    if (!stat || (stat->state != 'T' && stat->state != 't')) continue;
    if (pid == mpiexec_)
      hydra.emplace_back("mpiexec");
    else if (is_hydra(*stat))
      hydra.emplace_back("Hydra's proxy");
    else if (const auto rank = rank_of(pid); rank && !is_suspended_)
      ranks.insert(*rank);
  }
  for (const std::size_t rank : ranks) hydra.push_back(fmt::format("rank {}", rank));
  if (hydra.empty()) return "";
  return fmt::format("{} {} stopped (SIGSTOP) by somebody", fmt::join(hydra, ", "), hydra.size() == 1 ? "was" : "were");
}

// ---- left too early -------------------------------------------------------------------------------------------------

/// Only with proof: a rank waits in MPI_Init, the rank of each process of the program is known, and none belongs to
/// this rank, which has not registered.
std::optional<std::size_t> AgentJob::rank_that_left_early() const {
  if (!segment_ || registered() == ranks_.size()) return std::nullopt;
  bool does_anybody_wait = false;
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (ranks_[slot].is_running() && segment_->state(slot) == REPLAY_VM_STARTING) does_anybody_wait = true;
  if (!does_anybody_wait) return std::nullopt;
  std::set<std::size_t> present;
  for (const Process& process : program_processes()) {
    const auto rank = rank_of(process.pid());
    if (!rank) return std::nullopt;
    present.insert(*rank);
  }
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (!ranks_[rank].process && !present.contains(rank)) return rank;
  return std::nullopt;
}

/// Hydra takes exit code 0 for a good end, and the other ranks would wait for ever.
bool AgentJob::end_if_a_rank_left_early() {
  const auto rank = rank_that_left_early();
  if (rank) break_off(fmt::format("rank {} left before MPI_Init (exit code unknown), and others wait for it", *rank));
  return rank.has_value();
}

// ---- strays ---------------------------------------------------------------------------------------------------------

/// The job's processes outside mpiexec's tree. Each is opened first and then checked to be below us or in the job's
/// group, so that a pid that the kernel has reused names no other process.
std::vector<Process> AgentJob::strays() const {
  std::vector<Process> found;
  const auto add = [&found](pid_t pid, const auto& ours) {
    auto process = Process::open(pid);
    if (!process || process->is_gone()) return;
    const std::vector<pid_t> now = ours();
    if (std::ranges::find(now, pid) != now.end()) found.push_back(std::move(*process));
  };
  for (const pid_t pid : site_.orphans_of(key_text_)) add(pid, [] { return descendants_of(::getpid()); });
  if (!group_) return found;
  const std::vector<pid_t> below = mpiexec_pid() != 0 ? descendants_of(mpiexec_pid()) : std::vector<pid_t>{};
  for (const pid_t pid : group_->processes())
    if (pid != mpiexec_pid() && std::ranges::find(below, pid) == below.end())
      add(pid, [this] { return group_->processes(); });
  return found;
}

/// When the program's processes have exited, mpiexec waits until their last child closes Hydra's pipes. Strays must be
/// seen twice, because at the very start there is no process of the program either.
void AgentJob::end_strays() {
  const bool is_program_there = phase_ != Phase::kRunning || mpiexec_ == 0 ||
                                std::ranges::any_of(ranks_, &Rank::is_running) || !program_processes().empty();
  const std::vector<Process> left = is_program_there ? std::vector<Process>{} : strays();
  if (left.empty()) {
    were_strays_seen_ = false;
  } else if (!std::exchange(were_strays_seen_, true)) {
    stray_timer_.arm_after(kBetweenLooksAtStrays);
  } else {
    for (const Process& process : left) process.signal(SIGKILL);
  }
}

/// Schedules a check for children that the last rank has left.
void AgentJob::expect_strays() {
  if (std::ranges::none_of(ranks_, &Rank::is_running)) stray_timer_.arm_after(kBetweenLooksAtStrays);
}

}  // namespace replay::launcher
