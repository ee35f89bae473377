#include "launcher/agent/job/job_watch.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "launcher/agent/job/job_outcome.hpp"
#include "launcher/mpich/mpiexec.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kBetweenLooksAtStrays = 100ms;

}  // namespace

JobWatch::JobWatch(JobContext& job, JobEnding& ending)
    : job_(job), ending_(ending), stray_timer_(job.site.loop, -1, 0, [this] { end_strays(); }) {}

void JobWatch::on_started(bool is_malleable) {
  is_rigid_ = !is_malleable;
  find_proxy();
}

void JobWatch::look_after() {
  if (is_rigid_) end_if_a_rank_left_early();
  end_strays();
}

void JobWatch::stop() {
  stray_timer_.disarm();
  proxy_event_.reset();
}

// ---- the proxy ------------------------------------------------------------------------------------------------------

void JobWatch::find_proxy() {
  if (proxy_ || job_.order.is_on_several_nodes()) return;  // JobSpan has its own
  proxy_ = job_.processes.proxy();
  if (!proxy_) return;
  proxy_event_ = std::make_unique<LoopEvent>(job_.site.loop, proxy_->pidfd(), EV_READ, [this] { on_proxy_exit(); });
  proxy_event_->arm();
}

/// The proxy normally exits after its ranks, and mpiexec after the proxy. A proxy that leaves ranks behind was killed,
/// and mpiexec then waits for ranks that no proxy watches.
void JobWatch::on_proxy_exit() {
  const bool leaves_ranks = job_.ranks.is_any_running();
  if (leaves_ranks || !job_.ranks.have_all_registered()) ending_.forget_unnoticed();  // consequences of this death
  ending_.fail_unless_noticed(kProxyDied, leaves_ranks ? kMpiexecNoticesWithin / 6 : kMpiexecNoticesWithin);
}

// ---- left too early -------------------------------------------------------------------------------------------------

bool JobWatch::does_a_rank_wait_in_init() const {
  const std::vector<JobRanks::Rank>& ranks = job_.ranks.all();
  for (std::uint32_t slot = 0; slot < ranks.size(); ++slot)
    if (ranks[slot].is_running() && job_.ranks.segment()->state(slot) == REPLAY_VM_STARTING) return true;
  return false;
}

/// Only with proof: a rank waits in MPI_Init, the rank of each process of the program is known, and none belongs to
/// this rank, which has not registered.
std::optional<std::size_t> JobWatch::rank_that_left_early() const {
  if (job_.ranks.segment() == nullptr || job_.ranks.have_all_registered()) return std::nullopt;
  if (!does_a_rank_wait_in_init()) return std::nullopt;
  std::set<std::size_t> present;
  for (const auto& [rank, process] : job_.processes.program_by_rank(job_.ranks.size())) {
    if (!rank) return std::nullopt;
    present.insert(*rank);
  }
  const std::vector<JobRanks::Rank>& ranks = job_.ranks.all();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (!ranks[rank].process && !present.contains(rank)) return rank;
  return std::nullopt;
}

bool JobWatch::end_if_a_rank_left_early() {
  const auto rank = rank_that_left_early();
  if (rank)
    ending_.break_off(fmt::format("rank {} left before MPI_Init (exit code unknown), and others wait for it",
                                  job_.ranks.world_rank(*rank)));
  return rank.has_value();
}

// ---- strays ---------------------------------------------------------------------------------------------------------

/// When the program's processes have exited, mpiexec waits until their last child closes Hydra's pipes. Strays must be
/// seen twice, because at the very start there is no process of the program either.
void JobWatch::end_strays() {
  const bool is_program_there =
      job_.processes.mpiexec() == 0 || job_.ranks.is_any_running() || !job_.processes.program().empty();
  const std::vector<Process> left = is_program_there ? std::vector<Process>{} : job_.processes.strays();
  if (left.empty()) {
    were_strays_seen_ = false;
  } else if (!std::exchange(were_strays_seen_, true)) {
    stray_timer_.arm_after(kBetweenLooksAtStrays);
  } else {
    for (const Process& process : left) process.signal(SIGKILL);
  }
}

void JobWatch::expect_strays() {
  if (!job_.ranks.is_any_running()) stray_timer_.arm_after(kBetweenLooksAtStrays);
}

}  // namespace replay::launcher
