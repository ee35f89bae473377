// How fast jobs run by what they declare: alone with so many processes on a node (self slowdown), and beside another job
// (co-scheduling slowdown): G-LOMARC-TS, section 4.9. The runtime model of the view is asked once for each, about a job
// on one node: what it says there holds on all, as the fullest node decides.
// Rates are those of the controller to the last bit, so that planned ends are the real ones. Only where a job is faster
// beside another than alone, it counts as equally fast: the plan relies on it that no job ends earlier by sharing.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/policy/sharing/half_nodes.hpp"
#include "scheduler/policy/sharing/known_job.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay::sharing {

class Slowdowns {
 public:
  explicit Slowdowns(const HalfNodes& nodes) : nodes_(nodes) {}

  /// For the questions of this pass. `view` must stay as long.
  void use(const ClusterView& view) { view_ = &view; }

  /// Of a job with at most `per_node` processes on a node, alone.
  [[nodiscard]] double rate_alone(const Job& job, int per_node);
  [[nodiscard]] double rate_alone(const KnownJob& job, int per_node) const {
    if (per_node == 1) return job.rate_one;
    return per_node == nodes_.half() ? job.rate_half : job.rate_full;
  }
  /// The same beside `other` on one of its nodes. REQUIRES: per_node is 1 or half of a node.
  [[nodiscard]] double rate_beside(KnownJob& job, int per_node, const KnownJob& other);
  /// SL(job, other), without self slowdown; >= 1.
  [[nodiscard]] double slowdown(KnownJob& job, int per_node, const KnownJob& other) {
    return rate_alone(job, per_node) / rate_beside(job, per_node, other);
  }

  /// The self slowdowns SL_sno (half of a node's cores) and SL_scr * SL_sno (all cores) of a job that is large enough.
  [[nodiscard]] double self_slowdown(const Job& job, int on_node) { return 1 / ask(job, on_node, {}); }

 private:
  double ask(const Job& job, int on_node, std::span<const ModelledJob* const> others);
  const Allocation& on_one_node(int processes);

  const HalfNodes& nodes_;
  const ClusterView* view_ = nullptr;
  std::vector<std::optional<Allocation>> on_one_node_;  // by processes
};

}  // namespace replay::sharing
