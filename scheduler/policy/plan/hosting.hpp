// Answers to a wrapping policy (view/hosting.hpp) that follow from a plan of the view, and those of policies that reserve
// for the head of the queue only.
#pragma once

#include "scheduler/policy/plan/availability.hpp"
#include "scheduler/policy/plan/job_order.hpp"
#include "scheduler/policy/plan/shapes.hpp"
#include "scheduler/policy/view/hosting.hpp"

namespace replay {

/// A policy that follows a plan says what is in it.
class HostingByPlan : public Hosting {
 public:
  [[nodiscard]] CoreCount free_until(const ClusterView& view, Instant until) const final;
  [[nodiscard]] bool may_start_now(const ClusterView& view, const Job& job) const final;

 private:
  /// The running jobs and all waiting jobs that must not be delayed, without `but` if that is not nullptr.
  [[nodiscard]] virtual Availability plan_of(const ClusterView& view, const Job* but) const = 0;
};

/// The head starts no later than its shadow time says, and other jobs beside it (plan/shadow.hpp).
class HostingBesideHead : public Hosting {
 public:
  [[nodiscard]] CoreCount free_until(const ClusterView& view, Instant until) const final;
  [[nodiscard]] bool may_start_now(const ClusterView& view, const Job& job) const override;

 private:
  /// The job that the policy asks first. REQUIRES: a job waits.
  [[nodiscard]] virtual const Job& head_of(const ClusterView& view) const { return view.waiting.head(); }
  /// What the job would be started with.
  [[nodiscard]] virtual Shape shape_of(const Job& job) const { return submitted_shape(job); }
};

/// The running jobs, and each waiting one but `but` in the earliest hole that those before it in the order leave.
[[nodiscard]] Availability plan_in_order(const ClusterView& view, JobOrder order, const Job* but);

/// The cores free now that `plan`, of the running jobs and all waiting jobs that must not be delayed, leaves free until
/// `until`.
[[nodiscard]] CoreCount free_by_plan(const ClusterView& view, const Availability& plan, Instant until);

}  // namespace replay
