#include "launcher/agent/job/agent_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {

AgentJob::AgentJob(const AgentSite& site, protocol::LaunchJob order)
    : site_(site),
      order_(std::move(order)),
      core_of_rank_(order_.core_of_rank),
      key_(new_key()),
      key_text_(to_hex(key_)),
      ranks_(order_.core_of_rank.size()),
      registration_timer_(site.loop, -1, 0, [this] { on_registration_timeout(); }),
      init_timer_(site.loop, -1, 0, [this] { look_whether_running(); }),
      mask_timer_(site.loop, -1, 0, [this] { read_masks_back(); }),
      order_timer_(site.loop, -1, 0, [this] { look_again(); }),
      unnoticed_timer_(site.loop, -1, 0, [this] { on_nobody_noticing(); }),
      stray_timer_(site.loop, -1, 0, [this] { end_strays(); }),
      kill_timer_(site.loop, -1, 0, [this] { on_sigterm_in_vain(); }),
      leave_timer_(site.loop, -1, 0, [this] { leave(); }) {}

// ---- registration ---------------------------------------------------------------------------------------------------

Admission AgentJob::admit(const replay_vm_hello& hello) {
  const int slot = slot_for(hello);
  if (slot < 0) return {slot, {}};
  return {slot, {segment_->descriptor(), site_.cores->segment().descriptor()}};
}

int AgentJob::slot_for(const replay_vm_hello& hello) {
  if (hello.version != REPLAY_VM_VERSION) return kRefusedVersion;
  if (phase_ != Phase::kRunning || !segment_) return kRefusedKey;
  if (hello.world_size != static_cast<std::int32_t>(ranks_.size()) || hello.world_rank < 0 ||
      hello.world_rank >= hello.world_size)
    return kRefusedRank;
  if (ranks_[static_cast<std::size_t>(hello.world_rank)].process) return kRefusedAlready;
  if (!Process::open(hello.pid, hello.pid_start)) return kRefusedKey;
  if (site_.is_emulated && (hello.flags & REPLAY_VM_FIT_FOR_EMULATION) == 0) {
    const std::string program = std::filesystem::path{image_of(hello.pid).program}.filename();
    break_off(fmt::format("{} computes for real: {}", program, kOnlyFitPrograms));
    return kRefusedUnfit;
  }
  return hello.world_rank;
}

void AgentJob::add_rank(const replay_vm_hello& hello, UniqueFd stream) {
  const auto number = static_cast<std::size_t>(hello.world_rank);
  Rank& rank = ranks_[number];
  rank.process = Process::open(hello.pid, hello.pid_start);
  if (!rank.process) return;  // died since; mpiexec reports it
  rank.stream = std::move(stream);
  rank.exit_event =
      std::make_unique<LoopEvent>(site_.loop, rank.process->pidfd(), EV_READ, [this, number] { on_rank_exit(number); });
  rank.exit_event->arm();
  watch_proxy();
  site_.cores->know_process(id(), static_cast<std::uint32_t>(number), hello.pid);
  if (form_ == Form::kUnknown && registered() == ranks_.size()) look_whether_running();
}

// ---- figures --------------------------------------------------------------------------------------------------------

bool AgentJob::is_expanded() const { return site_.cores->is_alone(id()); }

void AgentJob::advance_meters() {
  if (!segment_) return;
  const std::uint64_t now = monotonic_ns();
  const bool counts = is_expanded() && !is_suspended_;
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (ranks_[slot].is_running()) ranks_[slot].meter.advance(segment_->times(slot, now), now, counts);
}

double AgentJob::cpu_use() const {
  double sum = 0;
  for (const Rank& rank : ranks_) {
    const auto use = rank.meter.cpu_use();
    if (!use) return -1;
    sum += *use;
  }
  return sum / static_cast<double>(ranks_.size());
}

void AgentJob::measure() {
  look_after();
  if (phase_ != Phase::kRunning || is_suspended_ || !is_expanded()) return;
  advance_meters();
  if (const double use = cpu_use(); use >= 0) site_.report(protocol::JobMeasured{id(), use});
}

protocol::JobStatistics AgentJob::statistics() const {
  protocol::JobStatistics found{id(), monotonic_ns(), "none", "", {}};
  found.back_end = site_.cores->back_end(id()) == REPLAY_VM_TOKEN ? "token" : "yield";
  found.ranks.resize(ranks_.size());
  if (!segment_) return found;
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (ranks_[slot].process) found.ranks[slot] = segment_->statistics(slot, ranks_[slot].process->pid(), found.at_ns);
  if (segment_->mode(0) == REPLAY_VM_MODE_PROGRESS) found.mode = "progress";
  if (segment_->mode(0) == REPLAY_VM_MODE_TEST_LOOP) found.mode = "test-loop";
  return found;
}

std::size_t AgentJob::registered() const {
  return static_cast<std::size_t>(std::ranges::count_if(ranks_, [](const Rank& r) { return r.process.has_value(); }));
}

/// For the user, beside the job's output.
void AgentJob::note(const std::string& text) const {
  const std::string line = text + "\n";
  const std::filesystem::path file = std::filesystem::path{order_.directory} / "notes";
  constexpr int kAppends = O_WRONLY | O_CREAT | O_APPEND;
  // The job can have put anything there: a pipe is not waited for, a link not followed.
  const UniqueFd fd{::open(file.c_str(), kAppends | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666)};
  struct stat status {};
  if (fd.is_open() && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode))
    (void)!::write(fd.get(), line.data(), line.size());
}

}  // namespace replay::launcher
