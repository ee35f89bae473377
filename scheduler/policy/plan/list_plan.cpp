#include "scheduler/policy/plan/list_plan.hpp"

#include <algorithm>
#include <cmath>

namespace replay {
namespace {

void reserve(Availability& profile, const ListPlan::Planned& planned) {
  profile.reserve(planned.start, planned.start + planned.length, planned.cores);
}

}  // namespace

void ListPlan::follow(const ClusterView& view, bool has_freed) {
  pass_time(view.now);
  if (has_freed) {
    has_freed_ = true;
    forget_running();
  }
  for (const Trigger& trigger : view.triggers) {
    if (trigger.kind == TriggerKind::kSubmit) insert(*trigger.job, view.now);
    if (trigger.kind == TriggerKind::kFinish) cancel(*trigger.job);
  }
  if (jobs_.size() == view.waiting.size()) return;
  forget_running();
  jobs_.clear();
  for (const Job* job : view.waiting) jobs_.push_back(unplanned(*job));
  sort_by(order_, jobs_, &Planned::job);
}

// A job whose planned start has passed has to be planned again, and those behind it.
void ListPlan::pass_time(Instant now) {
  if (earliest_ >= now) return;
  const auto made_end = iterator_at(made_);
  const auto passed = std::find_if(jobs_.begin(), made_end, [now](const Planned& one) { return one.start < now; });
  forget_from(static_cast<std::size_t>(passed - jobs_.begin()));
  earliest_ = kNever;
  for (std::size_t i = 0; i < made_; ++i) earliest_ = std::min(earliest_, jobs_[i].start);
}

// The first job that does not come before `job`.
std::vector<ListPlan::Planned>::iterator ListPlan::find(const Job& job) {
  return std::ranges::partition_point(jobs_,
                                      [&](const Planned& planned) { return comes_before(order_, *planned.job, job); });
}

void ListPlan::insert(const Job& job, Instant now) {
  const auto found = find(job);
  if (found != jobs_.end() && found->job->id == job.id) return;
  const auto at = static_cast<std::size_t>(found - jobs_.begin());
  jobs_.insert(found, unplanned(job));
  Instant start = now;
  if (at < made_) start = place_among_made(at, now);
  if (at_least_) *at_least_ += cost_of(jobs_[at], start);  // the others do not cost less with it
}

// Plans the job at this place, which has come in between jobs that are planned.
Instant ListPlan::place_among_made(std::size_t at, Instant now) {
  std::size_t mark = marks_used_ - 1;
  while (marks_[mark].jobs > at) --mark;
  marks_[mark].profile.forget_before(now);
  scratch_.profile.assign(marks_[mark].profile);
  for (std::size_t i = marks_[mark].jobs; i < at; ++i) reserve(scratch_.profile, jobs_[i]);

  Planned& planned = jobs_[at];
  const auto placed = scratch_.profile.place_and_measure(planned.cores, planned.length, now);
  planned.start = placed.start;
  planned.left = placed.left;
  ++made_;
  cost_ += cost_of(planned, placed.start);
  earliest_ = std::min(earliest_, placed.start);
  for (std::size_t i = 0; i < marks_used_; ++i)
    if (marks_[i].jobs > at) ++marks_[i].jobs;
  if (tip_is_valid_ && tip_.jobs > at) ++tip_.jobs;
  make_room(at + 1, placed.start, placed.start + planned.length, planned.cores);
  return placed.start;
}

// Its place in the plan becomes free unless it begins now.
void ListPlan::note_start(const Job& job, Instant now) {
  pass_time(now);
  const auto found = find(job);
  if (found == jobs_.end() || found->job->id != job.id) return;
  const auto at = static_cast<std::size_t>(found - jobs_.begin());
  const Planned started = *found;
  const bool is_as_planned = started.start == now;
  if (!is_as_planned) forget_from(at);
  if (at_least_) *at_least_ -= cost_of(started, now);  // plans in which it starts now are among all plans
  jobs_.erase(found);
  if (at >= made_) {
    const Instant freed = is_as_planned ? started.freed : std::min(started.freed, started.start);
    if (at < jobs_.size()) jobs_[at].freed = std::min(jobs_[at].freed, freed);
    make_room(0, now, now + started.length, started.cores);
    return;
  }
  // Those before it fit beside it, and those behind it have been planned with it.
  --made_;
  cost_ -= cost_of(started, now);
  for (std::size_t i = 0; i < at; ++i)
    if (jobs_[i].overlaps(now, now + started.length)) jobs_[i].left -= started.cores;
  const auto update = [&](Mark& mark) {
    if (mark.jobs > at)
      --mark.jobs;
    else
      reserve(mark.profile, started);
  };
  for (std::size_t i = 0; i < marks_used_; ++i) update(marks_[i]);
  if (tip_is_valid_) update(tip_);
}

// A job that waited has gone.
void ListPlan::cancel(const Job& job) {
  const auto found = find(job);
  if (found == jobs_.end() || found->job->id != job.id) return;
  const auto at = static_cast<std::size_t>(found - jobs_.begin());
  forget_from(at);
  at_least_.reset();
  const Instant freed = std::min(found->freed, found->start);
  const auto next = jobs_.erase(found);
  if (next != jobs_.end()) next->freed = std::min(next->freed, freed);
}

// The jobs from this one on have to be planned again.
void ListPlan::forget_from(std::size_t first) {
  if (first >= made_) return;
  for (std::size_t i = first; i < made_; ++i) cost_ -= cost_of(jobs_[i], jobs_[i].start);
  made_ = first;
  at_least_.reset();
  while (marks_used_ > 0 && marks_[marks_used_ - 1].jobs > first) --marks_used_;
  tip_is_valid_ = tip_is_valid_ && tip_.jobs <= first;
}

void ListPlan::forget_running() {
  forget_from(0);
  at_least_.reset();
  marks_used_ = 0;
  tip_is_valid_ = false;
}

// Cores are taken from the jobs from `first` on, and from all profiles that have those before it.
void ListPlan::make_room(std::size_t first, Instant from, Instant to, CoreCount cores) {
  for (std::size_t i = first; i < made_; ++i) {
    if (!jobs_[i].overlaps(from, to)) continue;
    if (jobs_[i].left < cores) {
      forget_from(i);
      break;
    }
    jobs_[i].left -= cores;
  }
  for (std::size_t i = 0; i < marks_used_; ++i)
    if (marks_[i].jobs >= first) marks_[i].profile.reserve(from, to, cores);
  if (tip_is_valid_ && tip_.jobs >= first) tip_.profile.reserve(from, to, cores);
}

std::span<const ListPlan::Planned> ListPlan::make(const Availability& running, Instant now) {
  pass_time(now);
  make_first(jobs_.size(), running, now);
  return jobs_;
}

// Plans this many jobs at least.
void ListPlan::make_first(std::size_t count, const Availability& running, Instant now) {
  constexpr Duration kTick{1};
  constexpr std::size_t kLeastStride = 32, kMarks = 8;
  if (made_ >= count) return;
  const std::size_t stride = std::max(kLeastStride, jobs_.size() / kMarks);
  reach_tip(running, now);
  Instant freed = has_freed_ ? now : kNever;
  for (; made_ < count; ++made_, ++tip_.jobs) {
    if (made_ >= marks_[marks_used_ - 1].jobs + stride) add_mark(made_, tip_.profile);
    Planned& planned = jobs_[made_];
    freed = std::min(freed, planned.freed);
    // A hole before the last planned start would have to reach into the time that has become free.
    const Instant last = planned.start;
    const Instant from = last == kNever ? now : std::max(now, std::min(last, freed - planned.length + kTick));
    const auto placed = tip_.profile.place_and_measure(planned.cores, planned.length, from);
    planned.start = placed.start;
    planned.left = placed.left;
    planned.freed = kNever;
    if (last != kNever && last != planned.start) freed = std::min(freed, last);
    cost_ += cost_of(planned, planned.start);
    earliest_ = std::min(earliest_, planned.start);
  }
  if (made_ < jobs_.size()) jobs_[made_].freed = std::min(jobs_[made_].freed, freed);
  has_freed_ = false;
}

// Brings the last profile to the jobs that are planned.
void ListPlan::reach_tip(const Availability& running, Instant now) {
  if (!tip_is_valid_) {
    if (marks_used_ == 0) add_mark(0, running);
    Mark& mark = marks_[marks_used_ - 1];
    mark.profile.forget_before(now);
    tip_.jobs = mark.jobs;
    tip_.profile.assign(mark.profile);
    tip_is_valid_ = true;
  }
  tip_.profile.forget_before(now);
  while (tip_.jobs < made_) reserve(tip_.profile, jobs_[tip_.jobs++]);
}

void ListPlan::add_mark(std::size_t jobs, const Availability& profile) {
  if (marks_.size() == marks_used_) marks_.emplace_back();
  Mark& mark = marks_[marks_used_++];
  mark.jobs = jobs;
  mark.profile.assign(profile);
}

bool ListPlan::exceeds(Cost limit, const Availability& running, Instant now) {
  pass_time(now);
  if (at_least_ && *at_least_ > limit) return true;
  const std::size_t step = std::max<std::size_t>(8, jobs_.size() / 16);
  make_first(std::min(jobs_.size(), std::max(made_, enough_) - std::min(enough_, step / 2)), running, now);
  while (made_ < jobs_.size()) {
    reach_tip(running, now);
    if (bound_exceeds(limit, now)) {
      enough_ = made_;
      return true;
    }
    make_first(std::min(jobs_.size(), made_ + step), running, now);
  }
  enough_ = made_;
  return cost_ > limit;
}

// Whether the jobs that are planned, and the others poured into what they leave, cost more than that.
bool ListPlan::bound_exceeds(Cost limit, Instant now) {
  rest_.clear();
  Cost weights = 0;
  for (std::size_t i = made_; i < jobs_.size(); ++i) {
    rest_.add(jobs_[i].cores, jobs_[i].length, jobs_[i].weight);
    weights += jobs_[i].weight;
  }
  const double least = rest_.least(tip_.profile, now);
  if (!std::isfinite(least)) return false;
  at_least_ = cost_ + weights * now.time_since_epoch().count() + static_cast<Cost>(std::floor(least));
  return *at_least_ > limit;
}

}  // namespace replay
