// Properties of scojo-p for any jobs: each starts at a size that it offers, and never below the one that it was
// guaranteed while it was the head. The guarantee is computed here again: the target of the search, and the best of all
// options, now or at an end of what runs by its estimate.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/policy/moldable/head_size.hpp"
#include "scheduler/policy/plan/shadow.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

constexpr LoadAim kAim{.ideal = 0.9, .delta = 0.01, .most_worse = 2};

// Asks the policy, checks what it starts, and computes the guarantee of the head that is left waiting.
class Guarantees final : public Policy {
 public:
  explicit Guarantees(Policy& inner) : inner_(inner) {}

  void decide(const ClusterView& view, Decisions& out) override {
    inner_.decide(view, out);
    std::map<JobId, ProcessCount> starts;
    for (const Decision& decision : out)
      if (const auto* start = std::get_if<Start>(&decision)) starts[start->job] = start->allocation.processes;
    for (const auto& [id, size] : starts)
      if (const auto found = guaranteed_.find(id); found != guaranteed_.end()) RC_ASSERT(size >= found->second);
    guarantee_the_head(view, starts);
  }

 private:
  void guarantee_the_head(const ClusterView& view, const std::map<JobId, ProcessCount>& starts) {
    ClassQueue queue{Aging::kTop};
    queue.follow(view);
    if (is_without_news(view, queue)) return;
    CoreCount free = view.free.total();
    std::vector<Release> ends;
    for (const RunningJob* job : view.running.by_start())
      ends.push_back({std::max(job->estimated_end, view.now + Duration{1}), job->allocation.cores});
    std::vector<WaitingShare> waiting;
    for (const ClassedJob* job : queue.in_order()) {
      const auto start = starts.find(job->id);
      if (waiting.empty() && start != starts.end()) {  // not behind a head that waits
        const CoreCount cores = cores_needed(*job->job, start->second);
        free -= cores;
        ends.push_back({view.now + estimate_at(*job->job, start->second), cores});
        continue;
      }
      waiting.emplace_back(*job, view.machine.size(),
                           guaranteed_.contains(job->id) ? guaranteed_[job->id] : ProcessCount{0});
    }
    if (waiting.empty()) return;
    const ProcessCount size = best_size(view, waiting, free, ends);
    ProcessCount& known = guaranteed_[waiting.front().job().id];
    RC_ASSERT(size >= known);
    known = size;
  }

  // A timer for the promotion of a job that has started since.
  static bool is_without_news(const ClusterView& view, const ClassQueue& queue) {
    return std::ranges::all_of(view.triggers, [](const Trigger& t) { return t.kind == TriggerKind::kWake; }) &&
           std::ranges::none_of(queue.in_order(), [&](const ClassedJob* job) { return job->promotion == view.now; });
  }

  static ProcessCount best_size(const ClusterView& view, const std::vector<WaitingShare>& waiting, CoreCount free,
                                std::vector<Release> ends) {
    std::ranges::stable_sort(ends, {}, &Release::at);
    CoreCount running_cores = 0;
    for (const Release& end : ends) running_cores += end.cores;
    std::vector<const WaitingShare*> in_order;
    for (const WaitingShare& share : waiting) in_order.push_back(&share);
    const LoadView load{view.machine.size(), view.now, ends, running_cores, in_order, nullptr, Duration::zero()};
    const WaitingShare& head = waiting.front();
    const ProcessCount target = head.size_at(size_of_head(load, kAim).modifier);
    ends.push_back({view.now, 0});
    std::vector<std::tuple<Instant, Instant, ProcessCount>> options;  // its end, start, size
    for (const Release& option : ends) {
      CoreCount then = free;
      for (const Release& end : ends)
        if (end.at <= option.at) then += end.cores;
      const Job& job = head.job();
      const ProcessCount most = std::min(target, processes_on(job, then));
      for (ProcessCount size = std::max<ProcessCount>(head.guaranteed, 1); size <= most; ++size)
        if (offers(job, size)) options.emplace_back(option.at + estimate_at(job, size), option.at, size);
      if (most == target) options.emplace_back(option.at + estimate_at(job, target), option.at, target);
    }
    // The policy takes the largest size that fits then: on curves that fall a smaller one might be sooner over.
    std::map<Instant, std::tuple<Instant, Instant, ProcessCount>> largest;
    for (const auto& option : options) {
      auto& known = largest.try_emplace(std::get<1>(option), option).first->second;
      if (std::get<2>(known) < std::get<2>(option)) known = option;
    }
    std::vector<std::tuple<Instant, Instant, ProcessCount>> best;
    for (const auto& [start, option] : largest) best.push_back(option);
    return std::get<2>(*std::ranges::min_element(best));
  }

  Policy& inner_;
  std::map<JobId, ProcessCount> guaranteed_;
};

TEST(ScojoPProperties, EveryJobStartsAtASizeThatItOffersAndNotBelowItsGuarantee) {
  EXPECT_TRUE(rc::check([] {
    const CoreCount machine = *rc::gen::element(2, 4, 8, 13, 40);
    const int count = *rc::gen::inRange(1, 40);
    const std::vector<TracedJob> jobs = random_moldable_jobs(*rc::gen::arbitrary<std::uint64_t>(), count, machine);
    const NamedPolicy named = make_policy("scojo-p:predict=off");
    Guarantees checked{*named.policy};
    const MemoryLog log = simulate(checked, cores(machine), jobs, "rigid");
    std::map<JobId, Allocation> places;
    for (const log::Record& record : log.records())
      if (const auto* start = std::get_if<log::StartDecided>(&record.what)) places[start->job] = start->allocation;
    for (const TracedJob& traced : jobs) {
      RC_ASSERT(places.contains(traced.job.id));
      RC_ASSERT(offers(traced.job, processes_on(places[traced.job.id], traced.job.processes)));
    }
  }));
}

}  // namespace
}  // namespace replay::test
