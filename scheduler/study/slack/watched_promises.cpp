#include "scheduler/study/slack/watched_promises.hpp"

#include <variant>

#include "scheduler/policy/slack/slack_price.hpp"

namespace replay::study {

void WatchedPromises::decide(const ClusterView& view, Decisions& out) {
  const std::size_t before = out.size();
  slack_.decide(view, out);
  const Job* last = nullptr;
  for (const Trigger& trigger : view.triggers)
    if (trigger.kind == TriggerKind::kSubmit) last = trigger.job;
  if (last != nullptr) note_promise(*last, view.now);
  for (std::size_t i = before; i < out.size(); ++i) {
    const auto* start = std::get_if<Start>(&out[i]);
    if (start == nullptr) continue;
    const auto promised = latest_.find(start->job);
    if (promised == latest_.end()) continue;
    constexpr double kRounding = 1e-6;  // times are whole microseconds
    if (seconds(view.now) > promised->second + kRounding) ++broken_;
    latest_.erase(promised);
  }
}

void WatchedPromises::note_promise(const Job& job, Instant now) {
  const Instant planned =
      hosting_of(slack_).planned_start(job).value_or(now);  // no plan any more: it starts in this pass
  const double part = scheduler_priority(seconds(planned - now), average_wait_s_);
  const SlackOf first = slack_of(job.user_priority, job.political_priority, part, slack_factor_, average_wait_s_);
  latest_[job.id] = seconds(planned) + first.s0;
  ++watched_;
}

}  // namespace replay::study
