#include "launcher/agent/job/job_turns.hpp"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;

constexpr int kLooksPerTurn = 5;

/// 0: it is gone.
std::uint64_t cpu_ns(pid_t pid) {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
}

}  // namespace

JobTurns::JobTurns(event_base* loop, NodeCores& cores, Guard& guard, std::chrono::microseconds turn)
    : cores_(cores),
      guard_(guard),
      turns_(turn),
      between_looks_(std::max(1ms, std::chrono::duration_cast<milliseconds>(turn / kLooksPerTurn))),
      timer_(loop, -1, 0, [this] { look(); }) {}

void JobTurns::join(JobContext& job) {
  members_.insert_or_assign(job.id(), Member{&job, processes_of(job)});
  look();
}

void JobTurns::leave(JobId job, Leaving how) {
  const auto member = members_.find(job);
  if (member == members_.end()) return;
  if (how == Leaving::kRunning) go_on(job, member->second);
  members_.erase(member);
  look();
}

void JobTurns::refresh(JobId job) {
  const auto found = members_.find(job);
  if (found == members_.end()) return;
  Member& member = found->second;
  std::vector<Known> before = std::exchange(member.processes, processes_of(*member.job));
  for (const Known& old : before) {
    const auto now =
        std::ranges::find(member.processes, old.process.pid(), [](const Known& k) { return k.process.pid(); });
    if (now == member.processes.end())
      old.process.signal(SIGCONT);  // it has left the job's tree
    else
      now->cpu_ns = old.cpu_ns, now->waiting = old.waiting;
  }
  if (member.is_stopped)
    for (const Known& known : member.processes) known.process.signal(SIGSTOP);
}

void JobTurns::look() {
  const std::vector<Turns::Job> jobs = those_that_share();
  const std::set<JobId> running = turns_.decide(jobs, Turns::Time{monotonic_ns()});
  for (const Turns::Job& job : jobs)
    if (!running.contains(job.id)) stop(job.id, members_.at(job.id));
  for (auto& [id, member] : members_) {
    const bool has_turns = std::ranges::find(jobs, id, &Turns::Job::id) != jobs.end();
    if (!has_turns || running.contains(id)) go_on(id, member);
  }
  if (jobs.empty()) return timer_.disarm();
  const auto rest = std::chrono::ceil<milliseconds>(turns_.until_next().value_or(between_looks_));
  timer_.arm_after(std::clamp(rest, 1ms, between_looks_));
}

std::vector<JobTurns::Known> JobTurns::processes_of(const JobContext& job) {
  std::vector<Known> found;
  for (Process& process : job.processes.program()) {
    Known known{std::move(process)};
    const auto& ranks = job.ranks.all();
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      if (ranks[rank].process && ranks[rank].process->pid() == known.process.pid())
        known.slot = static_cast<std::int64_t>(rank);
    found.push_back(std::move(known));
  }
  return found;
}

std::vector<Turns::Job> JobTurns::those_that_share() {
  std::vector<Turns::Job> jobs;
  std::map<std::uint32_t, int> jobs_on;
  for (auto& [id, member] : members_) {
    jobs.push_back({id, cores_.cores_of(id)});
    for (const std::uint32_t core : jobs.back().cores) ++jobs_on[core];
  }
  std::erase_if(jobs, [&jobs_on](const Turns::Job& job) {
    return std::ranges::none_of(job.cores, [&jobs_on](std::uint32_t core) { return jobs_on[core] > 1; });
  });
  for (Turns::Job& job : jobs)
    if (Member& member = members_.at(job.id); !member.is_stopped) job.waits = does_wait(member);
  return jobs;
}

/// Looks at all of them, so that the next look compares with this one.
bool JobTurns::does_wait(Member& member) {
  const JobSegment* segment = member.job->ranks.segment();
  return std::ranges::count_if(member.processes, [segment](Known& known) { return !does_wait(known, segment); }) == 0;
}

/// In MPI, or asleep. One that has not run since the last look may have been kept from its core by others.
bool JobTurns::does_wait(Known& known, const JobSegment* segment) {
  if (segment != nullptr && known.slot >= 0) {
    const auto before = std::exchange(known.waiting, segment->waiting(static_cast<std::uint32_t>(known.slot)));
    if (known.waiting.has_lasted_since(before)) return true;
  }
  const std::uint64_t before = std::exchange(known.cpu_ns, cpu_ns(known.process.pid()));
  if (known.cpu_ns != before && known.cpu_ns != 0) return false;
  const auto stat = read_stat(known.process.pid());
  return !stat || stat->state == 'S' || stat->state == 'Z';
}

/// Its tokens go to others first, which do not hand them back to ranks that are off turn.
void JobTurns::stop(JobId id, Member& member) {
  if (std::exchange(member.is_stopped, true)) return;
  guard_.begin();
  for (const Known& known : member.processes) known.process.signal(SIGSTOP);
  cores_.pause(id);
}

void JobTurns::go_on(JobId id, Member& member) {
  if (!std::exchange(member.is_stopped, false)) return;
  cores_.go_on(id);
  for (const Known& known : member.processes) known.process.signal(SIGCONT);
}

}  // namespace replay::launcher
