#include "tests/oracle/rigid_run.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace replay::oracle {

RigidRun::RigidRun(const Workload& workload)
    : workload_(workload), jobs_(workload.jobs), nodes_(workload), schedule_(workload.jobs.size()) {
  for (Job& job : jobs_)
    if (job.is_taken_back()) job.run_time = job.estimate();
}

Schedule RigidRun::run(PassRule rule, const std::function<Time(const Happened&)>& pass) {
  Time timer = kNever;
  for (Time next; (next = next_instant(timer)) != kNever;) {
    now_ = next;
    Happened happened;
    if (rule == PassRule::kInstant) {
      take_instant(happened);
    } else {
      // What starts now and takes no time ends in a batch of its own, after all the rest.
      static_cast<void>(take_nodes(happened) || take_back(happened, now_) || take_submission(happened) ||
                        take_end(happened, now_) || take_back(happened, kNever) || take_kill(happened) ||
                        take_extension() || take_end(happened, kNever));
      if (happened.is_hidden) continue;
    }
    for (Running& running : running_) {
      if (workload_.overrun == Overrun::kPolicy && running.estimated_end == now_)
        happened.at_estimate.push_back(running.job);
      happened.is_longer = happened.is_longer || running.counted < counted_end(running);
      happened.is_late = happened.is_late || (running.estimated_end <= now_ && now_ < counted_end(running));
      running.counted = counted_end(running);
    }
    timer = pass(happened);
  }
  for (const std::size_t held : held_) {
    schedule_[held].end = now_;
    schedule_[held].ending = Ending::kCancelled;
  }
  return schedule_;
}

void RigidRun::go_to_next_instant(Time timer) {
  now_ = next_instant(timer);
  Happened happened;
  take_instant(happened);
}

void RigidRun::take_instant(Happened& happened) {
  take_nodes(happened);
  while (take_back(happened, now_)) continue;
  while (take_end(happened, kNever) || take_kill(happened)) continue;
  while (take_submission(happened)) continue;
  while (take_back(happened, kNever)) continue;
  while (take_extension()) continue;
}

RigidRun RigidRun::as_estimated(const std::vector<std::size_t>& absent) const {
  RigidRun expected = *this;
  for (Job& job : expected.jobs_) {
    job.run_time = job.estimate();
    job.taken_back_after = -1;
  }
  for (Running& running : expected.running_) running.end = running.estimated_end = counted_end(running);
  for (const std::size_t job : absent) std::erase(expected.waiting_, job);
  expected.submitted_ = jobs_.size();
  return expected;
}

Time RigidRun::run_time(const Job& job) const {
  return workload_.cut_at_request && job.request > 0 ? std::min(job.run_time, job.request) : job.run_time;
}

Time RigidRun::next_instant(Time timer) const {
  Time next = std::min(timer, nodes_.next());
  if (submitted_ < jobs_.size()) next = std::min(next, jobs_[submitted_].submit);
  for (const Running& running : running_)
    next = std::min({next, running.end, running.estimated_end, taken_back_at(running.job)});
  for (const std::size_t waiting : waiting_) next = std::min(next, taken_back_at(waiting));
  if (next != kNever)
    for (const std::size_t held : held_) next = std::min(next, taken_back_at(held));
  return next;
}

Time RigidRun::taken_back_at(std::size_t index) const {
  return job(index).is_taken_back() ? job(index).submit + job(index).taken_back_after : kNever;
}

// "Of one instant, the rows count first." A job whose cores are gone is lost, even where it would end now.
bool RigidRun::take_nodes(Happened& happened) {
  std::vector<std::size_t> again;
  while (const auto change = nodes_.take(now_)) {
    happened.nodes_changed = true;
    happened.is_longer = happened.is_longer || change->is_later;
    if (change->is_down) lose(happened, again, change->node);
  }
  for (auto* const queue : {&held_, &waiting_})
    for (const std::size_t waiting : std::vector<std::size_t>(*queue)) {
      const bool is_to_wait = job(waiting).processes <= nodes_.ever();
      if (is_to_wait == (queue == &waiting_)) continue;
      std::erase(*queue, waiting);
      if (!is_to_wait) happened.left.push_back(waiting);
      wait(happened, waiting);
    }
  for (const std::size_t lost : again) wait(happened, lost);
  return happened.nodes_changed;
}

void RigidRun::lose(Happened& happened, std::vector<std::size_t>& again, std::size_t node) {
  for (const Running& lost : std::vector<Running>(running_)) {
    if (lost.cores[node] == 0) continue;
    happened.ended.push_back({lost.job, now_ < lost.counted});
    Span& span = schedule_[lost.job];
    if (workload_.requeues_lost) {
      span.lost.emplace_back(std::exchange(span.start, kNever), now_);
      again.push_back(lost.job);
    } else {
      span.end = now_;
      span.ending = Ending::kLost;
    }
    running_.erase(running(lost.job));
  }
}

// Or it is held back: "a job that needs more cores than will ever be there".
void RigidRun::wait(Happened& happened, std::size_t index) {
  if (job(index).processes > nodes_.ever()) {
    held_.push_back(index);
    return;
  }
  happened.submitted.push_back(index);
  waiting_.push_back(index);
  std::ranges::sort(waiting_, {}, [&](std::size_t i) { return std::pair{job(i).submit, job(i).number}; });
}

// By number. A job that ends by itself at that instant has ended; one whose start was decided at that instant never runs.
bool RigidRun::take_back(Happened& happened, Time submitted_before) {
  std::vector<std::size_t> due;
  for (const auto* const queue : {&waiting_, &held_})
    for (const std::size_t waiting : *queue)
      if (taken_back_at(waiting) == now_) due.push_back(waiting);
  for (const Running& running : running_)
    if (taken_back_at(running.job) == now_ && (running.end > now_ || running.is_killed)) due.push_back(running.job);
  std::erase_if(due, [&](std::size_t i) { return job(i).submit >= submitted_before; });
  const auto first = std::ranges::min_element(due, {}, [&](std::size_t i) { return job(i).number; });
  if (first == due.end()) return false;
  schedule_[*first].end = now_;
  schedule_[*first].ending = Ending::kCancelled;
  if (const auto found = running(*first); found != running_.end()) {
    if (found->start == now_) {
      schedule_[*first].start = kNever;
      schedule_[*first].cores.pop_back();
    }
    happened.ended.push_back({*first, now_ < found->counted});
    running_.erase(found);
  } else if (std::erase(waiting_, *first) > 0) {
    happened.left.push_back(*first);
  } else {
    std::erase(held_, *first);
    happened.is_hidden = true;
  }
  return true;
}

// Jobs that end by themselves, in the order of their starts.
bool RigidRun::take_end(Happened& happened, Time started_before) {
  return end(happened, std::ranges::find_if(running_, [&](const Running& r) {
               return r.end == now_ && !r.is_killed && r.start < started_before;
             }));
}

// A kill follows an estimate that has been reached.
bool RigidRun::take_kill(Happened& happened) {
  return end(happened, std::ranges::find_if(running_, [&](const Running& r) { return r.end == now_ && r.is_killed; }));
}

bool RigidRun::end(Happened& happened, std::vector<Running>::iterator found) {
  if (found == running_.end()) return false;
  happened.ended.push_back({found->job, now_ < found->counted});
  schedule_[found->job].end = now_;
  running_.erase(found);
  return true;
}

// Those of one instant by their numbers.
bool RigidRun::take_submission(Happened& happened) {
  if (submitted_ == jobs_.size() || jobs_[submitted_].submit > now_) return false;
  const auto first = std::ranges::lower_bound(jobs_, jobs_[submitted_].submit, {}, &Job::submit) - jobs_.begin();
  const auto last = std::ranges::upper_bound(jobs_, jobs_[submitted_].submit, {}, &Job::submit) - jobs_.begin();
  std::vector<std::size_t> together(static_cast<std::size_t>(last - first));
  std::iota(together.begin(), together.end(), static_cast<std::size_t>(first));
  std::ranges::sort(together, {}, [&](std::size_t i) { return job(i).number; });
  const std::size_t next = together[submitted_++ - static_cast<std::size_t>(first)];
  wait(happened, next);
  happened.is_hidden = happened.submitted.empty();
  return true;
}

// "By 10 % of the request", whatever size was chosen.
bool RigidRun::take_extension() {
  if (workload_.overrun == Overrun::kPolicy) return false;
  const auto found = std::ranges::find(running_, now_, &Running::estimated_end);
  if (found == running_.end()) return false;
  found->estimated_end += std::max(as_submitted(found->job).estimate() / 10, 60 * kSecond);
  return true;
}

// "With `extend` the job counts as ending in the next tick."
Time RigidRun::counted_end(const Running& running) const {
  return workload_.overrun == Overrun::kExtend ? std::max(running.estimated_end, now_ + 1) : running.estimated_end;
}

std::vector<Running> RigidRun::planned_running() const {
  std::vector<Running> planned = running_;
  for (Running& running : planned) running.estimated_end = counted_end(running);
  std::erase_if(planned, [&](const Running& running) { return running.estimated_end <= now_; });
  return planned;
}

std::vector<Use> RigidRun::uses(bool planned) const {
  std::vector<Use> uses;
  for (const Running& running : running_)
    if (!planned || counted_end(running) > now_ || workload_.overrun == Overrun::kPolicy)
      uses.push_back({running.cores, counted_end(running)});
  return uses;
}

Plan RigidRun::plan_of_running() const { return nodes_.plan(uses(false), now_); }

int RigidRun::idle_cores() const {
  const OnNodes free = nodes_.free(uses(false));
  return std::accumulate(free.begin(), free.end(), 0);
}

void RigidRun::start(std::size_t index) {
  const Job& job = this->job(index);
  if (plan_of_running().free_at(now_) < job.processes) throw std::logic_error("the oracle starts a job without room");
  waiting_.erase(std::ranges::find(waiting_, index));
  const bool killed = workload_.overrun == Overrun::kKill && run_time(job) > job.estimate();
  running_.push_back({index, now_, now_ + job.estimate(), now_ + (killed ? job.estimate() : run_time(job)), killed,
                      now_ + job.estimate(), spread(job.processes, nodes_.free(uses(true)))});
  schedule_[index].start = now_;
  schedule_[index].cores.push_back({now_, running_.back().cores});
}

void RigidRun::extend(std::size_t index, Time by) {
  running(index)->estimated_end += by;
  running(index)->counted = running(index)->estimated_end;
}

void RigidRun::kill(std::size_t index) {
  schedule_[index].end = now_;
  running_.erase(running(index));
}

std::vector<Running>::iterator RigidRun::running(std::size_t index) {
  return std::ranges::find(running_, index, &Running::job);
}

}  // namespace replay::oracle
