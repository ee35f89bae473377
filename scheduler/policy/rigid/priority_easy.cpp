// EASY over three classes: short jobs before medium before long ones, first come first served inside a class, with
// promotions (plan/class_queue.hpp). Each job runs at its submitted size; its class is that of its optimum size.
// Source: SCOJO-P paper, section 5.1, the traditional scheduler that it compares with.

#include "scheduler/policy/rigid/priority_easy.hpp"

#include <vector>

#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/plan/easy_pass.hpp"
#include "scheduler/policy/plan/hosting.hpp"
#include "scheduler/policy/plan/shadow.hpp"

namespace replay {
namespace {

class PriorityEasy final : public Policy, public HostingBesideHead {
 public:
  explicit PriorityEasy(Aging aging) : aging_(aging), queue_(aging) {}

  void decide(const ClusterView& view, Decisions& out) override {
    queue_.follow(view);
    std::vector<Release> started;
    easy_pass(
        view.now, view.free.total(), queue_.in_order(),
        [](const ClassedJob* entry) { return submitted_shape(*entry->job); },
        [&](CoreCount free, CoreCount head) { return head_shadow(view, free, head, started); },
        [&](const ClassedJob* entry, Shape shape) {
          started.push_back({view.now + shape.time, shape.cores});
          out.emplace_back(Start{entry->id, {shape.cores, 1, {}}});
        });
    queue_.wake_for_promotion(out);
  }

 private:
  const Job& head_of(const ClusterView& view) const override { return head_by_class(view, aging_); }

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
