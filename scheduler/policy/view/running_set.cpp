#include "scheduler/policy/view/running_set.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

bool end_order(const RunningJob* a, const RunningJob* b) {
  return std::tuple{a->estimated_end, a->start_order} < std::tuple{b->estimated_end, b->start_order};
}

}  // namespace

RunningJob& RunningSet::insert(RunningJob&& job) {
  RunningJob* const added = &jobs_.take();
  *added = std::move(job);
  INVARIANT(by_start_.empty() || by_start_.back()->start_order < added->start_order, "starts out of order");
  by_start_.push_back(added);
  by_end_.insert(std::ranges::upper_bound(by_end_.begin() + static_cast<std::ptrdiff_t>(by_end_first_), by_end_.end(),
                                          added, end_order),
                 added);
  if (added->estimated_end != added->started + added->estimate) ++disturbances_;
  return *added;
}

void RunningSet::unlink_end(const RunningJob& job) {
  const auto begin = by_end_.begin() + static_cast<std::ptrdiff_t>(by_end_first_);
  const bool is_first = begin != by_end_.end() && *begin == &job;  // the usual case
  const auto found = is_first ? begin : std::ranges::lower_bound(begin, by_end_.end(), &job, end_order);
  INVARIANT(found != by_end_.end() && *found == &job, "job {} is not in the order of ends",
            static_cast<std::int64_t>(job.job->id));
  if (found == begin) {  // no memory moves
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
  if (!job.is_gone_in_plan()) unlink_end(job);
  const auto found = std::ranges::lower_bound(by_start_, job.start_order, {}, &RunningJob::start_order);
  INVARIANT(found != by_start_.end() && *found == &job, "job {} is not running",
            static_cast<std::int64_t>(job.job->id));
  by_start_.erase(found);
  jobs_.give_back(job);
}

void RunningSet::set_estimated_end(RunningJob& job, Instant end) {
  if (job.is_gone_in_plan() || job.estimated_end == end) {
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
  job.state.planned = std::max(job.state.planned, Planned::kGone);
}

}  // namespace replay
