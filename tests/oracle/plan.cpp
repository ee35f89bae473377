#include "tests/oracle/plan.hpp"

#include <algorithm>
#include <set>

namespace replay::oracle {

void Plan::lift(int cores, Time from, Time to) { used_.erase(std::ranges::find(used_, Use{cores, from, to})); }

int Plan::free_at(Time when) const {
  int free = cores_;
  for (const Use& use : used_)
    if (use.from <= when && when < use.to) free -= use.cores;
  return free;
}

// The number of free cores decreases only where a use begins.
bool Plan::fits(int cores, Time from, Time length) const {
  if (free_at(from) < cores) return false;
  return std::ranges::none_of(
      used_, [&](const Use& use) { return from < use.from && use.from < from + length && free_at(use.from) < cores; });
}

// It increases only where a use ends.
Time Plan::earliest(int cores, Time from, Time length) const {
  Time best = fits(cores, from, length) ? from : kNever;
  for (const Use& use : used_)
    if (from < use.to && use.to < best && fits(cores, use.to, length)) best = use.to;
  return best;
}

std::vector<Time> Plan::instants() const {
  std::set<Time> all;
  for (const Use& use : used_) all.insert({use.from, use.to});
  all.erase(kNever);
  return {all.begin(), all.end()};
}

}  // namespace replay::oracle
