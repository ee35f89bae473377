// The schedule of the log itself: each job starts when its log says (Job::logged_start), on as many cores as it has
// processes. Nothing is decided here, so that what a site's own scheduler did can be read, drawn and compared as any run.
// A job without such an instant, which was cancelled while it waited, is never started. Jobs that take no time start one
// after the other at their instant, so that a machine that has room for the widest of them has it for all.

#include "scheduler/policy/rigid/logged.hpp"

#include <fmt/core.h>

#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

class Logged final : public Policy {
 public:
  Logged() : Policy({.follows_log = true}) {}

  void decide(const ClusterView& view, Decisions& out) override {
    for (const Trigger& trigger : view.triggers)
      if (trigger.kind == TriggerKind::kSubmit && trigger.job->logged_start != kNever)
        to_start_.push({trigger.job->logged_start, trigger.job->id, cores_needed(*trigger.job)});
    CoreCount free = view.free.total();
    for (; !to_start_.empty() && std::get<Instant>(to_start_.top()) <= view.now; to_start_.pop()) {
      const auto& [at, job, cores] = to_start_.top();
      if (at < view.now)
        throw PolicyError(
            fmt::format("logged: job {} starts at {} s in its log, and the machine of {} cores has no room",
                        number(job), to_text(at), view.machine.size()));
      if (cores > free) return;  // what ends at this instant asks for another pass
      free -= cores;
      out.emplace_back(Start{job, {cores, 1, {}}});
    }
    if (!to_start_.empty()) out.emplace_back(WakeAt{std::get<Instant>(to_start_.top())});
  }

 private:
  using Planned = std::tuple<Instant, JobId, CoreCount>;
  std::priority_queue<Planned, std::vector<Planned>, std::greater<>> to_start_;  // all of these wait
};

std::unique_ptr<Policy> make_logged(const Parameters&) { return std::make_unique<Logged>(); }

}  // namespace

constinit const PolicyEntry kLoggedPolicy{
    "logged", "the log's own schedule: each job starts when, and as wide as, the log says", "", {}, make_logged};

}  // namespace replay
