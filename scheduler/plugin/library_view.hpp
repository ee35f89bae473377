// A view in the structs of replay_policy.hpp. Made anew for each pass in memory that is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/plugin/replay_policy.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay::plugin {

class LibraryView {
 public:
  /// Valid until the next call. O(waiting + running + nodes).
  const replay_view& of(const ClusterView& view);

  /// One more job, after of(): with all that it points to valid until the next call of either.
  [[nodiscard]] const replay_job& also(const Job& job);

 private:
  [[nodiscard]] replay_job job_of(const Job& job);
  void add_waiting(const ClusterView& view);
  void add_running(const ClusterView& view);

  replay_layout layout_ = replay_policy::detail::layout();
  replay_view view_{};
  std::vector<std::int32_t> free_on_node_;
  std::vector<replay_closed_node> closed_;
  std::vector<replay_job> jobs_;                  // the waiting ones, then the running ones, then one more
  std::vector<replay_declaration> declarations_;  // of those that declare something
  std::vector<replay_running> running_;
  std::vector<const replay_job*> waiting_at_;
  std::vector<const replay_running*> running_at_;
  std::vector<replay_trigger> triggers_;
};

}  // namespace replay::plugin
