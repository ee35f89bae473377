#include "tests/oracle/sharing/groups.hpp"

#include <algorithm>

#include "tests/oracle/sharing/jobs.hpp"

namespace replay::oracle::sharing {
namespace {

struct Member {
  std::size_t job;
  std::size_t unit;
  double self;
  Work work;
};

std::vector<Member> members_of(const Workload& workload, const Group& group, const Left& left) {
  std::vector<Member> members;
  for (std::size_t unit = 0; unit < group.size(); ++unit)
    for (const std::size_t job : group[unit].jobs)
      members.push_back({job, unit, self_slowdown(workload, workload.jobs[job], group[unit].ppn), left(job)});
  return members;
}

// Of the primary and each of the matched, wherever they are to lie.
bool are_partners(const Member& a, const Member& b) { return a.unit != b.unit && (a.unit == 0 || b.unit == 0); }

// Those that have a node in common: a matched unit may lie beyond the nodes of its primary.
bool meet(const Group& group, const Member& a, const Member& b) {
  return are_partners(a, b) && std::ranges::any_of(group[a.unit].nodes, [&](int node) {
           return std::ranges::find(group[b.unit].nodes, node) != group[b.unit].nodes.end();
         });
}

// Of those that are alive: mates are in the same unit.
template <class ArePartners>
double slowdown_among(const Workload& workload, const Member& member, const std::vector<Member>& alive,
                      ArePartners are_partners) {
  double most = 1;
  for (const Member& other : alive) {
    const bool mates = other.unit == member.unit && other.job != member.job;
    if (mates || are_partners(member, other))
      most = std::max(most, planned_slowdown(workload, workload.jobs[member.job], workload.jobs[other.job]));
  }
  return member.self * most;
}

}  // namespace

std::pair<Time, std::int64_t> first_of(const Workload& workload, const Unit& unit) {
  std::pair<Time, std::int64_t> first{kNever, 0};
  for (const std::size_t job : unit.jobs)
    first = std::min(first, {workload.jobs[job].submit, workload.jobs[job].number});
  return first;
}

std::map<std::size_t, Time> planned_ends(const Workload& workload, const Group& group, const Left& left, Time now) {
  std::vector<Member> alive = members_of(workload, group, left);
  const auto meet_there = [&group](const Member& a, const Member& b) { return meet(group, a, b); };
  std::map<std::size_t, Time> ends;
  while (!alive.empty()) {
    for (Member& member : alive) member.work.set_slowdown(now, slowdown_among(workload, member, alive, meet_there));
    // What runs has at least a microsecond left.
    const auto end_of = [](const Member& member) { return std::max(member.work.end(), member.work.as_of + 1); };
    now = end_of(alive.front());
    for (const Member& member : alive) now = std::min(now, end_of(member));
    for (const Member& member : alive)
      if (end_of(member) <= now) ends[member.job] = now;
    std::erase_if(alive, [&](const Member& member) { return ends.contains(member.job); });
  }
  return ends;
}

double gain(const Workload& workload, const Group& group, const Left& left) {
  constexpr long double kNothing = 1e-3L;  // microseconds
  std::vector<Member> alive = members_of(workload, group, left);
  const auto is_primary = [](const Member& member) { return member.unit == 0; };
  long double total = 0;
  long double work = 0;
  while (std::ranges::any_of(alive, is_primary) && !std::ranges::all_of(alive, is_primary)) {
    long double period = -1;
    for (Member& member : alive) {
      member.work.slowdown = slowdown_among(workload, member, alive, are_partners);
      const long double takes = member.work.left * member.work.slowdown;
      if (period < 0 || takes < period) period = takes;
    }
    for (Member& member : alive) {
      work += period * workload.jobs[member.job].processes / member.work.slowdown;
      member.work.left -= period / member.work.slowdown;
    }
    total += period;
    std::erase_if(alive, [](const Member& member) { return member.work.left < kNothing; });
  }
  const long double used = total * nodes_of_group(group);
  return static_cast<double>((work - used) / used);
}

int matched_nodes(const Group& group) {
  int sum = 0;
  for (std::size_t unit = 1; unit < group.size(); ++unit) sum += group[unit].size;
  return sum;
}

int nodes_of_group(const Group& group) { return std::max(group.front().size, matched_nodes(group)); }

}  // namespace replay::oracle::sharing
