// Test policies that do what no policy of the table does yet: put two jobs on one core, suspend and resume. They are
// simple enough for schedules by hand; the tests are about the controller and the simulator. All need named cores.
#pragma once

#include <map>

#include "scheduler/policy/view/policy.hpp"

namespace replay::test {

/// First come, first served, two on a core: the head starts expanded on free cores, or else beside the oldest job on
/// the cores of which it fits, expanded or at level 2. Rigid jobs do not share.
class Beside final : public Policy {
 public:
  void decide(const ClusterView& view, Decisions& out) override;
};

/// Coarse preemption: time is cut into slices; jobs with odd numbers run in odd slices, the others in even ones, and
/// the rest is suspended. Within a slice first come, first served, each job on cores of its own, or (`share`) as Beside
/// does it.
class Slices final : public Policy {
 public:
  explicit Slices(Duration length, bool share = false) : length_(length), share_(share) {}
  void decide(const ClusterView& view, Decisions& out) override;

 private:
  Duration length_;
  bool share_;
};

/// Returns the given decisions at the given instants. REQUIRES: jobs are submitted when a decision names them.
class Timetable final : public Policy {
 public:
  explicit Timetable(std::map<Instant, Decisions> decisions) : decisions_(std::move(decisions)) {}
  void decide(const ClusterView& view, Decisions& out) override;

 private:
  std::map<Instant, Decisions> decisions_;
};

}  // namespace replay::test
