// A pass of EASY over a queue in any order: jobs start from the front while they fit; the first one that does not gets a
// reservation, and a job behind it starts if it ends by the shadow time or fits into the extra nodes. The pass of the
// policies and that of their simulations of what comes.
// Sources: Lifka 1995; slack-based backfilling paper, section 3.1.
#pragma once

#include <algorithm>
#include <optional>

#include "scheduler/policy/plan/shadow.hpp"
#include "scheduler/policy/plan/shapes.hpp"

namespace replay {

/// Whether a job may start now behind the head, which it does not delay; if so, takes what it needs of the extra nodes.
[[nodiscard]] inline bool take_if_head_is_not_delayed(Shape shape, Instant now, CoreCount free, Shadow& shadow) {
  if (shape.cores > free) return false;
  if (now + shape.time <= shadow.at) return true;
  if (shape.cores > shadow.extra) return false;
  shadow.extra -= shape.cores;
  return true;
}

/// shape_of(job) is a Shape; shadow_of(free, head), with what has been started so far, a Shadow; start(job, shape) is
/// called for each job that starts at `now`. narrower(job, most) is asked for another shape, of at most `most` cores,
/// of a job that cannot be backfilled in its own: with the free cores, then with the extra nodes; nothing if there is
/// none. O(queue), and one call of shadow_of at most.
template <class Queue, class ShapeOf, class ShadowOf, class Start, class Narrower>
void easy_pass(Instant now, CoreCount free, Queue&& queue, ShapeOf shape_of, ShadowOf shadow_of, Start start,
               Narrower narrower) {
  auto next = queue.begin();
  for (; next != queue.end(); ++next) {
    const Shape shape = shape_of(*next);
    if (shape.cores > free) break;
    free -= shape.cores;
    start(*next, shape);
  }
  if (next == queue.end() || free == 0) return;
  Shadow shadow = shadow_of(free, shape_of(*next).cores);
  for (++next; next != queue.end() && free > 0; ++next) {
    std::optional<Shape> shape = shape_of(*next);
    if (!take_if_head_is_not_delayed(*shape, now, free, shadow)) {
      const CoreCount own = shape->cores;
      shape = narrower(*next, std::min(own, free));
      if (shape && !take_if_head_is_not_delayed(*shape, now, free, shadow)) {
        shape = narrower(*next, std::min({own, free, shadow.extra}));
        if (shape && !take_if_head_is_not_delayed(*shape, now, free, shadow)) shape.reset();
      }
      if (!shape) continue;
    }
    free -= shape->cores;
    start(*next, *shape);
  }
}

/// The same where no job is backfilled in another shape than its own.
template <class Queue, class ShapeOf, class ShadowOf, class Start>
void easy_pass(Instant now, CoreCount free, Queue&& queue, ShapeOf shape_of, ShadowOf shadow_of, Start start) {
  easy_pass(now, free, queue, shape_of, shadow_of, start,
            [](const auto& /*job*/, CoreCount /*most*/) { return std::optional<Shape>{}; });
}

}  // namespace replay
