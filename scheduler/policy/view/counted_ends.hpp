// Ends that a pass has counted before they came: the cores of a killed job are free in plan from the decision on, and
// its termination, in a simulation at the same instant, is nothing new (docs/adr/0006-pass-rules.md). A policy for which
// another pass may turn out otherwise makes none then.
#pragma once

#include <vector>

#include "scheduler/policy/view/view.hpp"

namespace replay {

class CountedEnds {
 public:
  /// Whether `trigger` is the end of a job that was gone in plan at the last pass, made at this same instant.
  [[nodiscard]] bool include(const ClusterView& view, const Trigger& trigger) const;
  /// Whether nothing but such ends has made this pass necessary.
  [[nodiscard]] bool are_all(const ClusterView& view) const;
  /// A pass is made now. O(running) if a job is gone in plan, else O(1).
  void note_pass(const ClusterView& view);
  [[nodiscard]] Instant last_pass() const { return last_pass_; }

 private:
  Instant last_pass_ = Instant::min();
  std::vector<JobId> gone_in_plan_;  // at the last pass
};

/// No core is free although the running jobs hold fewer (policy.hpp): the view asks for no pass. O(running).
[[nodiscard]] bool time_stands(const ClusterView& view);

}  // namespace replay
