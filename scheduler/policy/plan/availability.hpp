// Free processors over time, as planned: the profile in which planning policies look for a job's start. A step function
// that begins now and ends with everything free, at kEndOfPlans at the latest: reservations beyond it are left out, so
// that no planned start is later and every planned end can be computed. Reserving and releasing are inverse, so a
// policy can try a reservation and take it back.
//
// Steps lie in blocks of up to 64. A block has bounds of its values and an offset that is added to all of them; groups
// of blocks have bounds, too. A search skips blocks and groups that cannot match, and a change touches two blocks and
// the headers between them. After a change bounds may be too wide; a search that scans a whole block without a match
// makes them tight again. A search that finds no hole in a block notes how long its holes are at most, by the power of
// two of processors; this holds until something is released, and longer jobs skip the block.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay {

class Availability {
 public:
  Availability() : Availability(0, Instant::min()) {}
  /// All of `capacity` is free from `from` on. REQUIRES: capacity >= 0.
  Availability(CoreCount capacity, Instant from);

  /// Frees everything from `from` on; memory is kept.
  void clear(Instant from);
  /// The same function as `other`, in the memory that there is. O(steps), and much faster than to take back as many
  /// reservations.
  void assign(const Availability& other);
  /// Drops the steps before `now`, the time that is not asked about any more. REQUIRES: not before begins().
  void forget_before(Instant now);

  [[nodiscard]] Instant begins() const { return first_.front(); }
  [[nodiscard]] CoreCount capacity() const { return capacity_; }
  /// REQUIRES: at >= begins().
  [[nodiscard]] CoreCount free_at(Instant at) const;
  /// The least that is free in [from, to), and the most. REQUIRES: begins() <= from < to.
  [[nodiscard]] CoreCount least_free(Instant from, Instant to) const;
  [[nodiscard]] CoreCount most_free(Instant from, Instant to) const;
  /// Whether `cores` are free in all of [from, from + length).
  [[nodiscard]] bool fits(CoreCount cores, Instant from, Duration length) const;

  /// The first instant from `from` on at which `cores` are free for `length`. REQUIRES: cores <= capacity, length >= 0,
  /// from >= begins(). Always answers, as everything is free in the end. Time grows with the logarithm of the steps and
  /// with the number of holes that are too short.
  [[nodiscard]] Instant earliest_fit(CoreCount cores, Duration length, Instant from) const {
    return earliest_fit_before(cores, length, from, kNever);
  }
  /// The same, but kNever if it is not before `before`.
  [[nodiscard]] Instant earliest_fit_before(CoreCount cores, Duration length, Instant from, Instant before) const;

  /// Reserves the earliest fit for `length` and returns its begin: earliest_fit() and reserve() in one.
  Instant place(CoreCount cores, Duration length, Instant from) { return place_and_measure(cores, length, from).start; }

  struct Placed {
    Instant start;
    CoreCount left;  ///< so many at least are still free in all of the time reserved
  };
  /// The same, and what is left there.
  Placed place_and_measure(CoreCount cores, Duration length, Instant from);

  /// The first instant from `from` on at which fewer than `cores` are free; kNever if there is none. REQUIRES: from >=
  /// begins().
  [[nodiscard]] Instant first_below(CoreCount cores, Instant from) const;

  /// Takes `cores` away in [from, to), or gives them back; a part before begins() or after kEndOfPlans is left out, an
  /// empty interval changes nothing. REQUIRES: the result is within 0..capacity everywhere.
  void reserve(Instant from, Instant to, CoreCount cores) { add(from, to, -cores); }
  void release(Instant from, Instant to, CoreCount cores) { add(from, to, cores); }

  /// Calls `look(begin, end, free)` for each step in order, until it returns false.
  template <class Look>
  void for_each_step(Look look) const {
    for (Place place{0, 0}; place.block < blocks_.size(); place = after(place))
      if (!look(blocks_[place.block]->at[place.step], end_of(place), value(place))) return;
  }

  /// How many steps the function has; 1 when it is constant.
  [[nodiscard]] std::size_t steps() const;

 private:
  static constexpr std::size_t kBlock = 64;  // steps of a block, at most
  static constexpr std::size_t kGroup = 64;  // blocks of a group

  // Upper bounds of how long 1, 2, 4, ... processors stay free from an instant of a block on.
  using LongestHoles = std::array<Duration, 12>;
  static LongestHoles no_bounds() {
    LongestHoles bounds;
    bounds.fill(Duration::max());
    return bounds;
  }

  struct Block {
    std::size_t count = 0;
    bool is_loose = false;  // its bounds may be too wide
    LongestHoles longest = no_bounds();
    std::array<Instant, kBlock> at;
    std::array<CoreCount, kBlock> free;  // without the block's added_
  };
  struct Range {
    CoreCount least, most;
  };
  struct Place {
    std::size_t block, step;
    bool operator==(const Place&) const = default;
  };

  struct Fit {
    Instant start;
    Place place;           // the step that contains it
    Place end = kNoPlace;  // the step up to which the hole is known to reach
  };
  static constexpr Place kNoPlace{static_cast<std::size_t>(-1), 0};

  [[nodiscard]] Fit fit(CoreCount cores, Duration length, Instant from, Instant before) const;
  void note_longest(std::size_t block, CoreCount cores, Duration longest) const;
  void forget_longest(std::size_t end_block);
  void add(Instant from, Instant to, CoreCount cores);
  CoreCount add_between(Place first, Place end, Instant from, Instant to, CoreCount cores);
  [[nodiscard]] Place find(Instant at) const;
  [[nodiscard]] Instant end_of(std::size_t block) const {
    return block + 1 < first_.size() ? first_[block + 1] : kNever;
  }
  [[nodiscard]] Instant end_of(Place place) const {
    const Block& block = *blocks_[place.block];
    return place.step + 1 < block.count ? block.at[place.step + 1] : end_of(place.block);
  }
  [[nodiscard]] Place after(Place place) const {
    return place.step + 1 < blocks_[place.block]->count ? Place{place.block, place.step + 1}
                                                        : Place{place.block + 1, 0};
  }
  Place cut(Place place, Instant at);
  void join(Place place);
  void split(std::size_t block);
  void drop_block(std::size_t block);
  CoreCount add_in_block(Place first, std::size_t end, Instant from, Instant to, CoreCount cores);
  CoreCount add_within(std::size_t block, std::size_t from, std::size_t to, CoreCount cores);
  void measure(std::size_t block) const;
  void measure_groups(std::size_t from_block, std::size_t to_block) const;
  [[nodiscard]] CoreCount value(Place place) const {
    return blocks_[place.block]->free[place.step] + added_[place.block];
  }
  [[nodiscard]] Range range(Instant from, Instant to) const;
  template <class Matches, class MayMatch>
  [[nodiscard]] Place find_from(Place place, Matches matches, MayMatch may_match) const;

  CoreCount capacity_;
  std::vector<std::unique_ptr<Block>> blocks_;  // the vectors below have an entry for each block, too
  std::vector<Instant> first_;
  std::vector<CoreCount> added_;
  // Bounds of each block's values, added_ included; and of each group of kGroup blocks if there is more than one.
  mutable std::vector<Range> ranges_, groups_;
  mutable bool has_longest_ = false;  // a block has bounds of its holes
};

}  // namespace replay
