#include "launcher/agent/job/job_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {

JobRanks::JobRanks(const AgentSite& site, JobId job, std::vector<std::int32_t> core_of_rank, std::size_t first_rank,
                   OnExit on_exit)
    : site_(site),
      job_(job),
      core_of_rank_(std::move(core_of_rank)),
      first_rank_(first_rank),
      on_exit_(std::move(on_exit)),
      ranks_(core_of_rank_.size()) {}

void JobRanks::enter(std::unique_ptr<JobSegment> segment) {
  segment_ = std::move(segment);
  if (segment_) segment_->order_slowdown(slowdown_);  // no segment: stock MPI
  site_.cores->enter(job_, {segment_.get(), [this] { advance_meters(); }}, core_of_rank_);
}

void JobRanks::leave() {
  site_.cores->leave(job_);
  segment_.reset();
  for (Rank& rank : ranks_) rank.exit_event.reset();
}

bool JobRanks::add(const replay_vm_hello& hello, UniqueFd stream) {
  const std::size_t number = static_cast<std::size_t>(hello.world_rank) - first_rank_;
  Rank& rank = ranks_[number];
  rank.process = Process::open(hello.pid, hello.pid_start);
  if (!rank.process) return false;
  rank.stream = std::move(stream);
  rank.exit_event =
      std::make_unique<LoopEvent>(site_.loop, rank.process->pidfd(), EV_READ, [this, number] { on_exit_(number); });
  rank.exit_event->arm();
  site_.cores->know_process(job_, static_cast<std::uint32_t>(number), hello.pid);
  return true;
}

void JobRanks::lose(std::size_t number) {
  const auto slot = static_cast<std::uint32_t>(number);
  Rank& rank = ranks_[number];
  rank.is_gone = true;
  rank.is_finalized = segment_->state(slot) == REPLAY_VM_FINALIZED;
  rank.meter.advance(segment_->times(slot, monotonic_ns()), monotonic_ns(), counts_as_used());
  site_.cores->lose_rank(job_, slot);
}

void JobRanks::set_slowdown(double slowdown) {
  slowdown_ = slowdown;
  if (segment_) segment_->order_slowdown(slowdown);
}

void JobRanks::set_suspended(bool is_suspended) {
  advance_meters();
  is_suspended_ = is_suspended;
}

std::string JobRanks::names(const std::vector<std::size_t>& some) const {
  std::string names;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < some.size() && some[i + 1] == some[i] + 1) ++i;
    names += fmt::format("{}{}", names.empty() ? "" : ",", world_rank(some[first]));
    if (i > first) names += fmt::format("-{}", world_rank(some[i]));
  }
  return fmt::format("{} {}", some.size() == 1 ? "rank" : "ranks", names);
}

std::size_t JobRanks::registered() const {
  return static_cast<std::size_t>(std::ranges::count_if(ranks_, [](const Rank& r) { return r.process.has_value(); }));
}

bool JobRanks::is_any_running() const { return std::ranges::any_of(ranks_, &Rank::is_running); }

std::vector<std::size_t> JobRanks::dying() const {
  std::vector<std::size_t> found;
  for (std::size_t number = 0; number < ranks_.size(); ++number) {
    const Rank& rank = ranks_[number];
    if (!rank.process || segment_->state(static_cast<std::uint32_t>(number)) == REPLAY_VM_FINALIZED) continue;
    const auto stat = rank.is_gone ? std::nullopt : read_stat(rank.process->pid());
    if (!stat || stat->is_exiting || rank.process->is_gone()) found.push_back(number);
  }
  return found;
}

void JobRanks::signal(int number) const {
  for (const Rank& rank : ranks_)
    if (rank.is_running()) rank.process->signal(number);
}

void JobRanks::advance_meters() {
  if (!segment_) return;
  const std::uint64_t now = monotonic_ns();
  const bool counts = counts_as_used();
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (ranks_[slot].is_running()) ranks_[slot].meter.advance(segment_->times(slot, now), now, counts);
}

void JobRanks::measure() {
  if (!counts_as_used()) return;
  advance_meters();
  if (const double use = cpu_use(); use >= 0) site_.report(protocol::JobMeasured{job_, use});
}

double JobRanks::cpu_use() const {
  double sum = 0;
  for (const Rank& rank : ranks_) {
    const auto use = rank.meter.cpu_use();
    if (!use) return -1;
    sum += *use;
  }
  return sum / static_cast<double>(ranks_.size());
}

protocol::JobStatistics JobRanks::statistics() const {
  protocol::JobStatistics found{job_, monotonic_ns(), "none", "", {}};
  found.back_end = site_.cores->back_end(job_) == REPLAY_VM_TOKEN ? "token" : "yield";
  found.ranks.resize(ranks_.size());
  if (!segment_) return found;
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (ranks_[slot].process) found.ranks[slot] = segment_->statistics(slot, ranks_[slot].process->pid(), found.at_ns);
  if (segment_->mode(0) == REPLAY_VM_MODE_PROGRESS) found.mode = "progress";
  if (segment_->mode(0) == REPLAY_VM_MODE_TEST_LOOP) found.mode = "test-loop";
  return found;
}

}  // namespace replay::launcher
