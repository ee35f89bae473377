#include "scheduler/policy/view/waiting_queue.hpp"

#include <algorithm>

namespace replay {

void WaitingQueue::insert(const Job& job) {
  const Place place{job.submitted, job.id};
  ++size_;
  if (order_.empty() || order_.back() < place) {
    order_.push_back(place);
    slots_.push_back(&job);
    return;
  }
  close_holes();
  const auto at = std::ranges::upper_bound(order_, place) - order_.begin();
  order_.insert(order_.begin() + at, place);
  slots_.insert(slots_.begin() + at, &job);
  index_.clear();
}

void WaitingQueue::remove(const Job& job) {
  const std::size_t at = slot_of(job);
  if (at == slots_.size() || slots_[at] != &job) return;
  slots_[at] = nullptr;
  if (at < index_.size()) index_.remove(at);
  --size_;
  while (first_ < slots_.size() && slots_[first_] == nullptr) ++first_;
  // Half of the memory may be holes: closing them then costs O(1) per removal on average.
  if (slots_.size() > 2 * size_ + 16 || size_ == 0) close_holes();
}

std::size_t WaitingQueue::slot_of(const Job& job) const {
  if (first_ < slots_.size() && slots_[first_] == &job) return first_;
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(first_);
  return static_cast<std::size_t>(std::lower_bound(first, order_.end(), Place{job.submitted, job.id}) - order_.begin());
}

void WaitingQueue::close_holes() {
  std::size_t kept = 0;
  for (std::size_t at = first_; at < slots_.size(); ++at) {
    if (slots_[at] == nullptr) continue;
    slots_[kept] = slots_[at];
    order_[kept++] = order_[at];
  }
  slots_.resize(kept);
  order_.resize(kept);
  index_.close_holes();
  first_ = 0;
}

WaitingQueue::iterator WaitingQueue::find(iterator from, const Wanted& wanted) const {
  while (index_.size() < slots_.size()) {
    const Job* const job = slots_[index_.size()];
    job != nullptr ? index_.add(*job) : index_.add_hole();
  }
  const std::size_t found = index_.find(static_cast<std::size_t>(from.at_ - slots_.data()), wanted);
  return found == QueueIndex::kNone ? end() : iterator{slots_.data() + found, slots_.data() + slots_.size()};
}

}  // namespace replay
