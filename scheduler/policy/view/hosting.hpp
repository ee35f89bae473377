// What a policy answers to one that wraps it, and lends its free cores to other jobs (scojo-pect), without side effects.
// The questions are about the view given: jobs may have been started, or have ended, since the last decide(), and cores
// may be free in truth of which the view shows fewer. The answers here are those of a policy that gives none of its own: they
// promise only what follows from the view. plan/hosting.hpp has those of policies that plan.
#pragma once

#include <optional>

#include "scheduler/policy/view/policy.hpp"

namespace replay {

class Hosting {
 public:
  virtual ~Hosting() = default;

  /// Cores free now that stay free until `until`, if no job is submitted and all jobs run as long as estimated: a
  /// wrapping policy can use them without delaying a job of this one. Here: all free cores while no job waits, else none.
  [[nodiscard]] virtual CoreCount free_until(const ClusterView& view, Instant /*until*/) const {
    return view.waiting.empty() ? view.free.total() : CoreCount{0};
  }

  /// Whether decide() could start `job`, which waits, at this instant without delaying any job of the view. Here: only the
  /// one job that waits, if it fits as it is.
  [[nodiscard]] virtual bool may_start_now(const ClusterView& view, const Job& job) const {
    return view.waiting.size() == 1 && view.waiting.head().id == job.id && alone(view, job);
  }

  /// The allocation with which decide() would start `job` alone on cores that are free in the view; nothing if there are
  /// too few. Here: the submitted size, expanded.
  [[nodiscard]] virtual std::optional<Allocation> alone(const ClusterView& view, const Job& job) const {
    return view.free.place(job.processes, 1);
  }

  /// The planned start of a job that waited after the last pass; nothing from policies that keep no plan, as here. How
  /// binding it is depends on the policy: a guarantee under `conservative`, under `slack` one up to the job's slack.
  [[nodiscard]] virtual std::optional<Instant> planned_start(const Job& /*job*/) const { return std::nullopt; }
};

/// The answers of `policy`, or of this class if it gives none.
[[nodiscard]] inline const Hosting& hosting_of(const Policy& policy) {
  static const Hosting kCautious;
  const auto* const own = dynamic_cast<const Hosting*>(&policy);
  return own != nullptr ? *own : kCautious;
}

}  // namespace replay
