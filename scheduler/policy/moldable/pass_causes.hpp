// What calls for a pass of a policy whose passes are decisions in themselves: with nothing new, another pass may size jobs
// differently. A timer that was set for the promotion of a job that has started since is left over and calls for none, nor
// do the ends of killed jobs at the instant of the pass that had their cores already. Guests of a time slice leave without an
// end: fewer cores of guests than at the last pass call for one.
#pragma once

#include <span>

#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/view/counted_ends.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

class PassCauses {
 public:
  /// Whether something has happened since the last pass. `waiting`: the queue at the view's instant.
  [[nodiscard]] bool call_for_pass(const ClusterView& view, std::span<const ClassedJob* const> waiting) const;
  /// No pass is made although one is called for: time stands for the jobs of the view. The next view calls for it again.
  void put_off() { is_put_off_ = true; }
  /// A pass is made now. Forgets expected timers: the pass sets them anew.
  void note_pass(const ClusterView& view);
  /// A timer other than promotions that the pass of now has asked for. At most one.
  void expect_timer(Instant at) { timer_ = at; }

 private:
  CountedEnds counted_;
  Instant timer_ = kNever;
  CoreCount guests_ = 0;  // cores that guests had at the last pass
  bool is_put_off_ = false;
};

}  // namespace replay
