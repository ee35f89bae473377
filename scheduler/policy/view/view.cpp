#include "scheduler/policy/view/view.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

constexpr std::size_t kFanOut = 16;
constexpr std::size_t kShort = 64;  // a scan of so many slots is faster than the levels
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool end_order(const RunningJob* a, const RunningJob* b) {
  return std::tuple{a->estimated_end, a->start_order} < std::tuple{b->estimated_end, b->start_order};
}

}  // namespace

void WaitingQueue::insert(const Job& job) {
  const Place place{job.submitted, job.id};
  ++size_;
  if (order_.empty() || order_.back() < place) {
    order_.push_back(place);
    slots_.push_back(&job);
    needs_.push_back({job.estimate, job.processes});
    return;
  }
  close_holes();
  const auto at = std::ranges::upper_bound(order_, place) - order_.begin();
  order_.insert(order_.begin() + at, place);
  slots_.insert(slots_.begin() + at, &job);
  close_holes();  // there are no holes, but needs_ and the levels are rebuilt
}

void WaitingQueue::remove(const Job& job) {
  const auto found = std::ranges::lower_bound(order_, Place{job.submitted, job.id});
  const auto at = static_cast<std::size_t>(found - order_.begin());
  if (at == slots_.size() || slots_[at] != &job) return;
  slots_[at] = nullptr;
  needs_[at] = kNoJob;
  --size_;
  while (first_ < slots_.size() && slots_[first_] == nullptr) ++first_;
  // Half of the memory may be holes: closing them then costs O(1) per removal on average.
  if (slots_.size() > 2 * size_ + 16 || size_ == 0) close_holes();
}

void WaitingQueue::close_holes() {
  std::erase(slots_, nullptr);
  first_ = 0;
  order_.clear();
  needs_.clear();
  for (const Job* job : slots_) {
    order_.push_back({job->submitted, job->id});
    needs_.push_back({job->estimate, job->processes});
  }
  for (std::vector<Least>& level : levels_) level.clear();
  indexed_ = 0;
}

void WaitingQueue::index_all() const {
  for (; indexed_ < needs_.size(); ++indexed_) {
    const Need& need = needs_[indexed_];
    for (std::size_t level = 0, node = indexed_ / kFanOut;; ++level, node /= kFanOut) {
      if (level == levels_.size())
        levels_.push_back({levels_.back().front()});  // there will be a second stretch: a level above it
      std::vector<Least>& stretches = levels_[level];
      if (node == stretches.size()) stretches.emplace_back();
      stretches[node].add(need);
      if (level + 1 >= levels_.size() && stretches.size() == 1) break;
    }
  }
}

WaitingQueue::iterator WaitingQueue::find(iterator from, const Wanted& wanted) const {
  const auto begin = static_cast<std::size_t>(from.at_ - slots_.data());
  std::size_t found = kNone;
  if (needs_.size() - begin > kShort) {
    index_all();
    found = find_below(levels_.size() - 1, 0, begin, wanted);
  } else {
    found = find_among(begin, needs_.size(), wanted);
  }
  return found == kNone ? end() : iterator{slots_.data() + found, slots_.data() + slots_.size()};
}

std::size_t WaitingQueue::find_among(std::size_t from, std::size_t to, const Wanted& wanted) const {
  for (std::size_t slot = from; slot < to; ++slot)
    if (wanted.admits(needs_[slot].processes, needs_[slot].estimate)) return slot;
  return kNone;
}

// The first wanted slot at or after `from` in the stretch `node` of `level`.
std::size_t WaitingQueue::find_below(std::size_t level, std::size_t node, std::size_t from,
                                     const Wanted& wanted) const {
  if (!levels_[level][node].may_be(wanted)) return kNone;
  if (level == 0) return find_in(node, from, wanted);
  const std::vector<Least>& below = levels_[level - 1];
  const std::size_t end = std::min((node + 1) * kFanOut, below.size());
  std::size_t width = kFanOut;  // slots of a stretch below
  for (std::size_t i = 1; i < level; ++i) width *= kFanOut;
  for (std::size_t i = std::max(node * kFanOut, from / width); i < end; ++i)
    if (const std::size_t found = find_below(level - 1, i, from, wanted); found != kNone) return found;
  Least least;  // no match: the bounds may be too low since a removal
  for (std::size_t i = node * kFanOut; i < end; ++i) least.add(below[i]);
  levels_[level][node] = least;
  return kNone;
}

// The same in a stretch of slots.
std::size_t WaitingQueue::find_in(std::size_t node, std::size_t from, const Wanted& wanted) const {
  const std::size_t end = std::min((node + 1) * kFanOut, needs_.size());
  const std::size_t found = find_among(std::max(node * kFanOut, from), end, wanted);
  if (found != kNone) return found;
  Least least;
  for (std::size_t slot = node * kFanOut; slot < end; ++slot) least.add(needs_[slot]);
  levels_[0][node] = least;
  return kNone;
}

void WaitingQueue::Least::add(const Need& need) {
  processes_ = std::min(processes_, need.processes);
  // An entry for n processes covers all jobs of fewer: when one entry is as short already, so are all after it.
  for (std::size_t size = size_of(need.processes); size < kSizes && need.estimate < estimates_[size]; ++size)
    estimates_[size] = need.estimate;
}

void WaitingQueue::Least::add(const Least& other) {
  processes_ = std::min(processes_, other.processes_);
  for (std::size_t size = 0; size < kSizes; ++size)
    estimates_[size] = std::min(estimates_[size], other.estimates_[size]);
}

bool WaitingQueue::Least::may_be(const Wanted& wanted) const {
  if (processes_ > wanted.processes) return false;
  return processes_ <= wanted.narrow || estimates_[size_of(wanted.processes)] <= wanted.estimate;
}

// The first size class that may have jobs of so many processes.
std::size_t WaitingQueue::Least::size_of(ProcessCount processes) {
  if (processes <= 1) return 0;
  return std::min<std::size_t>(std::bit_width(static_cast<std::uint32_t>(processes) - 1), kSizes - 1);
}

RunningJob& RunningSet::insert(RunningJob&& job) {
  RunningJob* const added = &jobs_.take(std::move(job));
  INVARIANT(by_start_.empty() || by_start_.back()->start_order < added->start_order, "starts out of order");
  by_start_.push_back(added);
  by_end_.insert(std::ranges::upper_bound(by_end_.begin() + static_cast<std::ptrdiff_t>(by_end_first_), by_end_.end(),
                                          added, end_order),
                 added);
  return *added;
}

void RunningSet::unlink_end(const RunningJob& job) {
  const auto begin = by_end_.begin() + static_cast<std::ptrdiff_t>(by_end_first_);
  const auto found = std::ranges::lower_bound(begin, by_end_.end(), &job, end_order);
  INVARIANT(found != by_end_.end() && *found == &job, "job {} is not in the order of ends",
            static_cast<std::int64_t>(job.job->id));
  if (found == begin) {  // the usual case: no memory moves
    ++by_end_first_;
    if (by_end_first_ > 64 && by_end_first_ > by_end_.size() / 2) {
      by_end_.erase(by_end_.begin(), by_end_.begin() + static_cast<std::ptrdiff_t>(by_end_first_));
      by_end_first_ = 0;
    }
  } else {
    by_end_.erase(found);
  }
}

void RunningSet::erase(RunningJob& job) {
  if (!job.gone_in_plan) unlink_end(job);
  const auto found = std::ranges::lower_bound(by_start_, job.start_order, {}, &RunningJob::start_order);
  INVARIANT(found != by_start_.end() && *found == &job, "job {} is not running",
            static_cast<std::int64_t>(job.job->id));
  by_start_.erase(found);
  jobs_.give_back(job);
}

void RunningSet::set_estimated_end(RunningJob& job, Instant end) {
  if (job.gone_in_plan || job.estimated_end == end) {
    job.estimated_end = end;
    return;
  }
  ++disturbances_;
  unlink_end(job);
  job.estimated_end = end;
  by_end_.insert(std::ranges::upper_bound(by_end_.begin() + static_cast<std::ptrdiff_t>(by_end_first_), by_end_.end(),
                                          &job, end_order),
                 &job);
}

void RunningSet::mark_gone_in_plan(RunningJob& job) {
  unlink_end(job);
  job.gone_in_plan = true;
}

}  // namespace replay
