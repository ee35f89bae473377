// The plan of a view that may differ from the last one: jobs may have ended, come, or been started by a wrapper since.
// For questions between passes, which must not change what is kept from pass to pass.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/policy/plan/availability.hpp"
#include "scheduler/policy/sharing/shared_cluster.hpp"

namespace replay::sharing {

class Outlook {
 public:
  explicit Outlook(SharedCluster& cluster) : cluster_(cluster), party_(cluster.slowdowns()) {}

  /// Brings it to the view. Cheap if nothing has changed since the last question or pass.
  void look(const ClusterView& view);
  /// A pass has changed what is kept.
  void forget() { seen_.reset(); }

  // After look():
  /// Nodes free, with running and waiting jobs.
  [[nodiscard]] const Availability& profile() const { return is_own_ ? cluster_.plan().profile() : profile_; }
  /// Whether the job's place in the plan begins now; a job that does not wait: whether it would delay none of those.
  [[nodiscard]] bool is_due(const ClusterView& view, const Job& job) const;

 private:
  [[nodiscard]] std::uint64_t sum_of(const ClusterView& view) const;
  [[nodiscard]] std::uint64_t own_sum() const;
  void plan(const ClusterView& view);
  void hold_running(const ClusterView& view, Releases& held);
  bool foresee(const Company& company, const ClusterView& view);

  SharedCluster& cluster_;
  Party party_;
  std::optional<std::uint64_t> seen_;  // what profile_ and due_ are for
  bool is_own_ = false;                // that is the plan of the last pass
  Availability profile_;
  std::vector<JobId> due_;
};

}  // namespace replay::sharing
