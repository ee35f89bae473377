#include "scheduler/compare/measured_work.hpp"

#include <cmath>

namespace replay::compare {

using history::Phase;

void MeasuredWork::on_submit(Instant at, const history::JobState& job) {
  MeasuredJob& measured = jobs_[job.id].measured;
  measured.submitted = at;
  measured.processes = job.requested;
}

void MeasuredWork::on_change(Instant at, const history::Before& before, const history::JobState& job) {
  if (before.phase == Phase::kRunning) account(job.id, before.held, at);
  Followed& followed = jobs_.at(job.id);
  if (job.phase == Phase::kWaiting) followed.full = {}, followed.shared_us = 0;  // it starts anew
  followed.measured.processes = job.processes();
  followed.since = at;
  has_shared_cores_ = has_shared_cores_ || job.held.shareable;
}

void MeasuredWork::on_end(Instant at, const history::JobState& job, const JobEnd& end) {
  if (job.phase == Phase::kRunning) account(job.id, job.held, at);
  Followed& followed = jobs_.at(job.id);
  if (end.outcome == Outcome::kCompleted)
    followed.measured.work = followed.full + Duration{std::llround(followed.shared_us)};
}

const MeasuredJob* MeasuredWork::find(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second.measured;
}

void MeasuredWork::account(JobId id, const Allocation& on, Instant now) {
  Followed& job = jobs_.at(id);
  const double slowdown = slowdown_(id, on);
  if (slowdown == 1)
    job.full += now - job.since;
  else
    job.shared_us += static_cast<double>((now - job.since).count()) / slowdown;
}

}  // namespace replay::compare
