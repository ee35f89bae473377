#include "scheduler/policy/moldable/easy_future.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "scheduler/base/error.hpp"

namespace replay {

void EasyFuture::begin(const ClusterView& view) {
  now_ = view.now;
  free_ = view.free.capacity(now_);  // view.free may have fewer: a wrapper's view while time stands
  waiting_.clear();
  for (const RunningJob* job : view.running.by_estimated_end())
    if (!job->is_suspended()) free_ -= view.free.cores_on_open(job->allocation);
  ends_ = releases(view);
}

void EasyFuture::add(const ClassedJob& job, Shape shape) {
  std::erase_if(waiting_, &Waiting::is_submitted_now);
  waiting_.push_back({.job = job, .shape = shape});
}

void EasyFuture::submit(const ClassedJob& job) {
  std::erase_if(waiting_, &Waiting::is_submitted_now);
  waiting_.push_back({.job = job, .shape = {}, .is_submitted_now = true});
  first_promotion_ = order_by_class(waiting_, now_);
}

Instant EasyFuture::start_with(Shape shape, Instant before) {
  free_then_ = free_;
  ends_then_.assign(ends_.begin(), ends_.end());
  first_end_ = 0;
  queue_.assign(waiting_.begin(), waiting_.end());
  std::ranges::find_if(queue_, &Waiting::is_submitted_now)->shape = shape;
  Instant promotion = first_promotion_;
  for (Instant now = now_; now < before;) {
    if (pass(now)) return now;
    INVARIANT(first_end_ < ends_then_.size(), "a job of {} processes never starts on {} free cores", shape.processes,
              free_then_);
    now = std::min(promotion, ends_then_[first_end_].at);
    for (; first_end_ < ends_then_.size() && ends_then_[first_end_].at == now; ++first_end_)
      free_then_ += ends_then_[first_end_].cores;
    if (promotion == now) promotion = order_by_class(queue_, now);
  }
  return kNever;
}

// Jobs of a class stay in the order of arrival. Returns the next promotion.
Instant EasyFuture::order_by_class(std::vector<Waiting>& queue, Instant now) const {
  Instant next = kNever;
  for (Waiting& waiting : queue) {
    waiting.now = class_at(waiting.job, aging_, now);
    if (waiting.job.promotion > now) next = std::min(next, waiting.job.promotion);
  }
  std::ranges::sort(queue, {}, [](const Waiting& waiting) {
    return std::tuple{waiting.now, waiting.job.submitted, waiting.job.id};
  });
  return next;
}

// A pass of EASY. Whether the job that is asked about starts: then the state is not of use any more.
bool EasyFuture::pass(Instant now) {
  bool is_found = false;
  CoreCount taken = 0;
  started_.clear();
  easy_pass(
      now, free_then_, queue_, [](const Waiting& waiting) { return waiting.shape; },
      [&](CoreCount free, CoreCount head) {
        return head_shadow(now, free, head, std::span{ends_then_}.subspan(first_end_), started_);
      },
      [&](Waiting& waiting, Shape shape) {
        started_.push_back({now + shape.time, shape.cores});
        taken += shape.cores;
        waiting.started = true;
        is_found = is_found || waiting.is_submitted_now;
      });
  if (is_found || started_.empty()) return is_found;
  free_then_ -= taken;
  std::erase_if(queue_, &Waiting::started);
  for (const Release& end : started_)
    ends_then_.insert(std::ranges::upper_bound(ends_then_.begin() + static_cast<std::ptrdiff_t>(first_end_),
                                               ends_then_.end(), end.at, {}, &Release::at),
                      end);
  return false;
}

}  // namespace replay
