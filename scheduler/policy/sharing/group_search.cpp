#include "scheduler/policy/sharing/group_search.hpp"

#include <algorithm>

namespace replay::sharing {

Candidate candidate_of(KnownJob& waiting) {
  return {.jobs = {&waiting.self, 1},
          .per_node = waiting.per_node_in_group,
          .nodes = waiting.nodes_in_group,
          .remaining = static_cast<double>(waiting.job->estimate.count()),
          .arrival = waiting.arrival()};
}

Candidate candidate_of(Unit& running, Instant now) {
  double longest = 0;
  for (const KnownJob* job : running.jobs) longest = std::max(longest, job->work.left_at(now));
  return {.running = &running,
          .jobs = running.jobs,
          .per_node = running.per_node,
          .nodes = running.nodes(),
          .remaining = longest,
          .arrival = running.arrival(),
          .delay = running.delay()};
}

std::span<const Group> GroupSearch::find(Way way, const Candidate& primary, std::span<const Candidate> pool,
                                         const Candidate* forced, int free, Instant now) {
  way_ = way, primary_ = primary, free_ = free, now_ = now;
  forced_.reset();
  found_.clear();
  if (forced != nullptr) {
    forced_ = *forced;
    if (!fits(forced_->nodes) || !suits(primary_, *forced_)) return {};
  }
  if (way == Way::kWaitingWithWaiting && primary.nodes > free) return {};
  select(primary, pool);
  sort_blocks();
  const bool has_blocks = settings_.variant != Variant::kFirstGroup && !settings_.only_pairs();
  const std::size_t first_end = has_blocks ? std::min(kept_.size(), settings_.block) : kept_.size();
  slide(first_end);
  if (has_blocks && settings_.variant != Variant::kFirstBlockOnly) extend(first_end);
  for (Group& group : found_) purify(group);
  std::erase_if(found_, [this](const Group& group) { return group.gain < settings_.min_gain - kTolerance; });
  return found_;
}

// Step 1.
bool GroupSearch::suits(const Candidate& primary, Candidate& candidate) {
  if (candidate.remaining > primary.remaining + static_cast<double>(settings_.matched_longer.count())) return false;
  const double most = settings_.max_slowdown + kTolerance;
  candidate.slows_primary = 1;
  for (KnownJob* const job : primary.jobs)
    for (KnownJob* const other : candidate.jobs) {
      const double slows = slowdowns_.slowdown(*job, primary.per_node, *other);
      if (slows > most || slowdowns_.slowdown(*other, candidate.per_node, *job) > most) return false;
      candidate.slows_primary = std::max(candidate.slows_primary, slows);
    }
  return true;
}

void GroupSearch::select(const Candidate& primary, std::span<const Candidate> pool) {
  kept_.clear();
  const int left_for_others = forced_ ? forced_->nodes : 0;
  for (const Candidate& candidate : pool) {
    kept_.push_back(candidate);
    if (!fits(left_for_others + candidate.nodes) && settings_.only_pairs())
      kept_.pop_back();
    else if (!suits(primary, kept_.back()))
      kept_.pop_back();
  }
}

// Step 2. Waiting jobs come by arrival.
void GroupSearch::sort_blocks() {
  if (way_ == Way::kWaitingWithRunning)
    std::ranges::sort(kept_, {}, [](const Candidate& one) { return std::tuple{one.delay, one.arrival}; });
  if (settings_.only_pairs() || settings_.variant == Variant::kUnsorted || settings_.variant == Variant::kFirstGroup)
    return;
  const auto block = static_cast<std::ptrdiff_t>(settings_.block);
  for (auto begin = kept_.begin(); begin != kept_.end();) {
    const auto end = kept_.end() - begin > block ? begin + block : kept_.end();
    std::sort(begin, end, [](const Candidate& a, const Candidate& b) {
      return a.remaining != b.remaining ? a.remaining > b.remaining : a.arrival < b.arrival;
    });
    begin = end;
  }
}

// Step 3. The best set of a window; where the first one that passes is taken, or pairs are, all of them.
void GroupSearch::slide(std::size_t first_end) {
  const std::size_t smallest = forced_ ? 1 : 0;
  for (std::size_t first = 0; first < first_end && !(settings_.only_pairs() && forced_); ++first) {
    set_.clear();
    if (forced_) set_.push_back(*forced_);
    int nodes = nodes_of(set_);
    for (std::size_t i = first; i < first_end && fits(nodes + kept_[i].nodes); ++i) {
      set_.push_back(kept_[i]);
      nodes += kept_[i].nodes;
      if (settings_.only_pairs()) break;
    }
    if (set_.size() > smallest) consider(set_);
  }
  if (forced_) {
    set_.assign(1, *forced_);
    consider(set_);
  }
}

void GroupSearch::consider(const Set& set) {
  if (!can_start(nodes_of(set))) return;
  const double gain = gain_of(set);
  const bool keeps_all = settings_.only_pairs() || settings_.variant == Variant::kFirstGroup;
  if (!keeps_all && !found_.empty()) {
    if (gain > found_.front().gain + kTolerance) found_.front() = {way_, primary_, set, gain};
    return;
  }
  found_.push_back({way_, primary_, set, gain});
}

// Step 4.
void GroupSearch::extend(std::size_t from) {
  if (found_.empty()) return;
  Set best = found_.front().matched;
  double best_gain = found_.front().gain;
  int nodes = nodes_of(best);
  for (std::size_t i = from; i < kept_.size() && nodes < primary_.nodes; ++i) {
    if (!fits(nodes + kept_[i].nodes) || !can_start(nodes + kept_[i].nodes)) continue;
    best.push_back(kept_[i]);
    const double gain = gain_of(best);
    if (gain > best_gain + kTolerance) {
      best_gain = gain;
      nodes += kept_[i].nodes;
      found_.push_back({way_, primary_, best, gain});
    } else {
      best.pop_back();
    }
  }
}

// Step 5. A job that has to be in the group is never dropped, nor is the last one.
void GroupSearch::purify(Group& group) {
  std::vector<JobId> by_slowdown;
  set_ = group.matched;
  std::ranges::stable_sort(set_, std::greater{}, &Candidate::slows_primary);
  for (const Candidate& candidate : set_) by_slowdown.push_back(candidate.jobs.front()->id());
  for (const JobId id : by_slowdown) {
    if (group.matched.size() == 1) return;
    if (forced_ && id == forced_->jobs.front()->id()) continue;
    set_ = group.matched;
    std::erase_if(set_, [id](const Candidate& one) { return one.jobs.front()->id() == id; });
    if (!can_start(nodes_of(set_))) continue;
    const double gain = gain_of(set_);
    if (gain < group.gain - kTolerance) return;
    group.matched = set_;
    group.gain = gain;
  }
}

bool GroupSearch::fits(int nodes) const {
  return nodes <= primary_.nodes * (1 + settings_.matched_larger) + kTolerance;
}

bool GroupSearch::can_start(int nodes) const {
  switch (way_) {
    case Way::kWaitingWithWaiting: return std::max(primary_.nodes, nodes) <= free_;
    case Way::kWaitingWithRunning: return primary_.nodes - nodes <= free_;
    case Way::kRunningWithWaiting: return nodes - primary_.nodes <= free_;
  }
  return false;
}

double GroupSearch::gain_of(const Set& set) {
  party_.clear(now_);
  party_.add(primary_.jobs, primary_.per_node, primary_.nodes, 0);
  for (const Candidate& candidate : set)
    party_.add(candidate.jobs, candidate.per_node, candidate.nodes, candidate.nodes);
  return party_.gain();
}

int GroupSearch::nodes_of(const Set& set) {
  int nodes = 0;
  for (const Candidate& candidate : set) nodes += candidate.nodes;
  return nodes;
}

}  // namespace replay::sharing
