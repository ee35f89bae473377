#include "launcher/agent/job/job_turns.hpp"

#include <signal.h>

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/base/process/monotonic_clock.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;

constexpr int kLooksPerTurn = 2;         // each interrupts a rank for 50 us or so
constexpr std::uint64_t kBusyShare = 4;  // a process that has used more than a quarter of the time is not asleep
constexpr std::uint64_t kPollsWithinNs = 6'000'000;
constexpr auto kBetweenCloseLooks = 1ms;

/// Or gone.
bool is_asleep(pid_t pid) {
  const auto stat = read_stat(pid);
  return !stat || stat->state == 'S' || stat->state == 'Z';
}

}  // namespace

JobTurns::JobTurns(event_base* loop, NodeCores& cores, Guard& guard, std::chrono::microseconds turn)
    : cores_(cores),
      guard_(guard),
      turns_(turn),
      between_looks_(std::max(kBetweenCloseLooks, std::chrono::duration_cast<milliseconds>(turn / kLooksPerTurn))),
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
      now->seen = old.seen, now->counted = old.counted, now->demand = old.demand;
  }
  if (member.is_stopped)
    for (const Known& known : member.processes) known.process.signal(SIGSTOP);
}

void JobTurns::look() {
  std::vector<Turns::Job> jobs = those_that_share();
  const bool does_one_share = !jobs.empty();
  keep_contended(jobs);
  const bool does_one_span = std::ranges::any_of(
      jobs, [this](const Turns::Job& job) { return members_.at(job.id).job->order.is_on_several_nodes(); });
  const std::set<JobId> running = turns_.decide(
      jobs, Turns::Time{monotonic_ns()},
      does_one_span ? std::optional<Turns::Time>{std::chrono::system_clock::now().time_since_epoch()} : std::nullopt);
  for (const Turns::Job& job : jobs)
    if (!running.contains(job.id)) stop(job.id, members_.at(job.id));
  for (auto& [id, member] : members_) {
    const bool has_turns = std::ranges::find(jobs, id, &Turns::Job::id) != jobs.end();
    if (!has_turns || running.contains(id)) go_on(id, member);
  }
  if (!does_one_share) return timer_.disarm();
  const auto next = is_a_job_perhaps_waiting_ && !jobs.empty() ? kBetweenCloseLooks : between_looks_;
  const auto rest = std::chrono::ceil<milliseconds>(turns_.until_next().value_or(next));
  timer_.arm_after(std::clamp(rest, kBetweenCloseLooks, next));
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
  is_a_job_perhaps_waiting_ = false;
  for (Turns::Job& job : jobs) {
    Member& member = members_.at(job.id);
    std::vector<double> demands;
    for (Known& known : member.processes) {
      if (!member.is_stopped) ask_demand_of(known, member.job->ranks.segment());
      demands.push_back(known.demand.share());
    }
    job.demand = demand_of_job(std::move(demands), job.cores.size());
    if (member.is_stopped) continue;
    const Doing doing = look_at(member);
    job.waits = doing == Doing::kWaiting;
    is_a_job_perhaps_waiting_ = is_a_job_perhaps_waiting_ || doing != Doing::kComputing;
  }
  return jobs;
}

/// Looks at all of them, so that the next look compares with this one.
JobTurns::Doing JobTurns::look_at(Member& member) {
  const JobSegment* segment = member.job->ranks.segment();
  Doing most = Doing::kWaiting;
  for (Known& known : member.processes) most = std::max(most, look_at(known, segment));
  return most;
}

/// It waits in MPI when it has polled in vain in the same call, a tick ago at most as others may have its core; or else
/// when it is asleep. One that has used little CPU time and could run has been kept from its core by others.
JobTurns::Doing JobTurns::look_at(Known& known, const JobSegment* segment) {
  Seen now{monotonic_ns(), cpu_ns(known.process.pid()).value_or(0), {}, 0};
  if (segment != nullptr && known.slot >= 0) now.waiting = segment->waiting(static_cast<std::uint32_t>(known.slot));
  const Seen before = known.seen;
  if (now.waiting.since != 0 && now.waiting.since == before.waiting.since)
    now.polled_ns = now.waiting.polls != before.waiting.polls ? now.at_ns : before.polled_ns;
  known.seen = now;
  if (now.waiting.since != 0) {
    const bool has_polled = now.polled_ns != 0 && now.at_ns - now.polled_ns < kPollsWithinNs;
    return has_polled || is_asleep(known.process.pid()) ? Doing::kWaiting : Doing::kPerhapsWaiting;
  }
  const std::uint64_t used = now.cpu_ns - std::min(before.cpu_ns, now.cpu_ns);
  if (used > (now.at_ns - before.at_ns) / kBusyShare) return Doing::kComputing;
  return is_asleep(known.process.pid()) ? Doing::kWaiting : Doing::kComputing;
}

std::optional<JobTurns::Counted> JobTurns::count(const Known& known, const JobSegment* segment) {
  const auto computed = cpu_ns(known.process.pid()), kept = kept_waiting_ns(known.process.pid());
  if (!computed || !kept) return std::nullopt;
  Counted now{monotonic_ns(), *computed, *kept, 0};
  if (segment != nullptr && known.slot >= 0)
    now.blocked = segment->times(static_cast<std::uint32_t>(known.slot), now.at).blocked;
  return now;
}

void JobTurns::ask_demand_of(Known& known, const JobSegment* segment) {
  const auto before = std::exchange(known.counted, count(known, segment));
  if (!before || !known.counted) return;
  const Counted& now = *known.counted;
  const std::uint64_t length = now.at - before->at;
  const auto within = [length](std::uint64_t from, std::uint64_t to) {  // a rank may write anything into its segment
    return Demand::Time{std::min(length, to - std::min(from, to))};
  };
  known.demand.add({.length = Demand::Time{length},
                    .computed = within(before->computed, now.computed),
                    .kept = within(before->kept, now.kept),
                    .blocked = within(before->blocked, now.blocked)});
}

/// Its tokens go to others first, which do not hand them back to ranks that are off turn.
void JobTurns::stop(JobId id, Member& member) {
  if (std::exchange(member.is_stopped, true)) return;
  guard_.begin();
  for (Known& known : member.processes) {
    known.process.signal(SIGSTOP);
    known.seen.polled_ns = 0;
    known.counted.reset();
  }
  cores_.pause(id);
}

void JobTurns::go_on(JobId id, Member& member) {
  if (!std::exchange(member.is_stopped, false)) return;
  cores_.go_on(id);
  for (Known& known : member.processes) {
    known.counted = count(known, member.job->ranks.segment());
    known.process.signal(SIGCONT);
  }
}

}  // namespace replay::launcher
