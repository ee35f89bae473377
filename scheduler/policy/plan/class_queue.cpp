#include "scheduler/policy/plan/class_queue.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace replay {
namespace {

constexpr int kPatience = 5;  // times T(N_opt)

}  // namespace

Aging aging_of(const Parameters& parameters) {
  return parameters.choice<Aging>("aging", {{"top", Aging::kTop}, {"one", Aging::kOne}, {"off", Aging::kOff}});
}

ClassedJob classed(const Job& job, CoreCount machine, Aging aging) {
  ClassedJob entry{.job = &job,
                   .id = job.id,
                   .submitted = job.submitted,
                   .optimum = optimum_size(job, machine),
                   .at_optimum = {},
                   .own = {},
                   .promotion = kNever};
  entry.at_optimum = estimate_at(job, entry.optimum);
  entry.own = class_of(entry.at_optimum);
  const bool is_promoted = aging != Aging::kOff && entry.own != JobClass::kShort;
  if (is_promoted && entry.at_optimum < (kEndOfPlans - job.submitted) / kPatience)
    entry.promotion = job.submitted + kPatience * entry.at_optimum;
  return entry;
}

JobClass class_at(const ClassedJob& job, Aging aging, Instant now) {
  if (now < job.promotion) return job.own;
  return aging == Aging::kOne && job.own == JobClass::kLong ? JobClass::kMedium : JobClass::kShort;
}

const Job& head_by_class(const ClusterView& view, Aging aging) {
  ClassQueue queue{aging};
  queue.follow(view);
  return *queue.in_order().front()->job;
}

void ClassQueue::follow(const ClusterView& view) {
  jobs_.swap(before_);
  if (machine_ != view.capacity()) before_.clear();
  machine_ = view.capacity();
  jobs_.clear();
  next_promotion_ = kNever;
  std::array<std::size_t, kJobClasses + 1> first{};  // place in order_ of the first job of each class
  // Both lists are in the order of arrival; the jobs of before_ may be over, so only their numbers are looked at.
  auto known = before_.begin();
  for (const Job* job : view.waiting) {
    const std::tuple place{job->submitted, job->id};
    while (known != before_.end() && std::tuple{known->submitted, known->id} < place) ++known;
    const bool is_known = known != before_.end() && known->id == job->id && known->job == job;
    const ClassedJob& entry = jobs_.emplace_back(is_known ? *known : classed(*job, machine_, aging_));
    if (entry.promotion > view.now) next_promotion_ = std::min(next_promotion_, entry.promotion);
    ++first[static_cast<std::size_t>(class_at(entry, aging_, view.now)) + 1];
  }
  first[2] += first[1];
  order_.resize(jobs_.size());
  for (const ClassedJob& entry : jobs_)
    order_[first[static_cast<std::size_t>(class_at(entry, aging_, view.now))]++] = &entry;
}

}  // namespace replay
