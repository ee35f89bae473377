// Properties of easy-malleable for any jobs: a head that has to wait starts no later than its first shadow time. The
// shadow is computed here again, in the plain way: the head gets all cores of each node except those that jobs still
// running by their estimates at t cannot give back.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

// Asks the policy, and computes the shadow of the head that is left waiting.
class Heads final : public Policy {
 public:
  Heads(Policy& inner, const RuntimeModel& model, int max_mpl) : inner_(inner), model_(model), max_mpl_(max_mpl) {}

  void decide(const ClusterView& view, Decisions& out) override {
    inner_.decide(view, out);
    const Job* const head = waiting_head(view, out);
    if (head != nullptr && !first_shadow.contains(head->id)) first_shadow[head->id] = shadow(*head, view, out);
  }

  std::map<JobId, Instant> first_shadow;

 private:
  using PerNode = std::vector<CoreCount>;
  struct Kept {
    Instant until;
    PerNode cores;
  };

  static const Job* waiting_head(const ClusterView& view, const Decisions& decided) {
    for (const Job* job : view.waiting)
      if (std::ranges::none_of(decided, [job](const Decision& decision) {
            const auto* start = std::get_if<Start>(&decision);
            return start != nullptr && start->job == job->id;
          }))
        return job;
    return nullptr;
  }

  static PerNode per_node(const Allocation& allocation, const Machine& machine, ProcessCount processes, int level) {
    if (!machine.names_cores()) return {std::min(allocation.cores, cores_at(processes, level))};
    PerNode cores(static_cast<std::size_t>(machine.nodes()), 0);
    for_each_node(allocation, machine, [&](const NodeShare& share) {
      cores[static_cast<std::size_t>(share.node)] =
          std::min(static_cast<CoreCount>(share.cores.size()), cores_at(share.processes, level));
    });
    return cores;
  }

  [[nodiscard]] Kept kept(const Job& job, const Allocation& on, bool malleable, Instant until,
                          const Machine& machine) const {
    return {until, per_node(on, machine, job.processes, malleable ? max_mpl_ : on.mpl)};
  }

  [[nodiscard]] Instant shadow(const Job& head, const ClusterView& view, const Decisions& decided) const {
    std::vector<Kept> all;
    std::map<JobId, const Allocation*> resized;
    for (const Decision& decision : decided) {
      if (const auto* resize = std::get_if<Resize>(&decision)) resized[resize->job] = &resize->allocation;
      const auto* start = std::get_if<Start>(&decision);
      if (start == nullptr) continue;
      const Job& job =
          **std::ranges::find_if(view.waiting, [start](const Job* waiting) { return waiting->id == start->job; });
      const Progress budget{job.estimate, view.now,
                            model_.rate(as_declared(job, start->allocation), start->allocation, {})};
      all.push_back(kept(job, start->allocation, job.can_shrink(), budget.end(), view.machine));
    }
    for (const RunningJob* running : view.running.by_start()) {
      if (running->is_gone_in_plan()) continue;
      const auto found = resized.find(running->job->id);
      Progress budget = running->budget;
      const Allocation& on = found == resized.end() ? running->allocation : *found->second;
      if (found != resized.end()) budget.change_rate(view.now, model_.rate(as_declared(*running->job, on), on, {}));
      all.push_back(kept(*running->job, on, running->is_malleable(), budget.end(), view.machine));
    }
    std::ranges::sort(all, {}, &Kept::until);
    for (const Kept& ends : all)
      if (fits(head, all, ends.until, view.machine)) return ends.until;
    return kNever;
  }

  [[nodiscard]] bool fits(const Job& head, const std::vector<Kept>& all, Instant at, const Machine& machine) const {
    const bool nodes = machine.names_cores();
    PerNode sizes;
    for (int node = 0; node < machine.nodes(); ++node) sizes.push_back(machine.cores_of(NodeId{node}).size());
    PerNode room = sizes;
    for (const Kept& job : all)
      if (job.until > at)
        for (std::size_t node = 0; node < room.size(); ++node) room[node] -= job.cores[node];
    const int level = head.can_shrink() ? max_mpl_ : 1;
    int places = 0;
    for (std::size_t node = 0; node < room.size(); ++node) {
      const int carried = room[node] * level;
      places += nodes ? std::min<int>(sizes[node], carried) : carried;
    }
    return places >= head.processes;
  }

  Policy& inner_;
  const RuntimeModel& model_;
  int max_mpl_;
};

struct MalleableExample {
  Machine machine;
  std::vector<TracedJob> jobs;
  int max_mpl;
  std::string policy;
  std::string model;
};

MalleableExample any_malleable_example(const rc::Gen<std::string>& machines, const std::string& estimate) {
  const Machine machine = Machine::parse(*machines);
  std::vector<TracedJob> jobs = *any_jobs(machine.size(), true);
  for (TracedJob& traced : jobs) {
    traced.truth.behaviour.network_overhead = *rc::gen::inRange(0, 100) / 100.0;
    traced.job.declared = traced.truth.behaviour;
  }
  const int max_mpl = *rc::gen::element(2, 2, 3, 4);
  return {machine, jobs, max_mpl,
          "easy-malleable:max_mpl=" + std::to_string(max_mpl) + estimate +
              ":criterion=" + *rc::gen::element<std::string>("oldest", "least-cpu-util", "longest", "shortest") +
              ":expand=" + *rc::gen::element<std::string>("queue-empty", "eager"),
          *rc::gen::element<std::string>("isolated", "utrera")};
}

void no_head_starts_after_its_first_shadow(const MalleableExample& example) {
  const NamedPolicy named = make_policy(example.policy);
  const auto model = make_runtime_model(example.model);
  Heads heads{*named.policy, *model, example.max_mpl};
  const MemoryLog log = simulate(heads, example.machine, example.jobs, example.model);
  for (const auto& [head, shadow] : heads.first_shadow) RC_ASSERT(log.start(head) <= shadow);
}

TEST(EasyMalleableProperties, OnAPoolNoHeadStartsAfterItsFirstShadow) {
  EXPECT_TRUE(rc::check([] {
    no_head_starts_after_its_first_shadow(
        any_malleable_example(rc::gen::element<std::string>("flat:2", "flat:4", "flat:8", "flat:13"), ""));
  }));
}

TEST(EasyMalleableProperties, OnNodesNoHeadStartsAfterItsFirstShadow) {
  EXPECT_TRUE(rc::check([] { no_head_starts_after_its_first_shadow(any_malleable_example(any_machine(), "")); }));
}

}  // namespace
}  // namespace replay::test
