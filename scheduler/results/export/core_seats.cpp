#include "scheduler/results/export/core_seats.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay::results {

std::size_t CoreSeats::put_on(CoreId core, JobId before, JobId after) {
  for (std::size_t seat = 0;; ++seat) {
    if (seat == by_seat_.size()) {
      INVARIANT(before == kNone, "job {} leaves core {}, where it is not", number(before), core);
      by_seat_.emplace_back();
    }
    std::vector<JobId>& jobs = by_seat_[seat];
    if (jobs.size() <= index_of(core)) jobs.resize(std::max(index_of(core) + 1, jobs.size() * 2), kNone);
    if (jobs[index_of(core)] != before) continue;
    jobs[index_of(core)] = after;
    return seat;
  }
}

}  // namespace replay::results
