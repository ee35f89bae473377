// The size with the best response of a job that is submitted now: of all the sizes that it offers on the machine.
// Source: SCOJO-P paper, section 3, on Cirne and Berman 2003.
#pragma once

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/plan/shapes.hpp"

namespace replay {

/// The shape of `job` with the least response, the smallest one of several, of the sizes that it offers of at most `most`.
/// start_of(shape, before) is when it would start, kNever if not before that instant. The submitted size without asking
/// if there is no choice of size.
template <class StartOf>
[[nodiscard]] Shape best_response(const Job& job, Instant now, ProcessCount most, StartOf start_of) {
  if (!has_choice_of_size(job)) return submitted_shape(job);
  Shape best = submitted_shape(job);  // where it offers no size of at most `most`
  Instant ends = kEndOfPlans;
  for (auto size = largest_size(job, most); size; size = largest_size(job, *size - 1)) {
    const Shape shape = shape_at(job, *size);
    if (shape.time > ends - now) continue;  // not even if it started now
    const Instant start = start_of(shape, ends - shape.time + Duration{1});
    if (start > ends - shape.time) continue;
    ends = start + shape.time;
    best = shape;
  }
  return best;
}

}  // namespace replay
