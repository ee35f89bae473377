#include "scheduler/policy/view.hpp"

#include <algorithm>
#include <tuple>

#include "scheduler/model/error.hpp"

namespace replay {
namespace {

bool queue_order(const Job* a, const Job* b) {
  return std::tuple{a->submitted, a->id} < std::tuple{b->submitted, b->id};
}

bool end_order(const RunningJob* a, const RunningJob* b) {
  return std::tuple{a->estimated_end, a->start_order} < std::tuple{b->estimated_end, b->start_order};
}

}  // namespace

void WaitingQueue::insert(const Job& job) {
  ++size_;
  if (order_.empty() || queue_order(order_.back(), &job)) {
    order_.push_back(&job);
    slots_.push_back(&job);
    return;
  }
  close_holes();
  const auto at = std::ranges::upper_bound(order_, &job, queue_order) - order_.begin();
  order_.insert(order_.begin() + at, &job);
  slots_.insert(slots_.begin() + at, &job);
}

void WaitingQueue::remove(const Job& job) {
  const auto found = std::ranges::lower_bound(order_, &job, queue_order);
  if (found == order_.end() || *found != &job) return;
  const auto at = static_cast<std::size_t>(found - order_.begin());
  if (slots_[at] == nullptr) return;
  slots_[at] = nullptr;
  --size_;
  while (first_ < slots_.size() && slots_[first_] == nullptr) ++first_;
  // Half of the memory may be holes: closing them then costs O(1) per removal on average, and a job that has left is
  // not looked at for longer than that.
  if (slots_.size() > 2 * size_ + 16 || size_ == 0) close_holes();
}

void WaitingQueue::close_holes() {
  std::erase(slots_, nullptr);
  order_ = slots_;
  first_ = 0;
}

RunningJob& RunningSet::insert(RunningJob job) {
  if (spare_.empty()) {
    owned_.push_back(std::make_unique<RunningJob>(std::move(job)));
  } else {
    owned_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    *owned_.back() = std::move(job);
  }
  RunningJob* added = owned_.back().get();
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
  const auto at = found - by_start_.begin();
  by_start_.erase(found);
  spare_.push_back(std::move(owned_[static_cast<std::size_t>(at)]));
  owned_.erase(owned_.begin() + at);
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
