// Free processors over time, as a plain list of steps. Every search goes from step to step.
#pragma once

#include <vector>

#include "scheduler/model/units.hpp"

namespace replay::audit {

class Profile {
 public:
  /// All of `size` free for ever.
  explicit Profile(CoreCount size) : steps_{{Instant::min(), size}} {}

  /// May take more than there are, as a schedule may.
  void reserve(Instant from, Instant to, CoreCount count) { add(from, to, -count); }
  void release(Instant from, Instant to, CoreCount count) { add(from, to, count); }

  /// The first instant in [from, to) with fewer than `count` free; kNever if there is none.
  [[nodiscard]] Instant first_short(Instant from, Instant to, CoreCount count) const;
  /// Whether there is an instant in [from, to) with `count` free.
  [[nodiscard]] bool has_free(Instant from, Instant to, CoreCount count) const;
  /// The first instant >= from at which `count` are free for `length`. REQUIRES: as many are free in the end.
  [[nodiscard]] Instant earliest(Instant from, Duration length, CoreCount count) const;

  /// Drops the steps before `now`.
  void forget_before(Instant now);

 private:
  struct Step {
    Instant at;
    CoreCount free;  // until the next step
  };
  using Steps = std::vector<Step>;

  void add(Instant from, Instant to, CoreCount count);
  [[nodiscard]] Steps::iterator cut(Instant at);
  [[nodiscard]] std::size_t step_at(Instant at) const;
  [[nodiscard]] Instant end_of(std::size_t step) const {
    return step + 1 < steps_.size() ? steps_[step + 1].at : kNever;
  }

  Steps steps_;  // never empty, ascending
};

}  // namespace replay::audit
