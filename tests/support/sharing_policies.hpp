// Policies that do what none of the table does yet: put two jobs on one core, suspend and resume. They are as simple as
// they can be, so that their schedules can be worked out by hand; what they show is the controller's and the simulator's
// part. All need cores with names.
#pragma once

#include <map>

#include "scheduler/policy/view/policy.hpp"

namespace replay::test {

/// What a wrapper would ask; nobody wraps these.
class UnwrappedPolicy : public Policy {
 public:
  CoreCount free_until(const ClusterView&, Instant) const override { return 0; }
  bool may_start_now(const ClusterView&, const Job&) const override { return false; }
};

/// First come, first served, two on a core: the head starts expanded on free cores, or else beside the oldest job on whose
/// cores it fits, expanded or at level 2. Rigid jobs share with nobody.
class Beside final : public UnwrappedPolicy {
 public:
  void decide(const ClusterView& view, Actions& out) override;
};

/// Coarse preemption: time is cut into slices, odd jobs run in the odd ones, even jobs in the others, and who is not due is
/// suspended. Within a slice first come, first served, each job on cores of its own, or (`share`) as Beside does it.
class Slices final : public UnwrappedPolicy {
 public:
  explicit Slices(Duration length, bool share = false) : length_(length), share_(share) {}
  void decide(const ClusterView& view, Actions& out) override;

 private:
  Duration length_;
  bool share_;
};

/// Does what it is told, when it is told. REQUIRES: jobs are submitted by the time that they are named.
class Timetable final : public UnwrappedPolicy {
 public:
  explicit Timetable(std::map<Instant, Actions> orders) : orders_(std::move(orders)) {}
  void decide(const ClusterView& view, Actions& out) override;

 private:
  std::map<Instant, Actions> orders_;
};

}  // namespace replay::test
