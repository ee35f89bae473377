// Processors in use over time, as a log shows it: by the waits, run times and sizes of its jobs. Holds 32 bytes a job.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay {

class LoggedUse {
 public:
  struct Change {
    Duration at;
    std::int64_t processors;  ///< below 0: released, and first at one instant
    auto operator<=>(const Change&) const = default;
  };

  /// REQUIRES: run > 0, processors > 0.
  void add(Duration start, Duration run, std::int64_t processors) {
    changes_.push_back({start, processors});
    changes_.push_back({start + run, -processors});
  }

  [[nodiscard]] bool is_empty() const { return changes_.empty(); }
  /// Puts the changes in order; they are undefined behind the next add().
  [[nodiscard]] const std::vector<Change>& in_order() {
    std::ranges::sort(changes_);
    return changes_;
  }
  /// The most processors in use at one time; 0 if nothing ever was.
  [[nodiscard]] std::int64_t most() {
    std::int64_t used = 0, most = 0;
    for (const Change& change : in_order()) most = std::max(most, used += change.processors);
    return most;
  }
  /// How long more than `limit` were in use.
  [[nodiscard]] Duration above(std::int64_t limit) {
    std::int64_t used = 0;
    Duration sum{}, last{};
    for (const auto& [at, processors] : in_order()) {
      if (used > limit) sum += at - last;
      last = at;
      used += processors;
    }
    return sum;
  }

 private:
  std::vector<Change> changes_;
};

}  // namespace replay
