// The policy interface: a policy reads a view and returns what should happen now. It never waits, sleeps, prints, reads
// a clock or sees a JobTruth. The same object drives the simulator and a real run.
//
// A policy can wrap another: it builds a view of its own (some of the nodes, some of the queue), asks the inner policy,
// and passes on, changes or drops the answers. For that every policy also answers questions without side effects. They
// are about the view given: jobs may have been started, or have ended, since the last decide(), and cores may be free in
// truth of which the view shows fewer. decide() may come with a view in which no core is free although the running jobs
// hold fewer: time stands for its jobs, and the policy takes in what has happened and starts none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scheduler/policy/view/decision.hpp"
#include "scheduler/policy/view/training.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

/// When passes happen (docs/adr/0006-pass-rules.md).
enum class PassRule : std::uint8_t {
  kInstant,  ///< all events of an instant, terminations first, then one pass
  kEvent     ///< submissions before terminations, a pass after each; a job counts as gone once its estimate is over
};

class Policy {
 public:
  virtual ~Policy() = default;

  /// Called once per pass. Adds to `out` (a reused buffer) what should happen at `view.now`, in order: at most one
  /// Start, Resize, Suspend, Resume or Kill per job, or a Resume and a Resize after it. What is added to the allocations
  /// is never more than `view.free`.
  virtual void decide(const ClusterView& view, Decisions& out) = 0;

  [[nodiscard]] virtual PassRule pass_rule() const { return PassRule::kInstant; }

  /// Cores free now that stay free until `until`, if no job is submitted and all jobs run as long as estimated: a
  /// wrapping policy can use them without delaying a job of this one.
  [[nodiscard]] virtual CoreCount free_until(const ClusterView& view, Instant until) const = 0;

  /// Whether decide() could start `job`, which waits, at this instant without delaying any job of the view.
  [[nodiscard]] virtual bool may_start_now(const ClusterView& view, const Job& job) const = 0;

  /// The allocation with which decide() would start `job` alone on cores that are free in the view; nothing if there are
  /// too few. The default is the submitted size, expanded.
  [[nodiscard]] virtual std::optional<Allocation> alone(const ClusterView& view, const Job& job) const {
    return view.free.place(job.processes, 1);
  }

  /// The planned start of a job that waited after the last pass; nothing from policies that keep no plan. How binding
  /// it is depends on the policy: a guarantee under `conservative`, under `slack` one up to the job's slack.
  [[nodiscard]] virtual std::optional<Instant> planned_start(const Job& /*job*/) const { return std::nullopt; }

  /// What the policy has learned from before the run; nullptr: nothing. A policy that wraps another passes it on.
  [[nodiscard]] virtual const Training* training() const { return nullptr; }

  /// Whether it may start a job with other than the submitted processes. A policy that wraps another passes it on.
  [[nodiscard]] virtual bool chooses_sizes() const { return false; }

  /// Whether it may suspend jobs, as far as that is known before the run.
  [[nodiscard]] virtual bool suspends() const { return false; }

  /// Called when the estimate of `job`, which runs, is used up: by how much it is to grow; zero: the job is killed.
  /// Called only under Overrun::kPolicy.
  [[nodiscard]] virtual Duration more_time(const ClusterView& /*view*/, const RunningJob& /*job*/) {
    return Duration::zero();
  }
};

}  // namespace replay
