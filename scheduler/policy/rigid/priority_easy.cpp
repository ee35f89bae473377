// EASY over three classes: short jobs before medium before long ones, first come first served inside a class, with
// promotions (plan/class_queue.hpp). Each job runs at its submitted size; its class is that of its optimum size.
// Source: SCOJO-P paper, section 5.1, the traditional scheduler that it compares with.

#include "scheduler/policy/rigid/priority_easy.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/plan/shadow.hpp"

namespace replay {
namespace {

class PriorityEasy final : public Policy {
 public:
  explicit PriorityEasy(Aging aging) : aging_(aging), queue_(aging) {}

  void decide(const ClusterView& view, Decisions& out) override {
    queue_.follow(view);
    const std::span<const ClassedJob* const> queue = queue_.in_order();
    CoreCount free = view.free.total();
    std::vector<Release> started;
    const auto start = [&](const Job& job) {
      free -= job.processes;
      started.push_back({view.now + job.estimate, job.processes});
      out.emplace_back(Start{job.id, {job.processes, 1, {}}});
    };
    std::size_t next = 0;
    for (; next < queue.size() && queue[next]->job->processes <= free; ++next) start(*queue[next]->job);
    if (next < queue.size() && free > 0) {
      Shadow shadow = head_shadow(view, free, queue[next]->job->processes, started);
      for (++next; next < queue.size() && free > 0; ++next) {
        const Job& job = *queue[next]->job;
        if (job.processes > free) continue;
        const bool ends_in_time = view.now + job.estimate <= shadow.at;
        if (!ends_in_time && job.processes > shadow.extra) continue;
        if (!ends_in_time) shadow.extra -= job.processes;
        start(job);
      }
    }
    queue_.wake_for_promotion(out);
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    const CoreCount free = view.free.total();
    if (view.waiting.empty()) return free;
    const CoreCount head = head_of(view).processes;
    if (head <= free) return free - head;
    const Shadow shadow = head_shadow(view, free, head, {});
    return shadow.at >= until ? free : std::min(free, shadow.extra);
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    const CoreCount free = view.free.total();
    if (view.waiting.empty() || job.processes > free) return false;
    const Job& head = head_of(view);
    if (head.id == job.id) return true;
    if (head.processes <= free) return head.processes + job.processes <= free;
    const Shadow shadow = head_shadow(view, free, head.processes, {});
    return view.now + job.estimate <= shadow.at || job.processes <= shadow.extra;
  }

 private:
  // REQUIRES: a job waits.
  [[nodiscard]] const Job& head_of(const ClusterView& view) const {
    ClassQueue queue{aging_};
    queue.follow(view);
    return *queue.in_order().front()->job;
  }

  Aging aging_;
  ClassQueue queue_;
};

constexpr ParameterSpec kPriorityEasyParameters[] = {aging_parameter()};

std::unique_ptr<Policy> make_priority_easy(const Parameters& parameters) {
  return std::make_unique<PriorityEasy>(aging_of(parameters));
}

}  // namespace

constinit const PolicyEntry kPriorityEasyPolicy{
    "priority-easy", "EASY with short jobs before medium before long ones, and aging", "SCOJO-P paper, section 5.1",
    kPriorityEasyParameters, make_priority_easy};

}  // namespace replay
