#include "scheduler/policy/view/waiting_queue.hpp"

#include <algorithm>

namespace replay {

void WaitingQueue::insert(const Job& job) {
  const Place place{job.submitted, job.id};
  ++size_;
  if (order_.empty() || order_.back() < place) {
    order_.push_back(place);
    slots_.push_back(&job);
    index_.add(job);
    return;
  }
  close_holes();
  const auto at = std::ranges::upper_bound(order_, place) - order_.begin();
  order_.insert(order_.begin() + at, place);
  slots_.insert(slots_.begin() + at, &job);
  close_holes();  // there are no holes, but the index is made anew
}

void WaitingQueue::remove(const Job& job) {
  const auto found = std::ranges::lower_bound(order_, Place{job.submitted, job.id});
  const auto at = static_cast<std::size_t>(found - order_.begin());
  if (at == slots_.size() || slots_[at] != &job) return;
  slots_[at] = nullptr;
  index_.remove(at);
  --size_;
  while (first_ < slots_.size() && slots_[first_] == nullptr) ++first_;
  // Half of the memory may be holes: closing them then costs O(1) per removal on average.
  if (slots_.size() > 2 * size_ + 16 || size_ == 0) close_holes();
}

void WaitingQueue::close_holes() {
  std::erase(slots_, nullptr);
  first_ = 0;
  order_.clear();
  index_.clear();
  for (const Job* job : slots_) {
    order_.push_back({job->submitted, job->id});
    index_.add(*job);
  }
}

WaitingQueue::iterator WaitingQueue::find(iterator from, const Wanted& wanted) const {
  const std::size_t found = index_.find(static_cast<std::size_t>(from.at_ - slots_.data()), wanted);
  return found == QueueIndex::kNone ? end() : iterator{slots_.data() + found, slots_.data() + slots_.size()};
}

}  // namespace replay
