// Cirne-Berman: a job chooses its size when it is submitted, the one with which its response is least if no other job
// comes and all take as long as estimated, and keeps it. Each job looks after itself; jobs of higher priority that come
// later can spoil its choice. The schedule itself is that of priority-easy or of conservative backfilling over the
// chosen sizes.
// Source: Cirne and Berman 2003, as the SCOJO-P paper compares with it (section 3): all sizes from the least to the most,
// EASY over classes. We add the base `conservative`, where no simulation is needed, and `max=opt`, which tries no size
// above the optimum.

#include "scheduler/policy/moldable/cirne_berman.hpp"

#include <algorithm>
#include <vector>

#include "scheduler/model/job_map.hpp"
#include "scheduler/policy/moldable/best_response.hpp"
#include "scheduler/policy/moldable/easy_future.hpp"
#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/plan/easy_pass.hpp"
#include "scheduler/policy/plan/hosting.hpp"
#include "scheduler/policy/plan/shadow.hpp"
#include "scheduler/policy/rigid/conservative.hpp"

namespace replay {
namespace {

enum class MostTried : std::uint8_t { kFull, kOptimum };

ProcessCount most_tried(const Job& job, CoreCount machine, MostTried most) {
  const ProcessCount full = processes_on(job, machine);
  return most == MostTried::kFull ? full : size_near(job, optimum_size(job, machine), full);
}

class CirneOverEasy final : public Policy, public HostingBesideHead {
 public:
  CirneOverEasy(Aging aging, MostTried most)
      : Policy({.chooses_sizes = true}), aging_(aging), most_(most), queue_(aging), future_(aging) {}

  void decide(const ClusterView& view, Decisions& out) override {
    for (const Trigger& trigger : view.triggers)
      if (trigger.kind == TriggerKind::kFinish) chosen_.erase_if_there(trigger.job->id);
    queue_.follow(view);
    choose_sizes(view);
    std::vector<Release> started;
    easy_pass(
        view.now, view.free.total(), queue_.in_order(), [this](const ClassedJob* job) { return shape_of(*job->job); },
        [&](CoreCount free, CoreCount head) { return head_shadow(view, free, head, started); },
        [&](const ClassedJob* job, Shape shape) {
          started.push_back({view.now + shape.time, shape.cores});
          out.emplace_back(Start{job->id,
                                 {.cores = shape.cores, .mpl = 1, .named = {}, .processes = shape.processes},
                                 optimum_of(*job->job, view.capacity())});
        });
    queue_.wake_for_promotion(out);
  }

 private:
  // The submitted one before it has chosen.
  Shape shape_of(const Job& job) const override {
    const Shape* const chosen = chosen_.find(job.id);
    return chosen != nullptr ? *chosen : submitted_shape(job);
  }

  // In the order of the numbers: a job knows the sizes of those before it, and nothing of those after it.
  void choose_sizes(const ClusterView& view) {
    std::vector<const ClassedJob*> fresh;
    for (const ClassedJob* job : queue_.in_order()) {
      const Shape* const chosen = chosen_.find(job->id);
      if (chosen != nullptr && chosen->cores > view.capacity()) chosen_.erase(job->id);  // nodes are closed since then
      if (chosen_.find(job->id) == nullptr) fresh.push_back(job);
    }
    if (fresh.empty()) return;
    std::ranges::sort(fresh, {}, &ClassedJob::id);
    future_.begin(view);
    for (const ClassedJob* job : queue_.in_order())
      if (const Shape* const chosen = chosen_.find(job->id)) future_.add(*job, *chosen);
    for (const ClassedJob* job : fresh) {
      const CoreCount machine = view.capacity();
      future_.submit(*job);
      const Shape shape =
          best_response(*job->job, view.now, most_tried(*job->job, machine, most_),
                        [this](Shape tried, Instant before) { return future_.start_with(tried, before); });
      future_.add(*job, shape);
      chosen_.add(job->id) = shape;
    }
  }

  const Job& head_of(const ClusterView& view) const override { return head_by_class(view, aging_); }

  Aging aging_;
  MostTried most_;
  ClassQueue queue_;
  EasyFuture future_;
  JobMap<Shape> chosen_;  // until the job ends
};

std::unique_ptr<Policy> over_conservative(MostTried most) {
  return make_conservative([most](const Job& job, Instant now, CoreCount machine, const EarliestHole& earliest) {
    return best_response(job, now, most_tried(job, machine, most),
                         [&](Shape tried, Instant /*before*/) { return earliest(tried); });
  });
}

constexpr ParameterSpec kCirneBermanParameters[] = {
    {"base", ParameterType::kChoice, "easy", "easy|conservative", "",
     "the schedule over the chosen sizes: that of priority-easy, or of conservative backfilling in the order of "
     "arrival",
     "SCOJO-P paper, section 3; Cirne and Berman 2003"},
    {"max", ParameterType::kChoice, "full", "full|opt", "",
     "the largest size that is tried: the largest that the job offers, or its optimum size",
     "full: SCOJO-P paper, section 3; opt is ours"},
    aging_parameter(),
};

std::unique_ptr<Policy> make_cirne_berman(const Parameters& parameters) {
  const auto most = parameters.choice<MostTried>("max", {{"full", MostTried::kFull}, {"opt", MostTried::kOptimum}});
  if (parameters.choice("base") == "conservative") return over_conservative(most);
  return std::make_unique<CirneOverEasy>(aging_of(parameters), most);
}

}  // namespace

constinit const PolicyEntry kCirneBermanPolicy{
    "cirne-berman", "each job chooses at submission the size with which it would be over first, and keeps it",
    "Cirne and Berman 2003; SCOJO-P paper, section 3", kCirneBermanParameters, make_cirne_berman};

}  // namespace replay
