#include "scheduler/core/arrivals.hpp"

#include <algorithm>

namespace replay {

Arrivals::Arrivals(const Workload& workload) : workload_(workload), left_(workload.jobs.size()) {
  for (std::size_t i = 0; i < workload.jobs.size(); ++i)
    if (workload.jobs[i].follows) followers_[*workload.jobs[i].follows].push_back(i);
  skip_followers();
}

void Arrivals::skip_followers() {
  while (next_ < workload_.jobs.size() && workload_.jobs[next_].follows) ++next_;
}

Instant Arrivals::next() const {
  Instant next = next_ < workload_.jobs.size() ? workload_.jobs[next_].job.submitted : kNever;
  if (!released_.empty()) next = std::min(next, released_.top().at);
  return next;
}

const TracedJob* Arrivals::take(Instant now) {
  const bool from_file = next_ < workload_.jobs.size() && workload_.jobs[next_].job.submitted <= now;
  if (!released_.empty() && released_.top().at <= now &&
      (!from_file || released_.top() < Released{workload_.jobs[next_].job.submitted, next_})) {
    TracedJob job = workload_.jobs[released_.top().index];
    job.job.submitted = released_.top().at;
    released_.pop();
    --left_;
    return &resubmitted_.emplace_back(std::move(job));
  }
  if (!from_file) return nullptr;
  const TracedJob* job = &workload_.jobs[next_++];
  skip_followers();
  --left_;
  return job;
}

void Arrivals::on_end(JobId ended, Instant now) {
  const auto found = followers_.find(ended);
  if (found == followers_.end()) return;
  for (const std::size_t index : found->second) {
    const TracedJob& job = workload_.jobs[index];
    released_.push({std::max(job.job.submitted, now + job.think_time), index});
  }
  followers_.erase(found);
}

}  // namespace replay
