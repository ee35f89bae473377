#include "launcher/agent/cores/node_cores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "scheduler/base/error.hpp"

namespace replay::launcher {

std::optional<std::string> NodeCores::why_not(JobId job, const std::vector<std::int32_t>& core_of_rank,
                                              bool needs_seats) const {
  std::map<std::uint32_t, std::size_t> newcomers;
  for (std::uint32_t rank = 0; rank < core_of_rank.size(); ++rank) {
    const auto core = static_cast<std::uint32_t>(core_of_rank[rank]);
    if (core >= table_.cores())
      return fmt::format("core {} does not exist: expected 0 to {}", core_of_rank[rank], table_.cores() - 1);
    if (!table_.on(core).contains({job, rank})) ++newcomers[core];
  }
  for (const auto& [core, count] : newcomers)
    if (needs_seats && count > table_.free_seats(core))
      return fmt::format("core {} has no room for {} more ranks: expected at most {} on a core", core, count,
                         REPLAY_VM_SEATS);
  return std::nullopt;
}

void NodeCores::enter(JobId job, Tenant tenant, const std::vector<std::int32_t>& core_of_rank) {
  const Cores cores{core_of_rank.begin(), core_of_rank.end()};
  announce(cores);
  const auto seating = tenant.segment != nullptr ? CoreTable::Seating::kWanted : CoreTable::Seating::kNone;
  residents_[job] = {std::move(tenant), std::vector<pid_t>(core_of_rank.size())};
  for (std::uint32_t rank = 0; rank < core_of_rank.size(); ++rank)
    table_.arrive({job, rank}, static_cast<std::uint32_t>(core_of_rank[rank]), seating);
  change_places(job);
  tell(cores);
  tell_mpl(job);
}

void NodeCores::know_process(JobId job, std::uint32_t rank, pid_t pid) {
  if (const auto found = residents_.find(job); found != residents_.end()) found->second.pid_of_rank[rank] = pid;
}

template <class Change>
void NodeCores::change_ranks(JobId job, const Cores& cores, Change change) {
  announce(cores);
  for (const RankName& name : ranks_of(job)) change(name);
  tell(cores);
}

/// The ranks on the old and the new cores are told that they share.
void NodeCores::begin_move(JobId job, const std::vector<std::int32_t>& core_of_rank) {
  Cores cores = cores_of(job);
  cores.insert(core_of_rank.begin(), core_of_rank.end());
  change_ranks(job, cores, [&](const RankName& name) {
    INVARIANT(old_places(name).empty(), "rank {} of job {} moves already", name.rank, static_cast<std::int64_t>(job));
    if (const auto core = static_cast<std::uint32_t>(core_of_rank[name.rank]); !table_.on(core).contains(name))
      table_.arrive(name, core);
  });
  tell_mpl(job);
}

/// Back to where the ranks were before begin_move().
void NodeCores::cancel_move(JobId job) {
  change_ranks(job, cores_of(job), [this](const RankName& name) {
    if (!old_places(name).empty()) table_.leave(name, table_.place(name)->core);
  });
  tell_mpl(job);
}

void NodeCores::change_places(JobId job) {
  const auto resident = residents_.find(job);
  if (resident == residents_.end() || resident->second.tenant.segment == nullptr) return;
  for (const RankName& name : ranks_of(job)) {
    const CoreTable::Place place = table_.place(name).value();
    resident->second.tenant.segment->order_place(name.rank, replay_vm_place(place.core, place.seat));
    for (const CoreTable::Place& old : old_places(name)) segment_.wake(old.core, old.seat);
  }
}

bool NodeCores::has_let_go(JobId job) const {
  return std::ranges::none_of(ranks_of(job), [this](const RankName& name) {
    return std::ranges::any_of(old_places(name), [&](const CoreTable::Place& old) {
      return pid_of(name) > 0 && segment_.holder(old.core) == pid_of(name);
    });
  });
}

/// Leaves the old cores, and takes away their tokens that are still held.
void NodeCores::finish_move(JobId job) {
  change_ranks(job, cores_of(job), [this](const RankName& name) {
    for (const CoreTable::Place& old : old_places(name)) {
      if (pid_of(name) > 0) segment_.take_away(old.core, pid_of(name));
      table_.leave(name, old.core);
    }
  });
  tell_mpl(job);
}

void NodeCores::stop(JobId job) {
  change_ranks(job, cores_of(job), [this](const RankName& name) {
    take_tokens(name);
    table_.set_stopped(name, true);
  });
}

void NodeCores::pause(JobId job) {
  change_ranks(job, cores_of(job), [this](const RankName& name) {
    if (const pid_t pid = pid_of(name); pid > 0)
      for (const CoreTable::Place& place : table_.places(name)) segment_.take_away(place.core, pid);
    table_.set_stopped(name, true);
  });
}

void NodeCores::go_on(JobId job) {
  change_ranks(job, cores_of(job), [this](const RankName& name) { table_.set_stopped(name, false); });
}

void NodeCores::lose_rank(JobId job, std::uint32_t rank) {
  const RankName name{job, rank};
  Cores cores;
  for (const CoreTable::Place& place : table_.places(name)) cores.insert(place.core);
  if (cores.empty()) return;
  announce(cores);
  take_tokens(name);
  table_.leave_all(name);
  tell(cores);
}

void NodeCores::leave(JobId job) {
  change_ranks(job, cores_of(job), [this](const RankName& name) {
    take_tokens(name);
    table_.leave_all(name);
  });
  residents_.erase(job);
}

void NodeCores::set_busy(const std::set<std::uint32_t>& cores) {
  Cores changed;
  std::ranges::set_symmetric_difference(busy_, cores, std::inserter(changed, changed.end()));
  std::erase_if(changed, [this](std::uint32_t core) { return core >= table_.cores(); });
  busy_ = cores;
  tell(changed);
}

std::map<std::uint32_t, std::vector<pid_t>> NodeCores::processes_by_core() const {
  std::map<std::uint32_t, std::vector<pid_t>> found;
  for (const auto& [job, resident] : residents_)
    for (const RankName& name : ranks_of(job))
      if (const pid_t pid = pid_of(name); pid > 0)
        for (const CoreTable::Place& place : table_.places(name)) found[place.core].push_back(pid);
  return found;
}

bool NodeCores::is_alone(JobId job) const {
  return std::ranges::none_of(ranks_of(job), [this](const RankName& name) { return table_.is_shared(name); });
}

replay_vm_back_end NodeCores::back_end(JobId job) const {
  const bool is_token =
      std::ranges::any_of(ranks_of(job), [this](const RankName& name) { return back_end_of(name) == REPLAY_VM_TOKEN; });
  return is_token ? REPLAY_VM_TOKEN : REPLAY_VM_YIELD;
}

std::vector<RankName> NodeCores::ranks_of(JobId job) const {
  std::vector<RankName> found;
  const auto resident = residents_.find(job);
  if (resident == residents_.end()) return found;
  for (std::uint32_t rank = 0; rank < resident->second.pid_of_rank.size(); ++rank)
    if (table_.place({job, rank})) found.push_back({job, rank});
  return found;
}

NodeCores::Cores NodeCores::cores_of(JobId job) const {
  Cores cores;
  for (const RankName& name : ranks_of(job))
    for (const CoreTable::Place& place : table_.places(name)) cores.insert(place.core);
  return cores;
}

pid_t NodeCores::pid_of(const RankName& name) const { return residents_.at(name.job).pid_of_rank[name.rank]; }

std::vector<CoreTable::Place> NodeCores::old_places(const RankName& name) const {
  auto places = table_.places(name);
  places.pop_back();
  return places;
}

replay_vm_back_end NodeCores::back_end_of(const RankName& name) const {
  const bool is_beside_others =
      table_.meets_another_job(name) || std::ranges::any_of(table_.places(name), [this](const CoreTable::Place& place) {
        return busy_.contains(place.core);
      });
  return is_beside_others ? back_ends_.beside_others : back_ends_.within_a_job;
}

/// Calls before_change of the jobs on these cores, before the table changes.
void NodeCores::announce(const Cores& cores) const {
  std::set<JobId> jobs;
  for (const std::uint32_t core : cores)
    for (const RankName& name : table_.on(core)) jobs.insert(name.job);
  for (const JobId job : jobs)
    if (const auto& then = residents_.at(job).tenant.before_change) then();
}

/// Writes the sharing orders on these cores, after the table has changed.
void NodeCores::tell(const Cores& cores) {
  for (const std::uint32_t core : cores)
    for (const RankName& name : table_.on(core))
      if (JobSegment* segment = residents_.at(name.job).tenant.segment)
        segment->order_sharing(name.rank, table_.is_shared(name), back_end_of(name));
}

void NodeCores::tell_mpl(JobId job) {
  const auto resident = residents_.find(job);
  if (resident == residents_.end() || resident->second.tenant.segment == nullptr) return;
  std::ptrdiff_t most = 1;
  for (const std::uint32_t core : cores_of(job))
    most = std::max(most, std::ranges::count(table_.on(core), job, &RankName::job));
  resident->second.tenant.segment->order_mpl(static_cast<std::uint32_t>(most));
}

void NodeCores::take_tokens(const RankName& name) {
  if (const pid_t pid = pid_of(name); pid > 0) segment_.take_away_everywhere(pid);
}

}  // namespace replay::launcher
