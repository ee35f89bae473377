#include "scheduler/policy/plan/ordered_queue.hpp"

#include <algorithm>
#include <utility>

#include "scheduler/base/powers_of_two.hpp"

namespace replay {
namespace {

OrderedQueue::Entry entry_of(const Job& job) { return {&job, job.estimate, cores_needed(job), job.submitted, job.id}; }

template <class Entries>
auto iterator_at(Entries& entries, std::size_t index) {
  return entries.begin() + static_cast<std::ptrdiff_t>(index);
}

}  // namespace

void OrderedQueue::follow(const ClusterView& view) {
  for (const Trigger& trigger : view.triggers) {
    if (trigger.kind == TriggerKind::kSubmit) insert(*trigger.job);
    if (trigger.kind == TriggerKind::kFinish) remove(*trigger.job);
  }
  if (size_ == view.waiting.size()) return;
  clear();
  for (const Job* job : view.waiting) insert(*job);
}

OrderedQueue::Place OrderedQueue::after(Place place) const {
  ++place.entry;
  return place.entry < blocks_[place.block]->entries.size() ? place : Place{place.block + 1, 0};
}

OrderedQueue::Place OrderedQueue::find(Place from, const Shapes& shapes) const {
  for (; from.block < blocks_.size(); from = {from.block + 1, 0}) {
    const Block& block = *blocks_[from.block];
    if (!block.may_match(shapes)) continue;
    for (; from.entry < block.entries.size(); ++from.entry) {
      const Entry& entry = block.entries[from.entry];
      if (shapes.admits(entry.cores, entry.estimate)) return from;
    }
  }
  return end();
}

void OrderedQueue::insert(const Job& job) {
  const Entry entry = entry_of(job);
  if (blocks_.empty()) blocks_.push_back(std::make_unique<Block>());
  Place place = lower_bound(entry);
  if (place.block < blocks_.size() && !blocks_[place.block]->entries.empty() && at(place).id == job.id) return;
  if (place.block == blocks_.size()) place = {blocks_.size() - 1, blocks_.back()->entries.size()};
  if (blocks_[place.block]->entries.size() == kBlock) {
    split(place.block);
    place = lower_bound(entry);
    if (place.block == blocks_.size()) place = {blocks_.size() - 1, blocks_.back()->entries.size()};
  }
  Block& block = *blocks_[place.block];
  block.entries.insert(iterator_at(block.entries, place.entry), entry);
  block.measure();
  ++size_;
}

void OrderedQueue::remove(const Job& job) {
  const Place place = lower_bound(entry_of(job));
  if (place == end() || at(place).id != job.id) return;
  Block& block = *blocks_[place.block];
  block.entries.erase(iterator_at(block.entries, place.entry));
  --size_;
  if (block.entries.empty())
    blocks_.erase(iterator_at(blocks_, place.block));
  else
    block.measure();
}

// The first place that is not before `entry`; end() if there is none.
OrderedQueue::Place OrderedQueue::lower_bound(const Entry& entry) const {
  const auto before = [this](const Entry& a, const Entry& b) { return comes_before(order_, a, b); };
  const auto block = std::ranges::partition_point(blocks_, [&](const std::unique_ptr<Block>& one) {
    return !one->entries.empty() && comes_before(order_, one->entries.back(), entry);
  });
  if (block == blocks_.end()) return end();
  const std::vector<Entry>& entries = (*block)->entries;
  const auto found = std::ranges::lower_bound(entries, entry, before);
  return {static_cast<std::size_t>(block - blocks_.begin()), static_cast<std::size_t>(found - entries.begin())};
}

// Moves the upper half of a block into a new block after it.
void OrderedQueue::split(std::size_t block) {
  auto upper = std::make_unique<Block>();
  std::vector<Entry>& entries = blocks_[block]->entries;
  upper->entries.reserve(kBlock);
  const auto half = iterator_at(entries, entries.size() / 2);
  upper->entries.assign(half, entries.end());
  entries.erase(half, entries.end());
  upper->measure();
  blocks_[block]->measure();
  blocks_.insert(iterator_at(blocks_, block + 1), std::move(upper));
}

void OrderedQueue::clear() {
  blocks_.clear();
  size_ = 0;
}

void OrderedQueue::Block::measure() {
  shortest.fill(Duration::max());
  for (const Entry& entry : entries) {
    Duration& least = shortest[std::min(log2_above(entry.cores), kSizes - 1)];
    least = std::min(least, entry.estimate);
  }
  for (std::size_t size = 1; size < kSizes; ++size) shortest[size] = std::min(shortest[size], shortest[size - 1]);
}

bool OrderedQueue::Block::may_match(const Shapes& shapes) const {
  return std::ranges::any_of(shapes.steps(), [this](const Shapes::Step& step) {
    return shortest[std::min(log2_above(step.cores), kSizes - 1)] <= step.estimate;
  });
}

}  // namespace replay
