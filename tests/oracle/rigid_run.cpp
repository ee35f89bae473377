#include "tests/oracle/rigid_run.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace replay::oracle {

RigidRun::RigidRun(const Workload& workload) : workload_(workload), schedule_(workload.jobs.size()) {}

Schedule RigidRun::run(PassRule rule, const std::function<Time(const Happened&)>& pass) {
  Time timer = kNever;
  while ((now_ = next_instant(timer)) != kNever) {
    Happened happened;
    if (rule == PassRule::kInstant) {
      while (take_end(happened)) continue;
      while (take_submission(happened)) continue;
      while (take_extension(happened)) continue;
    } else {
      static_cast<void>(take_submission(happened) || take_end(happened) || take_extension(happened));
    }
    timer = pass(happened);
  }
  return schedule_;
}

Time RigidRun::run_time(const Job& job) const {
  const Time truth = workload_.cut_at_request && job.request > 0 ? std::min(job.run_time, job.request) : job.run_time;
  return workload_.overrun == Overrun::kExtend ? truth : std::min(truth, job.estimate());
}

Time RigidRun::next_instant(Time timer) const {
  Time next = timer;
  if (submitted_ < workload_.jobs.size()) next = std::min(next, workload_.jobs[submitted_].submit);
  for (const Running& running : running_) next = std::min({next, running.end, running.estimated_end});
  return next;
}

bool RigidRun::take_end(Happened& happened) {
  const auto found = std::ranges::find(running_, now_, &Running::end);
  if (found == running_.end()) return false;
  happened.ended.push_back({found->job, now_ < found->estimated_end});
  schedule_[found->job].end = now_;
  running_.erase(found);
  return true;
}

bool RigidRun::take_submission(Happened& happened) {
  if (submitted_ == workload_.jobs.size() || workload_.jobs[submitted_].submit > now_) return false;
  happened.submitted.push_back(submitted_);
  waiting_.push_back(submitted_++);
  std::ranges::stable_sort(waiting_, {}, [&](std::size_t i) { return std::pair{job(i).submit, job(i).number}; });
  return true;
}

bool RigidRun::take_extension(Happened& happened) {
  const auto found = std::ranges::find(running_, now_, &Running::estimated_end);
  if (found == running_.end()) return false;
  found->estimated_end += std::max(job(found->job).estimate() / 10, 60 * kSecond);
  happened.extended.push_back(found->job);
  return true;
}

std::vector<Running> RigidRun::planned_running() const {
  std::vector<Running> planned = running_;
  // With `extend` it counts as ending in the next tick.
  if (workload_.overrun == Overrun::kExtend)
    for (Running& running : planned) running.estimated_end = std::max(running.estimated_end, now_ + 1);
  std::erase_if(planned, [&](const Running& running) { return running.estimated_end <= now_; });
  return planned;
}

Plan RigidRun::plan_of_running() const {
  Plan plan{cores()};
  for (const Running& running : planned_running()) plan.put(job(running.job).processes, now_, running.estimated_end);
  return plan;
}

void RigidRun::start(std::size_t index) {
  const Job& job = this->job(index);
  if (plan_of_running().free_at(now_) < job.processes) throw std::logic_error("the oracle starts a job without room");
  waiting_.erase(std::ranges::find(waiting_, index));
  running_.push_back({index, now_, now_ + job.estimate(), now_ + run_time(job)});
  schedule_[index].start = now_;
}

}  // namespace replay::oracle
