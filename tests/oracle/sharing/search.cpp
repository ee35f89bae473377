#include "tests/oracle/sharing/search.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace replay::oracle::sharing {
namespace {

bool is_within_cap(const Search& search, const Group& group) {
  return matched_nodes(group) <= search.primary.size * (1 + search.rules.larger) + kGainTolerance;
}

// SL(A, i), the greatest of all pairs.
double slowdown_of_primary(const Search& search, const Unit& unit) {
  double most = 1;
  for (const std::size_t a : search.primary.jobs)
    for (const std::size_t i : unit.jobs)
      most = std::max(most, planned_slowdown(search.workload, search.workload.jobs[a], search.workload.jobs[i]));
  return most;
}

// Step 1.
bool is_candidate(const Search& search, const Unit& unit) {
  for (const std::size_t a : search.primary.jobs)
    for (const std::size_t i : unit.jobs) {
      const Job& one = search.workload.jobs[a];
      const Job& other = search.workload.jobs[i];
      if (planned_slowdown(search.workload, one, other) > search.rules.max_slowdown) return false;
      if (planned_slowdown(search.workload, other, one) > search.rules.max_slowdown) return false;
    }
  return longest_left(unit, search.left) - longest_left(search.primary, search.left) <=
         static_cast<long double>(search.rules.longer);
}

// Step 2.
std::vector<std::vector<Unit>> blocks_of(const Search& search, const std::vector<Unit>& candidates) {
  std::vector<std::vector<Unit>> blocks;
  for (const Unit& unit : candidates) {
    if (blocks.empty() || blocks.back().size() == search.rules.block) blocks.emplace_back();
    blocks.back().push_back(unit);
  }
  if (search.rules.variant == Way::kNs) return blocks;
  for (std::vector<Unit>& block : blocks)
    std::ranges::stable_sort(block, {}, [&](const Unit& unit) {
      return std::tuple{-longest_left(unit, search.left), first_of(search.workload, unit)};
    });
  return blocks;
}

Group primary_and_forced(const Search& search) {
  Group group{search.primary};
  if (search.forced) group.push_back(*search.forced);
  return group;
}

// The sets of step 3 that can start now.
std::vector<Group> windows(const Search& search, const std::vector<Unit>& list) {
  std::vector<Group> sets;
  const Group base = primary_and_forced(search);
  for (std::size_t first = 0; first < list.size(); ++first) {
    Group group = base;
    for (std::size_t next = first; next < list.size(); ++next) {
      group.push_back(list[next]);
      if (is_within_cap(search, group)) continue;
      group.pop_back();
      break;
    }
    if (group.size() > base.size()) sets.push_back(group);
  }
  if (search.forced && is_within_cap(search, base)) sets.push_back(base);
  std::erase_if(sets, [&](const Group& group) { return !search.can_start(group); });
  return sets;
}

Proposal with_gain(const Search& search, const Group& group) {
  return {group, gain(search.workload, group, search.left)};
}

// Steps 3 and 4.
std::vector<Proposal> best_and_larger(const Search& search, const std::vector<std::vector<Unit>>& blocks) {
  std::optional<Proposal> best;
  for (const Group& group : windows(search, blocks.empty() ? std::vector<Unit>{} : blocks.front())) {
    const Proposal one = with_gain(search, group);
    if (!best || one.gain > best->gain + kGainTolerance) best = one;
  }
  if (!best) return {};
  std::vector<Proposal> stored{*best};
  if (search.rules.variant == Way::kFbo) return stored;
  for (std::size_t block = 1; block < blocks.size(); ++block)
    for (const Unit& unit : blocks[block]) {
      if (matched_nodes(stored.back().group) >= search.primary.size) return stored;
      Group group = stored.back().group;
      group.push_back(unit);
      if (!is_within_cap(search, group) || !search.can_start(group)) continue;
      const Proposal larger = with_gain(search, group);
      if (larger.gain > stored.back().gain + kGainTolerance) stored.push_back(larger);
    }
  return stored;
}

// Step 5.
void purify(const Search& search, Proposal& proposal) {
  const std::size_t fixed = search.forced ? 2 : 1;
  std::vector<Unit> order(proposal.group.begin() + static_cast<std::ptrdiff_t>(fixed), proposal.group.end());
  std::ranges::stable_sort(order, {}, [&](const Unit& unit) { return -slowdown_of_primary(search, unit); });
  for (const Unit& unit : order) {
    if (proposal.group.size() == 2) return;
    Group group = proposal.group;
    std::erase_if(group, [&](const Unit& one) { return one.jobs == unit.jobs; });
    if (!search.can_start(group)) continue;
    const Proposal fewer = with_gain(search, group);
    if (fewer.gain < proposal.gain - kGainTolerance) return;
    proposal = fewer;
  }
}

// By decreasing gain; of equal ones the first.
std::vector<Proposal> best_first(std::vector<Proposal> stored) {
  std::vector<Proposal> sorted;
  while (!stored.empty()) {
    auto best = stored.begin();
    for (auto one = stored.begin(); one != stored.end(); ++one)
      if (one->gain > best->gain + kGainTolerance) best = one;
    sorted.push_back(*best);
    stored.erase(best);
  }
  return sorted;
}

}  // namespace

long double longest_left(const Unit& unit, const Left& left) {
  long double most = 0;
  for (const std::size_t job : unit.jobs) most = std::max(most, left(job).left);
  return most;
}

std::vector<Proposal> proposals(const Search& search) {
  if (search.forced && !is_candidate(search, *search.forced)) return {};
  std::vector<Unit> candidates;
  for (const Unit& unit : search.pool)
    if (is_candidate(search, unit)) candidates.push_back(unit);

  std::vector<Proposal> stored;
  const Way variant = search.rules.variant;
  if (variant == Way::kCst || variant == Way::kCstws) {
    if (search.forced) candidates = {*search.forced};
    for (const Unit& unit : candidates)
      if (const Group pair{search.primary, unit}; is_within_cap(search, pair) && search.can_start(pair))
        stored.push_back(with_gain(search, pair));
  } else if (variant == Way::kNh) {
    for (const Group& group : windows(search, candidates)) stored.push_back(with_gain(search, group));
  } else {
    stored = best_and_larger(search, blocks_of(search, candidates));
  }
  for (Proposal& proposal : stored) purify(search, proposal);
  std::erase_if(stored, [&](const Proposal& one) { return one.gain < search.rules.least_gain - kGainTolerance; });
  return variant == Way::kNh || variant == Way::kCstws ? stored : best_first(stored);
}

}  // namespace replay::oracle::sharing
