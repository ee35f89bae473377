// Greedy: in arrival order, or by class, each waiting job that fits starts at once, at the size of those that fit with the
// least run time, the smallest of several. No job reserves anything, so wide rigid jobs wait until the others leave room.
// The simplest policy that chooses sizes, and so the baseline of those that look ahead.

#include "scheduler/policy/moldable/greedy.hpp"

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/view/hosting.hpp"

namespace replay {
namespace {

class GreedyMoldable final : public Policy, public Hosting {
 public:
  explicit GreedyMoldable(bool by_class) : Policy({.chooses_sizes = true}), by_class_(by_class) {}

  void decide(const ClusterView& view, Decisions& out) override {
    CoreCount free = view.free.total();
    in_turn(view, queue_, [&](const Job& job) {
      if (const auto size = fastest_size(job, processes_on(job, free))) {
        const CoreCount cores = cores_needed(job, *size);
        free -= cores;
        out.emplace_back(Start{
            job.id, {.cores = cores, .mpl = 1, .named = {}, .processes = *size}, optimum_of(job, view.capacity())});
      }
      return free > 0;
    });
    if (by_class_) queue_.wake_for_promotion(out);
  }

  // The next end may make room for a waiting job that takes all that is free.
  CoreCount free_until(const ClusterView& view, Instant until) const override {
    const auto ends = view.running.by_estimated_end();
    const bool stays = view.waiting.empty() || ends.empty() || until <= ends.front()->estimated_end;
    return stays ? view.free.total() : CoreCount{0};
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    CoreCount free = view.free.total();
    bool starts = false;
    ClassQueue queue{Aging::kTop};
    in_turn(view, queue, [&](const Job& other) {
      const auto size = fastest_size(other, processes_on(other, free));
      free -= cores_needed(other, size.value_or(0));
      starts = other.id == job.id && size.has_value();
      return other.id != job.id;
    });
    return starts;
  }

 private:
  // Calls visit(job) for the waiting jobs in order while that returns true. `queue` is needed for the order by class only.
  template <class Visit>
  void in_turn(const ClusterView& view, ClassQueue& queue, Visit visit) const {
    if (!by_class_) {
      for (const Job* job : view.waiting)
        if (!visit(*job)) return;
      return;
    }
    queue.follow(view);
    for (const ClassedJob* entry : queue.in_order())
      if (!visit(*entry->job)) return;
  }

  bool by_class_;
  ClassQueue queue_{Aging::kTop};
};

constexpr ParameterSpec kGreedyMoldableParameters[] = {
    {"order", ParameterType::kChoice, "arrival", "arrival|class", "",
     "which job is asked first: by arrival, or short before medium before long ones as priority-easy has them", "ours"},
};

std::unique_ptr<Policy> make_greedy(const Parameters& parameters) {
  return std::make_unique<GreedyMoldable>(parameters.choice("order") == "class");
}

}  // namespace

constinit const PolicyEntry kGreedyMoldablePolicy{
    "greedy-moldable", "each waiting job in turn at its fastest size that is free; no reservation",
    "the baseline of SCOJO-P and Cirne-Berman here", kGreedyMoldableParameters, make_greedy};

}  // namespace replay
