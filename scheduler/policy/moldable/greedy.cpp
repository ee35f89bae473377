// Greedy: in arrival order each waiting job that fits starts at once, at the size of those that fit with the least run
// time, the smallest of several. No job reserves anything, so wide rigid jobs wait until the others leave them room.
// The simplest policy that chooses sizes, and so the baseline of those that look ahead.

#include "scheduler/policy/moldable/greedy.hpp"

#include "scheduler/model/job_sizes.hpp"

namespace replay {
namespace {

class GreedyMoldable final : public Policy {
 public:
  void decide(const ClusterView& view, Decisions& out) override {
    CoreCount free = view.free.total();
    for (const Job* job : view.waiting) {
      if (free == 0) return;
      const auto size = fastest_size(*job, free);
      if (!size) continue;
      free -= *size;
      out.emplace_back(Start{job->id, {.cores = *size, .mpl = 1, .named = {}, .shareable = false, .processes = *size}});
    }
  }

  // The next end may make room for a waiting job that takes all that is free.
  CoreCount free_until(const ClusterView& view, Instant until) const override {
    const auto ends = view.running.by_estimated_end();
    const bool stays = view.waiting.empty() || ends.empty() || until <= ends.front()->estimated_end;
    return stays ? view.free.total() : 0;
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    CoreCount free = view.free.total();
    for (const Job* other : view.waiting) {
      const auto size = fastest_size(*other, free);
      if (other->id == job.id) return size.has_value();
      free -= size.value_or(0);
    }
    return false;
  }
};

std::unique_ptr<Policy> make_greedy(const Parameters&) { return std::make_unique<GreedyMoldable>(); }

}  // namespace

constinit const PolicyEntry kGreedyMoldablePolicy{
    "greedy-moldable",
    "arrival order, each job at its fastest size that is free; no reservation",
    "the baseline of SCOJO-P and Cirne-Berman here",
    {},
    make_greedy};

}  // namespace replay
