// Places of jobs on a core that several share: viewers draw one thing at a time in a row, so the second job on a core gets a
// row of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "scheduler/model/core_id.hpp"
#include "scheduler/model/units.hpp"

namespace replay::results {

class CoreSeats {
 public:
  /// Gives `job` the lowest free seat of `core`, from 0. O(seats of a core).
  std::size_t take(CoreId core, JobId job) { return put_on(core, kNone, job); }
  /// Frees the job's seat, and says which one it was. REQUIRES: it has one.
  std::size_t leave(CoreId core, JobId job) { return put_on(core, job, kNone); }
  /// The most seats that a core ever had.
  [[nodiscard]] std::size_t most() const { return by_seat_.size(); }

 private:
  static constexpr JobId kNone{std::numeric_limits<std::int64_t>::min()};

  std::size_t put_on(CoreId core, JobId before, JobId after);

  std::vector<std::vector<JobId>> by_seat_;  // and by core, as far as it was needed
};

}  // namespace replay::results
