#include "scheduler/policy/plan/availability.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/powers_of_two.hpp"

namespace replay {
namespace {

template <class Vector>
auto at_index(Vector& vector, std::size_t index) {
  return vector.begin() + static_cast<std::ptrdiff_t>(index);
}

// Index of the last of `count` ascending instants that is not after `at`. REQUIRES: the first one is not after `at`.
// Without a branch, as a branch on the half to take cannot be predicted.
std::size_t last_not_after(const Instant* instants, std::size_t count, Instant at) {
  std::size_t low = 0;
  while (count > 1) {
    const std::size_t half = count / 2;
    low += instants[low + half] <= at ? half : 0;
    count -= half;
  }
  return low;
}

// A bit for each of the steps [from, count): whether it has less than `enough`.
std::uint64_t short_steps(const std::array<CoreCount, 64>& free, std::size_t from, std::size_t count,
                          CoreCount enough) {
  std::uint64_t bits = 0;
  for (std::size_t i = from; i < count; ++i) bits |= std::uint64_t{free[i] < enough ? 1U : 0U} << i;
  return bits;
}

// Takes the lowest bit out. REQUIRES: there is one.
std::size_t take_lowest(std::uint64_t& bits) {
  return static_cast<std::size_t>(std::countr_zero(std::exchange(bits, bits & (bits - 1))));
}

}  // namespace

Availability::Availability(CoreCount capacity, Instant from) : capacity_(capacity) { clear(from); }

void Availability::clear(Instant from) {
  blocks_.resize(1);
  if (!blocks_[0]) blocks_[0] = std::make_unique<Block>();
  blocks_[0]->count = 1;
  blocks_[0]->is_loose = false;
  blocks_[0]->longest = no_bounds();
  has_longest_ = false;
  blocks_[0]->at[0] = from;
  blocks_[0]->free[0] = capacity_;
  first_.assign(1, from);
  added_.assign(1, 0);
  ranges_.assign(1, {capacity_, capacity_});
  groups_.clear();
}

void Availability::assign(const Availability& other) {
  capacity_ = other.capacity_;
  has_longest_ = other.has_longest_;
  blocks_.resize(other.blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!blocks_[i]) blocks_[i] = std::make_unique<Block>();
    const Block& from = *other.blocks_[i];
    Block& to = *blocks_[i];
    to.count = from.count;
    to.is_loose = from.is_loose;
    to.longest = from.longest;
    std::copy_n(from.at.begin(), from.count, to.at.begin());
    std::copy_n(from.free.begin(), from.count, to.free.begin());
  }
  first_ = other.first_;
  added_ = other.added_;
  ranges_ = other.ranges_;
  groups_ = other.groups_;
}

void Availability::forget_before(Instant now) {
  if (now <= begins()) return;
  const Place keep = find(now);
  if (keep.block > 0) {
    const auto gone = static_cast<std::ptrdiff_t>(keep.block);
    blocks_.erase(blocks_.begin(), blocks_.begin() + gone);
    first_.erase(first_.begin(), first_.begin() + gone);
    added_.erase(added_.begin(), added_.begin() + gone);
    ranges_.erase(ranges_.begin(), ranges_.begin() + gone);
  }
  Block& block = *blocks_.front();
  if (keep.block == 0 && keep.step == 0) {
    block.at[0] = first_[0] = now;
    return;
  }
  if (keep.step > 0) {
    std::copy(at_index(block.at, keep.step), at_index(block.at, block.count), block.at.begin());
    std::copy(at_index(block.free, keep.step), at_index(block.free, block.count), block.free.begin());
    block.count -= keep.step;
    block.is_loose = true;
  }
  block.at[0] = first_[0] = now;
  if (keep.block > 0) measure_groups(0, blocks_.size());
}

CoreCount Availability::free_at(Instant at) const { return value(find(at)); }

CoreCount Availability::least_free(Instant from, Instant to) const { return range(from, to).least; }

CoreCount Availability::most_free(Instant from, Instant to) const { return range(from, to).most; }

bool Availability::fits(CoreCount cores, Instant from, Duration length) const {
  if (length == Duration::zero()) return free_at(from) >= cores;
  return least_free(from, from + length) >= cores;
}

Instant Availability::earliest_fit_before(CoreCount cores, Duration length, Instant from, Instant before) const {
  return fit(cores, length, from, before).start;
}

Availability::Placed Availability::place_and_measure(CoreCount cores, Duration length, Instant from) {
  const Fit found = fit(cores, length, from, kNever);
  const Instant to = std::min(found.start + length, kEndOfPlans);
  if (found.start >= to || cores == 0) return {found.start, 0};
  Place end = found.end;
  if (end != kNoPlace && to == end_of(end)) end = after(end);
  if (end == kNoPlace || to == kEndOfPlans) end = find(to);
  return {found.start, add_between(found.place, end, found.start, to, -cores)};
}

// One pass: `hole` is the one that the step at hand continues. A block of which the bounds tell enough is not looked at.
Availability::Fit Availability::fit(CoreCount cores, Duration length, Instant from, Instant before) const {
  const Duration least = std::max(length, Duration{1});  // a job of no time needs a step with enough cores
  const std::size_t size = std::min<std::size_t>(log2_below(cores), 12 - 1);
  Place place = find(from);
  Fit hole{from, place};
  while (place.block < blocks_.size() && hole.start < before) {
    const bool from_begin = place.step == 0;
    std::size_t next_block = place.block + 1;
    Range range = ranges_[place.block];
    if (from_begin && place.block % kGroup == 0 && !groups_.empty()) {
      const Range group = groups_[place.block / kGroup];
      if (group.most < cores || group.least >= cores) {
        range = group;
        next_block = std::min(place.block + kGroup, blocks_.size());
      }
    }
    const Instant end = end_of(next_block - 1);
    if (range.most < cores) {
      hole = {end, {next_block, 0}};
    } else if (range.least >= cores) {
      if (end == kNever || end - hole.start >= least) return hole;
    } else if (hole.start >= first_[place.block] && blocks_[place.block]->longest[size] < least) {
      hole = {end, {next_block, 0}};
    } else {
      const bool sees_all = hole.start == first_[place.block];
      const Block& block = *blocks_[place.block];
      const std::uint64_t shorts = short_steps(block.free, place.step, block.count, cores - added_[place.block]);
      // Behind place.step: where steps become short, or long again, in turn.
      std::uint64_t changes = (shorts ^ shorts << 1U) & ~std::uint64_t{1} << place.step;
      if (block.count < 64) changes &= (std::uint64_t{1} << block.count) - 1;
      std::size_t step = place.step;  // the first one of the hole in this block
      bool is_short = (shorts >> step & 1U) != 0;
      Duration longest{};
      while (true) {
        if (is_short) {
          if (changes == 0) break;
          step = take_lowest(changes);
          hole = {block.at[step], {place.block, step}};
        }
        is_short = changes != 0;
        const std::size_t end_step = is_short ? take_lowest(changes) : block.count;
        const Instant hole_end = is_short ? block.at[end_step] : end;
        if (hole_end == kNever || hole_end - hole.start >= least) {
          if (hole.start >= before) return {kNever, {}};
          const Instant last = hole.start + least - Duration{1};
          return {hole.start, hole.place, {place.block, step + last_not_after(&block.at[step], end_step - step, last)}};
        }
        if (!is_short) break;
        longest = std::max(longest, hole_end - hole.start);
      }
      if (is_short) hole = {end, {next_block, 0}};
      if (sees_all) {
        if (!is_short) longest = std::max(longest, first_below(cores, end) - hole.start);
        note_longest(place.block, cores, longest);
      }
      if (block.is_loose && from_begin) {
        measure(place.block);
        measure_groups(place.block, place.block + 1);
      }
    }
    place = {next_block, 0};
  }
  INVARIANT(hole.start != kNever, "{} cores never fit into {}", cores, capacity_);
  return {kNever, {}};
}

Instant Availability::first_below(CoreCount cores, Instant from) const {
  const Place place = find_from(
      find(from), [cores](CoreCount free) { return free < cores; }, [cores](Range r) { return r.least < cores; });
  return place.block == blocks_.size() ? kNever : std::max(from, blocks_[place.block]->at[place.step]);
}

std::size_t Availability::steps() const {
  std::size_t sum = 0;
  for (const auto& block : blocks_) sum += block->count;
  return sum;
}

// The first place from `place` on that matches; blocks and groups with bounds that exclude a match are skipped. If
// there is none, its block is blocks_.size().
template <class Matches, class MayMatch>
Availability::Place Availability::find_from(Place place, Matches matches, MayMatch may_match) const {
  while (place.block < blocks_.size()) {
    if (place.step == 0 && place.block % kGroup == 0 && !groups_.empty() && !may_match(groups_[place.block / kGroup])) {
      place.block += kGroup;
      continue;
    }
    if (place.step > 0 || may_match(ranges_[place.block])) {
      const bool looks_at_all = place.step == 0;
      const Block& block = *blocks_[place.block];
      for (; place.step < block.count; ++place.step)
        if (matches(value(place))) return place;
      if (looks_at_all && block.is_loose) {
        measure(place.block);
        measure_groups(place.block, place.block + 1);
      }
    }
    ++place.block;
    place.step = 0;
  }
  return {blocks_.size(), 0};
}

Availability::Range Availability::range(Instant from, Instant to) const {
  Place place = find(from);
  Range result{value(place), value(place)};
  const auto widen = [&result](Range r) {
    result.least = std::min(result.least, r.least);
    result.most = std::max(result.most, r.most);
  };
  for (++place.step;;) {
    const Block& block = *blocks_[place.block];
    for (; place.step < block.count && block.at[place.step] < to; ++place.step) widen({value(place), value(place)});
    if (place.step < block.count) return result;
    // Of whole blocks that end before `to` only the bounds are read.
    for (++place.block; place.block + 1 < blocks_.size() && first_[place.block + 1] <= to; ++place.block) {
      if (blocks_[place.block]->is_loose) measure(place.block);
      widen(ranges_[place.block]);
    }
    if (place.block >= blocks_.size()) return result;
    place.step = 0;
  }
}

// The step that contains `at`.
Availability::Place Availability::find(Instant at) const {
  INVARIANT(at >= begins(), "availability begins at {} s, asked for {} s", seconds(begins()), seconds(at));
  if (at == begins()) return {0, 0};
  const std::size_t block = last_not_after(first_.data(), first_.size(), at);
  const Block& steps = *blocks_[block];
  return {block, last_not_after(steps.at.data(), steps.count, at)};
}

void Availability::add(Instant from, Instant to, CoreCount cores) {
  from = std::max(from, begins());
  to = std::min(to, kEndOfPlans);
  if (from >= to || cores == 0) return;
  add_between(find(from), find(to), from, to, cores);
}

// Notes that nowhere in a block `cores` stay free for longer than `longest`.
void Availability::note_longest(std::size_t block, CoreCount cores, Duration longest) const {
  LongestHoles& bounds = blocks_[block]->longest;
  for (std::size_t size = log2_above(cores); size < bounds.size(); ++size)
    bounds[size] = std::min(bounds[size], longest);
  has_longest_ = true;
}

// Holes of the blocks up to this one may have become longer.
void Availability::forget_longest(std::size_t end_block) {
  for (std::size_t block = 0; block <= end_block; ++block) blocks_[block]->longest = no_bounds();
  has_longest_ = end_block + 1 < blocks_.size();
}

// `first` and `end` are the steps that contain `from` and `to`. Returns a lower bound of what is free between them then.
// REQUIRES: from < to.
CoreCount Availability::add_between(Place first, Place end, Instant from, Instant to, CoreCount cores) {
  if (cores > 0 && has_longest_) forget_longest(end.block);
  if (first.block == end.block && blocks_[first.block]->count + 2 <= kBlock)
    return add_in_block(first, end.step, from, to, cores);
  std::size_t blocks = blocks_.size();
  end = cut(end, to);
  if (blocks_.size() != blocks) first = find(from);  // the cut has split a block
  blocks = blocks_.size();
  const bool is_new = blocks_[first.block]->at[first.step] != from;
  first = cut(first, from);
  if (blocks_.size() != blocks)
    end = find(to);
  else if (is_new && end.block == first.block)
    ++end.step;
  CoreCount least = 0;
  if (first.block == end.block) {
    least = add_within(first.block, first.step, end.step, cores);
  } else {
    least = add_within(first.block, first.step, blocks_[first.block]->count, cores);
    for (std::size_t block = first.block + 1; block < end.block; ++block) {
      added_[block] += cores;
      Range& range = ranges_[block];
      range = {range.least + cores, range.most + cores};
      const auto is_possible = [&] { return range.least >= 0 && range.most <= capacity_; };
      if (!is_possible() && blocks_[block]->is_loose) measure(block);
      INVARIANT(is_possible(), "reserved more than there is");
      least = std::min(least, range.least);
    }
    least = std::min(least, add_within(end.block, 0, end.step, cores));
  }
  measure_groups(first.block, end.block + 1);
  join(end);
  join(first);
  return least;
}

// The same in a block that has room for two more steps: each of them moves once at most.
CoreCount Availability::add_in_block(Place first, std::size_t end, Instant from, Instant to, CoreCount cores) {
  Block& steps = *blocks_[first.block];
  const std::size_t begin = first.step;
  const bool cuts_first = steps.at[begin] != from;
  const bool cuts_end = steps.at[end] != to;
  // A step that gets the value of the one before it goes. One that is the first of its block is left to join().
  const bool joins_first = !cuts_first && begin > 0 && steps.free[begin - 1] == steps.free[begin] + cores;
  const bool joins_end = !cuts_end && steps.free[end - 1] + cores == steps.free[end];
  const int shift = (cuts_first ? 1 : 0) - (joins_first ? 1 : 0);           // of the steps that change
  const int shift_rest = shift + (cuts_end ? 1 : 0) - (joins_end ? 1 : 0);  // of those behind `to`
  const std::size_t behind = cuts_end ? end + 1 : end;                      // the steps that change
  const CoreCount free_at_end = steps.free[end];
  const auto move_rest = [&steps, rest = end + 1, shift_rest] {
    std::memmove(&steps.at[rest] + shift_rest, &steps.at[rest], (steps.count - rest) * sizeof(Instant));
    std::memmove(&steps.free[rest] + shift_rest, &steps.free[rest], (steps.count - rest) * sizeof(CoreCount));
  };
  Range changed{steps.free[begin] + cores, steps.free[begin] + cores};
  const auto change = [&](std::size_t step) {
    const CoreCount free = steps.free[step] + cores;
    changed = {std::min(changed.least, free), std::max(changed.most, free)};
    return free;
  };
  if (shift_rest > 0) move_rest();
  if (shift > 0) {
    for (std::size_t step = behind; step-- > begin;) {
      steps.at[step + 1] = steps.at[step];
      steps.free[step + 1] = change(step);
    }
    steps.at[begin + 1] = from;
  } else if (shift == 0) {
    for (std::size_t step = begin; step < behind; ++step) steps.free[step] = change(step);
  } else {
    for (std::size_t step = begin + 1; step < behind; ++step) {
      steps.at[step - 1] = steps.at[step];
      steps.free[step - 1] = change(step);
    }
  }
  if (!joins_end) {
    const std::size_t place = behind + static_cast<std::size_t>(shift);
    steps.at[place] = to;
    steps.free[place] = free_at_end;
  }
  if (shift_rest < 0) move_rest();
  steps.count += static_cast<std::size_t>(shift_rest);

  changed = {changed.least + added_[first.block], changed.most + added_[first.block]};
  INVARIANT(changed.least >= 0 && changed.most <= capacity_, "{} of {} cores reserved", capacity_ - changed.least,
            capacity_);
  steps.is_loose = true;
  Range& range = ranges_[first.block];
  range = {std::min(range.least, changed.least), std::max(range.most, changed.most)};
  if (!groups_.empty()) measure_groups(first.block, first.block + 1);
  if (begin == 0 && !cuts_first) join(first);
  return changed.least;
}

// Returns the least that is free in these steps then.
CoreCount Availability::add_within(std::size_t block, std::size_t from, std::size_t to, CoreCount cores) {
  if (from == to) return capacity_;
  Block& steps = *blocks_[block];
  Range changed{steps.free[from] + cores, steps.free[from] + cores};
  for (std::size_t step = from; step < to; ++step) {
    steps.free[step] += cores;
    changed = {std::min(changed.least, steps.free[step]), std::max(changed.most, steps.free[step])};
  }
  changed = {changed.least + added_[block], changed.most + added_[block]};
  INVARIANT(changed.least >= 0 && changed.most <= capacity_, "{} of {} cores reserved", capacity_ - changed.least,
            capacity_);
  Range& range = ranges_[block];
  steps.is_loose = from > 0 || to < steps.count;
  range = steps.is_loose ? Range{std::min(range.least, changed.least), std::max(range.most, changed.most)} : changed;
  return changed.least;
}

// The step that begins at `at`, made if there is none; `place` is the step that contains it.
Availability::Place Availability::cut(Place place, Instant at) {
  if (blocks_[place.block]->at[place.step] == at) return place;
  if (blocks_[place.block]->count == kBlock) {
    split(place.block);
    place = find(at);
  }
  Block& block = *blocks_[place.block];
  const std::size_t next = place.step + 1;
  std::copy_backward(at_index(block.at, next), at_index(block.at, block.count), at_index(block.at, block.count + 1));
  std::copy_backward(at_index(block.free, next), at_index(block.free, block.count),
                     at_index(block.free, block.count + 1));
  block.at[next] = at;
  block.free[next] = block.free[place.step];
  ++block.count;
  return {place.block, next};
}

// Removes a step that has the value of the step before it.
void Availability::join(Place place) {
  if (place.block == 0 && place.step == 0) return;
  const Place before =
      place.step > 0 ? Place{place.block, place.step - 1} : Place{place.block - 1, blocks_[place.block - 1]->count - 1};
  if (value(before) != value(place)) return;
  Block& block = *blocks_[place.block];
  if (block.count == 1) return drop_block(place.block);
  std::copy(at_index(block.at, place.step + 1), at_index(block.at, block.count), at_index(block.at, place.step));
  std::copy(at_index(block.free, place.step + 1), at_index(block.free, block.count), at_index(block.free, place.step));
  --block.count;
  if (place.step > 0) return;  // the start of the block and its bounds are unchanged
  first_[place.block] = block.at[0];
  block.is_loose = true;
}

// Moves the upper half of a full block into a new block after it.
void Availability::split(std::size_t block) {
  constexpr std::size_t kHalf = kBlock / 2;
  auto moved = std::make_unique<Block>();
  Block& upper = *moved;
  upper.count = kBlock - kHalf;
  upper.longest = blocks_[block]->longest;
  std::copy_n(at_index(blocks_[block]->at, kHalf), upper.count, upper.at.begin());
  std::copy_n(at_index(blocks_[block]->free, kHalf), upper.count, upper.free.begin());
  blocks_[block]->count = kHalf;
  const std::size_t next = block + 1;
  first_.insert(at_index(first_, next), upper.at[0]);
  added_.insert(at_index(added_, next), added_[block]);
  ranges_.insert(at_index(ranges_, next), ranges_[block]);
  blocks_.insert(at_index(blocks_, next), std::move(moved));
  measure(block);
  measure(next);
  measure_groups(block, blocks_.size());
}

void Availability::drop_block(std::size_t block) {
  blocks_.erase(at_index(blocks_, block));
  first_.erase(at_index(first_, block));
  added_.erase(at_index(added_, block));
  ranges_.erase(at_index(ranges_, block));
  measure_groups(block, blocks_.size());
}

void Availability::measure(std::size_t block) const {
  Block& steps = *blocks_[block];
  CoreCount least = steps.free[0];
  CoreCount most = steps.free[0];
  for (std::size_t step = 1; step < steps.count; ++step) {
    least = std::min(least, steps.free[step]);
    most = std::max(most, steps.free[step]);
  }
  ranges_[block] = {least + added_[block], most + added_[block]};
  steps.is_loose = false;
}

void Availability::measure_groups(std::size_t from_block, std::size_t to_block) const {
  if (blocks_.size() <= kGroup) return groups_.clear();  // the blocks themselves are as fast
  if (groups_.empty()) from_block = 0;
  groups_.resize((blocks_.size() + kGroup - 1) / kGroup);
  for (std::size_t group = from_block / kGroup; group < groups_.size() && group * kGroup < to_block; ++group) {
    const std::size_t end = std::min(blocks_.size(), (group + 1) * kGroup);
    Range all = ranges_[group * kGroup];
    for (std::size_t block = group * kGroup + 1; block < end; ++block) {
      all.least = std::min(all.least, ranges_[block].least);
      all.most = std::max(all.most, ranges_[block].most);
    }
    groups_[group] = all;
  }
}

}  // namespace replay
