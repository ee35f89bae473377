#include "scheduler/core/arrivals.hpp"

#include <algorithm>

namespace replay {

Arrivals::Arrivals(const Workload& workload)
    : workload_(workload), has_followers_(workload.jobs.follow_others()), left_(workload.jobs.size()) {
  for (std::size_t i = 0; has_followers_ && i < workload.jobs.size(); ++i)
    if (const auto follows = workload.jobs.follows(i)) followers_[*follows].push_back(i);
  skip_followers();
}

void Arrivals::skip_followers() {
  while (has_followers_ && next_ < workload_.jobs.size() && workload_.jobs.follows(next_)) ++next_;
  next_at_ = next_ < workload_.jobs.size() ? workload_.jobs.submitted(next_) : kNever;
}

TracedJob& Arrivals::add(std::size_t index) {
  --left_;
  return jobs_.add(workload_.jobs.id(index), [this, index](TracedJob& job) { workload_.jobs.get(index, job); });
}

const TracedJob* Arrivals::take(Instant now) {
  const bool from_file = next_at_ <= now && next_at_ != kNever;
  if (!released_.empty() && released_.top().at <= now && (!from_file || released_.top() < Released{next_at_, next_})) {
    TracedJob& job = add(released_.top().index);
    job.job.submitted = released_.top().at;
    released_.pop();
    note_cancel(job);
    return &job;
  }
  if (!from_file) return nullptr;
  const TracedJob& job = add(next_++);
  skip_followers();
  note_cancel(job);
  return &job;
}

void Arrivals::note_cancel(const TracedJob& job) {
  if (job.cancelled_after) taken_back_.push({job.job.submitted + *job.cancelled_after, job.job.id});
}

std::optional<JobId> Arrivals::find_cancel(Instant now) {
  while (!taken_back_.empty() && taken_back_.top().at <= now) {
    const JobId job = taken_back_.top().job;
    taken_back_.pop();
    if (jobs_.find(job) != nullptr && std::ranges::find(ended_, job) == ended_.end()) return job;
  }
  return std::nullopt;
}

void Arrivals::on_end(JobId ended, Instant now) {
  ended_.push_back(ended);
  if (followers_.empty()) return;
  const auto found = followers_.find(ended);
  if (found == followers_.end()) return;
  for (const std::size_t index : found->second) {
    const TracedJob job = workload_.jobs[index];
    released_.push({std::max(job.job.submitted, now + job.think_time), index});
  }
  followers_.erase(found);
}

void Arrivals::forget_ended() {
  for (const JobId ended : ended_) jobs_.release(ended);
  ended_.clear();
}

}  // namespace replay
