// First come, first served: the head of the queue starts as soon as it fits, and no job overtakes it.

#include "scheduler/policy/rigid/fcfs.hpp"

#include "scheduler/policy/plan/hosting.hpp"

namespace replay {
namespace {

class Fcfs final : public Policy, public HostingBesideHead {
 public:
  void decide(const ClusterView& view, Decisions& out) override {
    CoreCount free = view.free.total();
    for (const Job* job : view.waiting) {
      if (cores_needed(*job) > free) return;
      free -= cores_needed(*job);
      out.emplace_back(Start{job->id, {cores_needed(*job), 1, {}}});
    }
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    return !view.waiting.empty() && view.waiting.head().id == job.id && cores_needed(job) <= view.free.total();
  }
};

std::unique_ptr<Policy> make_fcfs(const Parameters&) { return std::make_unique<Fcfs>(); }

}  // namespace

constinit const PolicyEntry kFcfsPolicy{"fcfs", "arrival order, no overtaking", "", {}, make_fcfs};

}  // namespace replay
