#include "scheduler/audit/state.hpp"

#include <algorithm>

namespace replay::audit {

State::State(const std::vector<Job>& jobs, CoreCount machine_size)
    : jobs_(jobs),
      machine_size_(machine_size),
      free_(machine_size),
      estimated_ends_(jobs.size(), kNever),
      is_running_(jobs.size(), 0) {}

void State::advance_to(Instant now) {
  now_ = now;
  for (auto next = holding_.begin(); next != holding_.end() && next->first <= now;) {
    const auto [end, index] = *next++;
    if (jobs_[index].ended <= now) release(index);
  }
}

bool State::has_overrun() const { return !holding_.empty() && holding_.begin()->first <= now_; }

void State::start(Index index) {
  waiting_.erase(index);
  is_running_[index] = 1;
  hold(index, std::min(now_, jobs_[index].since) + jobs_[index].estimate);
}

void State::undo_start(Index index) {
  end(index);
  estimated_ends_[index] = kNever;
  waiting_.insert(index);
}

void State::end(Index index) {
  release(index);
  is_running_[index] = 0;
}

void State::set_started(Index index, Instant started) {
  release(index);
  hold(index, started + jobs_[index].estimate);
}

void State::hold(Index index, Instant estimated_end) {
  estimated_ends_[index] = estimated_end;
  holding_.emplace(estimated_end, index);
  free_ -= jobs_[index].processors;
}

void State::release(Index index) {
  if (holding_.erase({estimated_ends_[index], index}) > 0) free_ += jobs_[index].processors;
}

}  // namespace replay::audit
