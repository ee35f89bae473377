// EASY backfilling. The head of the queue holds a promise: it starts no later than its shadow time. A later job may start
// now if it does not delay the head: it ends by the shadow time, or it fits into the extra nodes.
// Sources: Lifka 1995; Mu'alem and Feitelson 2001; the two criteria as in the slack-based backfilling paper, section 3.1.
// With pass=event it is, event for event, the scheduler that made the reference waits of four archive logs.

#include "scheduler/policy/backfill.hpp"

#include <algorithm>
#include <vector>

#include "scheduler/policy/shadow.hpp"

namespace replay {
namespace {

class Easy final : public Policy {
 public:
  explicit Easy(PassRule rule) : rule_(rule) {}

  PassRule pass_rule() const override { return rule_; }

  void decide(const ClusterView& view, Actions& out) override {
    if (view.waiting.empty()) return;
    CoreCount free = view.free.total();
    if (rule_ == PassRule::kEvent && arrival_cannot_start(view)) return;

    started_.clear();
    auto waiting = view.waiting.begin();
    const auto end = view.waiting.end();
    for (; waiting != end && (*waiting)->processes <= free; ++waiting) start(**waiting, view.now, free, out);
    if (waiting == end || free == 0) return;

    Shadow shadow = head_shadow(view, free, (*waiting)->processes, started_);
    for (++waiting; waiting != end && free > 0; ++waiting) {
      const Job& job = **waiting;
      if (job.processes > free) continue;
      const bool ends_in_time = view.now + job.estimate <= shadow.at;
      if (!ends_in_time && job.processes > shadow.extra) continue;
      if (!ends_in_time) shadow.extra -= job.processes;
      start(job, view.now, free, out);
    }
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override { return free_beside_head(view, until); }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    const CoreCount free = view.free.total();
    if (view.waiting.empty() || job.processes > free) return false;
    const Job& head = view.waiting.head();
    if (head.id == job.id) return true;
    if (head.processes <= free) return head.processes + job.processes <= free;
    const Shadow shadow = head_shadow(view, free, head.processes, {});
    return view.now + job.estimate <= shadow.at || job.processes <= shadow.extra;
  }

 private:
  // A submission asks for a pass only if the job that came fits (reference schedules, rule 2).
  static bool arrival_cannot_start(const ClusterView& view) {
    return view.triggers.size() == 1 && view.triggers[0].kind == TriggerKind::kSubmit &&
           view.triggers[0].job->processes > view.free.total();
  }

  void start(const Job& job, Instant now, CoreCount& free, Actions& out) {
    free -= job.processes;
    started_.push_back({now + job.estimate, job.processes});
    out.emplace_back(Start{job.id, {job.processes, 1, {}}});
  }

  PassRule rule_;
  std::vector<Release> started_;  // ends of the jobs started in this pass
};

}  // namespace

std::unique_ptr<Policy> make_easy(const Parameters& parameters) {
  return std::make_unique<Easy>(parameters.choice("pass") == "event" ? PassRule::kEvent : PassRule::kInstant);
}

}  // namespace replay
