#include "scheduler/metrics/core_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "scheduler/base/error.hpp"

namespace replay::metrics {
namespace {

// Sorts and joins, so that `ranges` keeps what CoreRanges promises.
void normalise(CoreRanges& ranges) {
  std::ranges::sort(ranges, {}, &CoreRange::first);
  std::size_t kept = 0;
  for (const CoreRange& range : ranges) {
    if (kept > 0 && range.first <= next(ranges[kept - 1].last))
      ranges[kept - 1].last = std::max(ranges[kept - 1].last, range.last);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

void to_ranges(const CoreLoads& named, CoreRanges& out) {
  out.clear();
  for (const CoreLoad& load : named) {
    if (!out.empty() && next(out.back().last) == load.core)
      out.back().last = load.core;
    else
      out.push_back({load.core, load.core});
  }
  normalise(out);
}

// Adds `ranges` to those of `all`.
void join(CoreRanges& all, const CoreRanges& ranges) {
  if (all.empty()) {
    all = ranges;
    return;
  }
  const auto is_known = [&all](const CoreRange& range) {
    return std::ranges::any_of(all,
                               [&range](const CoreRange& k) { return k.first <= range.first && range.last <= k.last; });
  };
  if (std::ranges::all_of(ranges, is_known)) return;
  all.insert(all.end(), ranges.begin(), ranges.end());
  normalise(all);
}

// Moves the `count` highest cores of `ranges` to `out`.
void take_highest(CoreRanges& ranges, CoreCount count, CoreRanges& out) {
  while (count > 0) {
    CoreRange& top = ranges.back();
    const CoreCount taken = std::min(count, top.size());
    const CoreId left = prev(top.last, taken);
    out.push_back({next(left), top.last});
    top.last = left;
    if (top.size() == 0) ranges.pop_back();
    count -= taken;
  }
}

}  // namespace

CoreCount size_of(std::span<const CoreRange> ranges) {
  CoreCount size = 0;
  for (const CoreRange& range : ranges) size += range.size();
  return size;
}

NumberedPool::NumberedPool(CoreCount cores) : free_(cores) {
  if (cores > 0) ranges_.push_back(first_cores(cores));
}

void NumberedPool::take(CoreCount count, CoreRanges& out) {
  INVARIANT(count <= free_, "{} cores of {} free ones", count, free_);
  free_ -= count;
  while (count > 0) {
    CoreRange& lowest = ranges_.back();
    const CoreCount taken = std::min(count, lowest.size());
    const CoreId left = next(lowest.first, taken);
    out.push_back({lowest.first, prev(left)});
    lowest.first = left;
    if (lowest.size() == 0) ranges_.pop_back();
    count -= taken;
  }
}

void NumberedPool::give_back(const CoreRanges& ranges) {
  for (const CoreRange& range : ranges) {
    free_ += range.size();
    const auto below = std::ranges::lower_bound(ranges_, range.first, std::ranges::greater{}, &CoreRange::first);
    const bool joins_below = below != ranges_.end() && next(below->last) == range.first;
    const bool joins_above = below != ranges_.begin() && std::prev(below)->first == next(range.last);
    if (joins_above && joins_below) {
      below->last = std::prev(below)->last;
      ranges_.erase(std::prev(below));
    } else if (joins_above) {
      std::prev(below)->first = range.first;
    } else if (joins_below) {
      below->last = range.last;
    } else {
      ranges_.insert(below, range);
    }
  }
}

void CoreNames::on_begin(const log::Header& /*header*/, const Machine& machine) {
  names_cores_ = machine.names_cores();
  pool_ = NumberedPool(names_cores_ ? CoreCount{0} : machine.size());
}

void CoreNames::on_change(Instant /*at*/, const history::Before& before, const history::JobState& job) {
  using enum history::Phase;
  if (before.phase == kWaiting) return hold(launch(job.id), job.held);
  Cores& cores = jobs_[index_.find(job.id)];
  if (job.phase == kWaiting) {
    release(cores);
    return forget(job.id);
  }
  if (job.phase == kSuspended) return suspend(cores);
  if (before.phase == kSuspended) return resume(cores);
  hold(cores, job.held);
}

void CoreNames::on_end(Instant /*at*/, const history::JobState& job, const JobEnd& /*end*/) {
  if (job.phase != history::Phase::kWaiting) release(jobs_[index_.find(job.id)]);
}

CoreNames::Cores& CoreNames::launch(JobId job) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(jobs_.size()));
    jobs_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  index_.set(job, slot);
  return jobs_[slot];
}

void CoreNames::hold(Cores& job, const Allocation& allocation) {
  CoreRanges& ranges = job.awake;
  if (!ranges.empty()) join(job.used_before, ranges);
  if (names_cores_) {
    to_ranges(allocation.named, ranges);
  } else if (const CoreCount before = size_of(ranges); allocation.cores < before) {
    CoreRanges left;
    take_highest(ranges, before - allocation.cores, left);
    pool_.give_back(left);
  } else {
    pool_.take(allocation.cores - before, ranges);
    if (before > 0) normalise(ranges);
  }
}

// Where cores have names, a suspended job resumes on those it had. A pool cannot keep their numbers for it.
void CoreNames::suspend(Cores& job) {
  if (!names_cores_) pool_.give_back(job.awake);
  join(job.used_before, job.awake);
  job.asleep = std::move(job.awake);
  job.awake.clear();
}

void CoreNames::resume(Cores& job) {
  if (names_cores_)
    job.awake = std::move(job.asleep);
  else
    pool_.take(size_of(job.asleep), job.awake);
  job.asleep.clear();
}

void CoreNames::release(Cores& job) {
  if (!names_cores_) pool_.give_back(job.awake);
  if (job.used_before.empty())
    job.used_before.swap(job.awake);  // nothing is copied for a job that had the same cores all the time
  else
    join(job.used_before, job.awake);
  job.awake.clear();
  job.asleep.clear();
}

void CoreNames::forget(JobId job) {
  const std::uint32_t slot = index_.erase(job);
  if (slot == JobIndex::kNone) return;
  jobs_[slot].used_before.clear();
  free_.push_back(slot);
}

std::span<const CoreRange> CoreNames::used(JobId job) const {
  const std::uint32_t slot = index_.find(job);
  if (slot == JobIndex::kNone) return {};
  const Cores& cores = jobs_[slot];
  if (!cores.awake.empty()) join(cores.used_before, cores.awake);
  return cores.used_before;
}

std::span<const CoreRange> CoreNames::held(JobId job) const {
  const std::uint32_t slot = index_.find(job);
  return slot == JobIndex::kNone ? std::span<const CoreRange>{} : jobs_[slot].awake;
}

}  // namespace replay::metrics
