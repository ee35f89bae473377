// Whose rate has to be asked for again when a job's processes come to cores, move or leave them: its own, and those of
// the jobs that are on the same cores or, where the runtime model looks at them, on the same nodes. The simulator follows
// the true rates with it, the controller and the comparison of runs the declared ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/runtime_model/shared_cores.hpp"

namespace replay {

/// Each `ask` is called as ask(JobId, const Allocation& on, const Surroundings&): the caller asks its runtime model for
/// the rate of that job there, and sets it.
class SharedRates {
 public:
  /// `machine` must outlive this. `looks_at_nodes`: RuntimeModel::looks_at_nodes().
  SharedRates(const Machine& machine, bool looks_at_nodes)
      : machine_(machine.names_cores() ? &machine : nullptr),
        looks_at_nodes_(looks_at_nodes && machine.names_cores()) {}

  /// Whether other jobs may change the rate of a job on this allocation.
  [[nodiscard]] bool watches(const Allocation& on) const {
    return on.shareable || (looks_at_nodes_ && !on.named.empty());
  }

  /// The processes of `job` are on these cores now. Asks for the job and, if others may change its rate, for those that
  /// it meets there. REQUIRES: it is on no watched cores yet, and of those that it may share each has at most one other job.
  template <class Ask>
  void come(const ModelledJob& job, const Allocation& on, Ask ask) {
    if (!watches(on)) {
      ask(job.id, on, Surroundings{.machine = machine_});
      return;
    }
    sharers_.add(job.id) = {job, on};
    if (on.shareable) cores_.enter(job.id, on, job.behaviour.cpu_use);
    if (looks_at_nodes_) enter_nodes(job.id, on);
    ask_for(job.id, ask);
    for (const JobId neighbour : neighbours(job.id, on)) ask_for(neighbour, ask);
  }

  /// They leave the cores to which they came. Asks for the neighbours and leaves the job's own rate to the caller.
  /// Nothing happens if the job is on no watched cores.
  template <class Ask>
  void leave(JobId job, Ask ask) {
    if (sharers_.empty()) return;  // as in every run in which no policy shares cores
    std::vector<JobId> met;
    sharers_.take_out(job, [&](const Sharer& sharer) {
      met = neighbours(job, sharer.on);
      if (sharer.on.shareable) cores_.leave(job, sharer.on);
      if (looks_at_nodes_) leave_nodes(job, sharer.on);
    });
    for (const JobId neighbour : met) ask_for(neighbour, ask);
  }

 private:
  struct Sharer {
    ModelledJob job{};
    Allocation on{};
  };

  void enter_nodes(JobId job, const Allocation& on) {
    for_each_node(on, *machine_, [&](const NodeShare& share) {
      const auto node = static_cast<std::size_t>(share.node);
      if (node >= nodes_.size()) nodes_.resize(node + 1);
      if (std::ranges::find(nodes_[node], job) == nodes_[node].end()) nodes_[node].push_back(job);
    });
  }
  void leave_nodes(JobId job, const Allocation& on) {
    for_each_node(on, *machine_,
                  [&](const NodeShare& share) { std::erase(nodes_[static_cast<std::size_t>(share.node)], job); });
  }

  // The other jobs on its cores or nodes, each once.
  [[nodiscard]] std::vector<JobId> neighbours(JobId job, const Allocation& on) const {
    if (!looks_at_nodes_) return cores_.neighbours(job, on);
    std::vector<JobId> found;
    for_each_node(on, *machine_, [&](const NodeShare& share) {
      for (const JobId other : nodes_[static_cast<std::size_t>(share.node)])
        if (other != job && std::ranges::find(found, other) == found.end()) found.push_back(other);
    });
    return found;
  }

  template <class Ask>
  void ask_for(JobId job, Ask& ask) {
    const Sharer& sharer = sharers_.at(job);
    Surroundings around{.machine = machine_};
    if (sharer.on.shareable) around.demand = cores_.demand(job, sharer.on, sharer.job.behaviour.cpu_use);
    std::vector<const ModelledJob*> others;
    if (looks_at_nodes_)
      for (const JobId other : neighbours(job, sharer.on)) others.push_back(&sharers_.at(other).job);
    around.on_its_nodes = others;
    ask(job, sharer.on, around);
  }

  const Machine* machine_;  // null on a pool
  bool looks_at_nodes_;
  SharedCores cores_;
  std::vector<std::vector<JobId>> nodes_;  // the watched jobs of each node
  JobMap<Sharer> sharers_;                 // the watched jobs
};

}  // namespace replay
