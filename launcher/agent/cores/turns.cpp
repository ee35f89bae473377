#include "launcher/agent/cores/turns.hpp"

#include <algorithm>
#include <tuple>

#include "scheduler/base/error.hpp"
#include "scheduler/base/mix_bits.hpp"

namespace replay::launcher {

Turns::Turns(std::chrono::microseconds turn) : turn_(turn) { INVARIANT(turn_ > Time{0}, "turns without length"); }

std::set<JobId> Turns::decide(const std::vector<Job>& jobs, Time now, std::optional<Time> common) {
  forget_others(jobs);
  charge(jobs, now - last_);
  last_ = now;
  admit(jobs);
  limit_credit(jobs);
  // Turns that go on come first, then the job that has used least.
  using Claim = std::tuple<bool, std::int64_t, JobId, const Job*>;
  std::vector<Claim> claims;
  for (const Job& job : jobs) {
    const Account& account = accounts_.at(job.id);
    const auto rest = rest_of_turn(job, jobs);
    const bool goes_on = !common && account.is_on_turn && (!rest || *rest > Time{0});
    claims.emplace_back(!goes_on, common ? place_in_turn(job.id, *common) : account.used.count(), job.id, &job);
  }
  std::ranges::sort(claims);
  std::vector<const Job*> running;
  std::set<JobId> found;
  for (const auto& [is_late, used, id, job] : claims) {
    bool has_rival = false, may_run = true;
    for (const Job* other : running) {
      if (!are_rivals(*job, *other)) continue;
      has_rival = true;
      may_run = may_run && other->waits && accounts_.at(other->id).runs;
    }
    if (!may_run) continue;
    accounts_.at(id).is_on_turn = !has_rival;
    running.push_back(job);
    found.insert(id);
  }
  for (auto& [id, account] : accounts_) {
    account.runs = found.contains(id);
    account.is_on_turn = account.is_on_turn && account.runs;
  }
  until_next_.reset();
  if (common && found.size() < jobs.size()) until_next_ = turn_ - *common % turn_;
  for (const Job& job : jobs)
    if (const auto rest = rest_of_turn(job, jobs); rest && !common)
      until_next_ = std::min(*rest, until_next_.value_or(*rest));
  return found;
}

/// Drawn anew for every two turns, and reversed in the second one.
std::int64_t Turns::place_in_turn(JobId job, Time common) const {
  const auto turn = static_cast<std::uint64_t>(common / turn_);
  const auto drawn = static_cast<std::int64_t>(mix_bits(mix_bits(turn / 2) ^ static_cast<std::uint64_t>(job)) >> 1);
  return turn % 2 == 0 ? drawn : -drawn;
}

bool Turns::are_rivals(const Job& a, const Job& b) {
  return a.id != b.id &&
         std::ranges::any_of(a.cores, [&b](const std::uint32_t core) { return b.cores.contains(core); });
}

void Turns::forget_others(const std::vector<Job>& jobs) {
  std::erase_if(accounts_,
                [&jobs](const auto& entry) { return std::ranges::find(jobs, entry.first, &Job::id) == jobs.end(); });
}

/// A job that comes has used as much as the rival that has used least: it is next, and no more than that.
void Turns::admit(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    if (accounts_.contains(job.id)) continue;
    std::optional<Time> least;
    for (const Job& other : jobs)
      if (const auto known = accounts_.find(other.id); known != accounts_.end() && are_rivals(job, other))
        least = std::min(known->second.used, least.value_or(known->second.used));
    accounts_[job.id].used = least.value_or(Time{0});
  }
}

void Turns::charge(const std::vector<Job>& jobs, Time elapsed) {
  for (const Job& job : jobs)
    if (const auto account = accounts_.find(job.id); account != accounts_.end())
      if (account->second.runs && !job.waits) account->second.used += elapsed;
}

void Turns::limit_credit(const std::vector<Job>& jobs) {
  for (const Job& job : jobs)
    for (const Job& other : jobs)
      if (are_rivals(job, other))
        accounts_[job.id].used = std::max(accounts_[job.id].used, accounts_[other.id].used - turn_);
}

std::optional<Turns::Time> Turns::rest_of_turn(const Job& job, const std::vector<Job>& jobs) const {
  const Account& mine = accounts_.at(job.id);
  if (!mine.is_on_turn) return std::nullopt;
  std::optional<Time> rest;
  for (const Job& other : jobs) {
    const Account& theirs = accounts_.at(other.id);
    if (theirs.runs || !are_rivals(job, other)) continue;
    const Time until = std::max(Time{0}, theirs.used + turn_ / 2 - mine.used);
    rest = std::min(until, rest.value_or(until));
  }
  return rest;
}

}  // namespace replay::launcher
