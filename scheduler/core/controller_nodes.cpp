// Part of Controller: nodes that are closed and opened, and jobs that wait because of it (docs/formats/nodes-csv.md).
#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/core/controller.hpp"
#include "scheduler/model/job_sizes.hpp"

namespace replay {

bool Controller::apply(const NodeChange& event) {
  const bool is_up = event.state == NodeState::kUp;
  if (is_up && cores_.planned().is_open(event.node)) return false;
  write<NodeChange>(event);
  is_up ? cores_.open(event.node) : cores_.close(event.node, event.until);
  running_.note_disturbance();
  triggers_.push_back({TriggerKind::kNodes});
  return true;
}

// After all node events of an instant.
void Controller::take_in_nodes() {
  const std::vector<RunningJob*> started(running_.by_start().begin(), running_.by_start().end());
  for (const RunningJob* job : started) {
    if (job->is_launched() || !cores_.planned().is_on_closed(job->allocation)) continue;
    write<log::Note>(
        fmt::format("job {} waits again: a node of it was closed before it was launched", number(job->job->id)));
    put_back(*jobs_.at(job->job->id).started);
  }
  follow_capacity();
  pin_or_release();
  if (!triggers_.empty() && pass_rule_ == PassRule::kEvent) pass();
}

bool Controller::apply(const Requeue& event) {
  Managed* const job = started(event.job);
  if (job == nullptr) return false;
  write<log::Requeued>(event.job, event.reason);
  put_back(*job);
  return true;
}

bool Controller::apply(const PutOff& event) {
  Managed* const job = started(event.job);
  if (job == nullptr) return false;
  write<log::Requeued>(event.job, event.reason);
  hold_back(take_back(*job));
  return true;
}

bool Controller::apply(const PutBack& event) {
  const Known* const known = jobs_.find(event.job);
  return known != nullptr && std::erase(held_back_, known->declared) > 0 && enter_queue(*known->declared);
}

const Job& Controller::take_back(Managed& job) {
  const Job& declared = *job.running->job;
  forget_start(job);
  jobs_.at(declared.id).started = nullptr;
  triggers_.push_back({TriggerKind::kFinish, &declared});
  return declared;
}

// At the least, where the policy can choose among sizes that fit the machine.
CoreCount Controller::needed(const Job& job) const {
  const CoreCount least = chooses_sizes_ ? cores_needed(job, size_near(job, 0, most_size(job))) : cores_needed(job);
  return least > machine_.size() ? cores_needed(job) : least;
}

void Controller::hold_back(const Job& job) {
  held_back_.insert(std::ranges::upper_bound(held_back_, std::tuple{job.submitted, job.id}, {},
                                             [](const Job* one) {
                                               return std::tuple{one->submitted, one->id};
                                             }),
                    &job);
}

bool Controller::enter_queue(const Job& job) {
  if (!cores_.planned().closed().empty() && needed(job) > cores_.planned().capacity(kEndOfPlans)) {
    hold_back(job);
    return false;
  }
  waiting_.insert(job);
  triggers_.push_back({TriggerKind::kSubmit, &job});
  return true;
}

// To the policy a job that is held back has left the queue.
void Controller::follow_capacity() {
  const CoreCount capacity = cores_.planned().capacity(kEndOfPlans);
  std::vector<const Job*> too_wide;
  for (const Job* job : waiting_)
    if (needed(*job) > capacity) too_wide.push_back(job);
  for (const Job* job : std::exchange(held_back_, {})) enter_queue(*job);
  for (const Job* job : too_wide) {
    waiting_.remove(*job);
    const auto is_its = [job](const Trigger& one) { return one.kind == TriggerKind::kSubmit && one.job == job; };
    if (std::erase_if(triggers_, is_its) == 0) triggers_.push_back({TriggerKind::kFinish, job});
    enter_queue(*job);
  }
}

void Controller::pin_or_release() {
  for (RunningJob* const job : running_.by_start()) {
    const bool is_pinned = cores_.planned().is_on_closed(job->allocation);
    if (is_pinned && job->is_malleable()) job->malleability = Malleability::kPinned;
    if (!is_pinned && job->is_pinned()) job->malleability = Malleability::kMalleable;
  }
}

std::string held_back_text(std::size_t jobs) {
  return counted(jobs, "job needs", "jobs need") + " more cores than are left: nodes are closed";
}

std::vector<JobId> Controller::cancel_held_back(Instant now) {
  now_ = std::max(now, now_);
  const CoreCount left = cores_.planned().capacity(kEndOfPlans);
  std::vector<JobId> ids;
  for (const Job* job : std::vector<const Job*>{held_back_}) {
    ids.push_back(job->id);
    apply(Finish{job->id, {Outcome::kCancelled, 0, Verification::kNone, -1, too_few_cores_text(needed(*job), left)}});
  }
  return ids;
}

std::vector<JobId> Controller::jobs_on(NodeId node) const {
  const CoreRange cores = machine_.cores_of(node);
  const auto is_there = [cores](const Allocation& on) {
    return std::ranges::any_of(on.named, [cores](const CoreLoad& load) { return cores.contains(load.core); });
  };
  std::vector<JobId> ids;
  for (const RunningJob* job : running_.by_start()) {
    const Holding& holding = jobs_.find(job->job->id)->started->holding;
    if (is_there(holding.cores()) || (!holds_cores(job->state) && job->is_launched() && is_there(holding.before())))
      ids.push_back(job->job->id);
  }
  return ids;
}

}  // namespace replay
