#include "scheduler/metrics/core_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "scheduler/model/error.hpp"

namespace replay::metrics {
namespace {

CoreCount size_of(const CoreRange& range) { return range.last - range.first + 1; }

CoreCount size_of(std::span<const CoreRange> ranges) {
  CoreCount size = 0;
  for (const CoreRange& range : ranges) size += size_of(range);
  return size;
}

// Sorts and joins, so that `ranges` keeps what CoreRanges promises.
void normalise(CoreRanges& ranges) {
  std::ranges::sort(ranges, {}, &CoreRange::first);
  std::size_t kept = 0;
  for (const CoreRange& range : ranges) {
    if (kept > 0 && range.first <= ranges[kept - 1].last + 1)
      ranges[kept - 1].last = std::max(ranges[kept - 1].last, range.last);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

void to_ranges(const CoreLoads& named, CoreRanges& out) {
  out.clear();
  for (const CoreLoad& load : named) {
    if (!out.empty() && out.back().last + 1 == load.core)
      ++out.back().last;
    else
      out.push_back({load.core, load.core});
  }
  normalise(out);
}

// Moves the `count` highest cores of `ranges` to `out`.
void take_highest(CoreRanges& ranges, CoreCount count, CoreRanges& out) {
  while (count > 0) {
    CoreRange& top = ranges.back();
    const CoreCount taken = std::min(count, size_of(top));
    out.push_back({top.last - taken + 1, top.last});
    top.last -= taken;
    if (top.last < top.first) ranges.pop_back();
    count -= taken;
  }
}

}  // namespace

NumberedPool::NumberedPool(CoreCount cores) : free_(cores) {
  if (cores > 0) ranges_.push_back({0, cores - 1});
}

void NumberedPool::take(CoreCount count, CoreRanges& out) {
  if (count > free_)
    throw InputError(fmt::format("event log: a job gets {} cores when only {} are free", count, free_));
  free_ -= count;
  while (count > 0) {
    CoreRange& lowest = ranges_.back();
    const CoreCount taken = std::min(count, size_of(lowest));
    out.push_back({lowest.first, lowest.first + taken - 1});
    lowest.first += taken;
    if (lowest.first > lowest.last) ranges_.pop_back();
    count -= taken;
  }
}

void NumberedPool::give_back(const CoreRanges& ranges) {
  for (const CoreRange& range : ranges) {
    free_ += size_of(range);
    const auto below = std::ranges::lower_bound(ranges_, range.first, std::ranges::greater{}, &CoreRange::first);
    const bool joins_below = below != ranges_.end() && below->last + 1 == range.first;
    const bool joins_above = below != ranges_.begin() && std::prev(below)->first == range.last + 1;
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

struct CoreNames::OnRecord {
  CoreNames& names;

  void operator()(const log::Launched& what) const { names.hold(names.launch(what.job), what.allocation); }
  void operator()(const log::ResizeDone& what) const {
    if (Used* job = names.on_cores(what.job)) names.hold(*job, what.allocation);
  }
  void operator()(const log::SuspendDone& what) const {
    if (Used* job = names.on_cores(what.job)) names.suspend(*job);
  }
  void operator()(const log::ResumeDone& what) const {
    if (Used* job = names.on_cores(what.job)) names.resume(*job);
  }
  void operator()(const log::Finished& what) const {
    if (Used* job = names.on_cores(what.job)) names.release(*job);
  }
  template <class Other>
  void operator()(const Other& /*what*/) const {}
};

void CoreNames::header(const log::Header& header) {
  const std::string& text = header.value("machine");
  if (text.empty()) throw InputError("event log: expected a header '#machine ...' such as flat:128, found none");
  const Machine machine = Machine::parse(text);
  names_cores_ = machine.names_cores();
  pool_ = NumberedPool(names_cores_ ? 0 : machine.size());
}

void CoreNames::record(const log::Record& record) { log::visit(OnRecord{*this}, record.what); }

CoreNames::Used& CoreNames::launch(JobId job) {
  std::uint32_t row = index_.find(job);
  if (row == JobIndex::kNone) {
    row = index_.add(job);
    jobs_.emplace_back();
  }
  Used& used = jobs_[row];
  if (used.slot == kNoSlot) {
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<std::uint32_t>(held_.size()));
      held_.emplace_back();
    }
    used.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  return used;
}

void CoreNames::hold(Used& job, const Allocation& allocation) {
  CoreRanges& ranges = held_[job.slot].awake;
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
  note_used(job, ranges);
}

void CoreNames::note_used(Used& job, const CoreRanges& ranges) {
  if (job.count == 0) {
    job.begin = used_ranges_.size();
    job.count = static_cast<std::uint32_t>(ranges.size());
    used_ranges_.insert(used_ranges_.end(), ranges.begin(), ranges.end());
    return;
  }
  const auto known = used_of(job);
  const auto is_known = [known](const CoreRange& range) {
    return std::ranges::any_of(known,
                               [range](const CoreRange& k) { return k.first <= range.first && range.last <= k.last; });
  };
  if (std::ranges::all_of(ranges, is_known)) return;
  CoreRanges all(known.begin(), known.end());
  all.insert(all.end(), ranges.begin(), ranges.end());
  normalise(all);
  job.begin = used_ranges_.size();
  job.count = static_cast<std::uint32_t>(all.size());
  used_ranges_.insert(used_ranges_.end(), all.begin(), all.end());
}

// Where cores have names, a suspended job resumes on those it had. A pool cannot keep their numbers for it.
void CoreNames::suspend(Used& job) {
  Held& held = held_[job.slot];
  if (!names_cores_) pool_.give_back(held.awake);
  held.asleep = std::move(held.awake);
  held.awake.clear();
}

void CoreNames::resume(Used& job) {
  Held& held = held_[job.slot];
  if (names_cores_)
    held.awake = std::move(held.asleep);
  else
    pool_.take(size_of(held.asleep), held.awake);
  held.asleep.clear();
  note_used(job, held.awake);
}

void CoreNames::release(Used& job) {
  Held& held = held_[job.slot];
  if (!names_cores_) pool_.give_back(held.awake);
  held.awake.clear();
  held.asleep.clear();
  free_slots_.push_back(job.slot);
  job.slot = kNoSlot;
}

CoreNames::Used* CoreNames::on_cores(JobId job) {
  const std::uint32_t row = index_.find(job);
  return row == JobIndex::kNone || jobs_[row].slot == kNoSlot ? nullptr : &jobs_[row];
}

std::span<const CoreRange> CoreNames::used_of(const Used& job) const {
  return std::span(used_ranges_).subspan(job.begin, job.count);
}

std::span<const CoreRange> CoreNames::used(JobId job) const {
  const std::uint32_t row = index_.find(job);
  return row == JobIndex::kNone ? std::span<const CoreRange>{} : used_of(jobs_[row]);
}

std::span<const CoreRange> CoreNames::held(JobId job) const {
  const std::uint32_t row = index_.find(job);
  if (row == JobIndex::kNone || jobs_[row].slot == kNoSlot) return {};
  return held_[jobs_[row].slot].awake;
}

}  // namespace replay::metrics
