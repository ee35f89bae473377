#include "scheduler/policy/view/queue_index.hpp"

#include <algorithm>

namespace replay {
namespace {

constexpr std::size_t kFanOut = 16;
constexpr std::size_t kShort = 64;  // a scan of so many positions is faster than the levels

}  // namespace

void QueueIndex::clear() {
  needs_.clear();
  for (std::vector<Least>& level : levels_) level.clear();
  indexed_ = 0;
}

void QueueIndex::close_holes() {
  std::erase_if(needs_, [](const Need& need) { return need.cores == kNoJobs; });
  for (std::vector<Least>& level : levels_) level.clear();
  indexed_ = 0;
}

void QueueIndex::remove(std::size_t at) {
  needs_[at] = kNoJob;
  if (at >= indexed_) return;
  for (std::vector<Least>& level : levels_) level[at /= kFanOut].note_removal();
}

// Enters the stretches of kFanOut positions that have filled up since the last time.
void QueueIndex::index_whole_stretches() const {
  for (; needs_.size() - indexed_ >= kFanOut; indexed_ += kFanOut) {
    Least least;
    for (std::size_t slot = indexed_; slot < indexed_ + kFanOut; ++slot) least.add(needs_[slot]);
    for (std::size_t level = 0, node = indexed_ / kFanOut;; ++level, node /= kFanOut) {
      if (level == levels_.size())
        levels_.push_back({levels_.back().front()});  // there will be a second stretch: a level above it
      std::vector<Least>& stretches = levels_[level];
      if (node == stretches.size()) stretches.emplace_back();
      stretches[node].add(least);
      if (level + 1 >= levels_.size() && stretches.size() == 1) break;
    }
  }
}

std::size_t QueueIndex::find(std::size_t from, const Wanted& wanted) const {
  if (needs_.size() - from <= kShort) return find_among(from, needs_.size(), wanted);
  // Where many jobs are wanted, the next one is near.
  if (const std::size_t near = find_among(from, from + kFanOut, wanted); near != kNone) return near;
  from += kFanOut;
  index_whole_stretches();
  const Search search{wanted, Least::size_of(wanted.cores)};
  const std::size_t found = from < indexed_ ? find_below(levels_.size() - 1, 0, from, search) : kNone;
  return found != kNone ? found : find_among(std::max(from, indexed_), needs_.size(), wanted);
}

std::size_t QueueIndex::find_among(std::size_t from, std::size_t to, const Wanted& wanted) const {
  for (std::size_t slot = from; slot < to; ++slot)
    if (wanted.admits(needs_[slot].cores, needs_[slot].estimate)) return slot;
  return kNone;
}

// The first wanted position at or after `from` in the stretch `node` of `level`.
std::size_t QueueIndex::find_below(std::size_t level, std::size_t node, std::size_t from, const Search& search) const {
  Least& stretch = levels_[level][node];
  if (!stretch.may_be(search)) return kNone;
  if (level == 0) return find_in(node, from, search);
  const std::vector<Least>& below = levels_[level - 1];
  const std::size_t end = std::min((node + 1) * kFanOut, below.size());
  std::size_t width = kFanOut;  // positions of a stretch below
  for (std::size_t i = 1; i < level; ++i) width *= kFanOut;
  for (std::size_t i = std::max(node * kFanOut, from / width); i < end; ++i)
    if (const std::size_t found = find_below(level - 1, i, from, search); found != kNone) return found;
  if (!stretch.is_loose()) return kNone;
  stretch = Least{};
  for (std::size_t i = node * kFanOut; i < end; ++i) stretch.add(below[i]);
  return kNone;
}

// The same in a stretch of positions.
std::size_t QueueIndex::find_in(std::size_t node, std::size_t from, const Search& search) const {
  const std::size_t end = (node + 1) * kFanOut;
  const std::size_t found = find_among(std::max(node * kFanOut, from), end, search.wanted);
  Least& stretch = levels_[0][node];
  if (found != kNone || !stretch.is_loose()) return found;
  stretch = Least{};
  for (std::size_t slot = node * kFanOut; slot < end; ++slot) stretch.add(needs_[slot]);
  return kNone;
}

void QueueIndex::Least::add(const Need& need) {
  if (need.cores == kNoJobs) return;
  cores_ = std::min(cores_, need.cores);
  // An entry for n cores covers all jobs of fewer: when one entry is as short already, so are all after it.
  for (std::size_t size = size_of(need.cores); size < kSizes && need.estimate < estimates_[size]; ++size)
    estimates_[size] = need.estimate;
}

void QueueIndex::Least::add(const Least& other) {
  cores_ = std::min(cores_, other.cores_);
  is_loose_ = is_loose_ || other.is_loose_;
  for (std::size_t size = 0; size < kSizes; ++size)
    estimates_[size] = std::min(estimates_[size], other.estimates_[size]);
}

}  // namespace replay
