#include "scheduler/metrics/row_keeper.hpp"

#include <algorithm>

namespace replay::metrics {
namespace {

using history::Phase;

// Integrals over time are kept as sums of instants, with the sign of the end that they are.
void enter_cores(JobRow& row, Instant at) { row.mpl_time -= at.time_since_epoch().count() * row.mpl; }
void leave_cores(JobRow& row, Instant at) { row.mpl_time += at.time_since_epoch().count() * row.mpl; }

void set_waiting(JobRow& row, const history::JobState& job) {
  row.job = job.id;
  row.submitted = job.submitted;
  row.runtime = job.runtime;
  row.estimate = job.estimate;
  row.processes = job.requested;
  row.user = job.user;
  row.group = job.group;
  row.queue = job.queue;
  row.executable = job.executable;
  row.flexibility = job.flexibility;
}

}  // namespace

void RowKeeper::on_submit(Instant /*at*/, const history::JobState& job) { set_waiting(add(job), job); }

void RowKeeper::on_change(Instant at, const history::Before& before, const history::JobState& job) {
  JobRow& row = row_of(job);
  if (job.phase == Phase::kWaiting) return requeue(row, job);
  row.is_suspended = job.phase == Phase::kSuspended;
  if (before.phase == Phase::kRunning) leave_cores(row, at);
  if (row.is_suspended) row.suspended -= at.time_since_epoch();  // a resume or the end completes it
  if (before.phase == Phase::kSuspended) row.suspended += at.time_since_epoch();
  if (before.phase == Phase::kWaiting) {
    row.launched = at;
    row.first_cores = job.held.cores;
  } else if (before.phase == job.phase) {
    row.shrinks += job.held.cores < before.held.cores ? 1 : 0;
    row.expands += job.held.cores > before.held.cores ? 1 : 0;
  }
  row.last_cores = job.held.cores;
  row.most_cores = std::max(row.most_cores, row.last_cores);
  row.mpl = job.held.mpl;
  if (job.phase == Phase::kRunning) enter_cores(row, at);
}

// Of the run that is over, only what was lost is kept.
void RowKeeper::requeue(JobRow& row, const history::JobState& job) {
  JobRow anew;
  set_waiting(anew, job);
  anew.requeues = row.requeues + 1;
  anew.lost_core_seconds = row.lost_core_seconds + job.core_seconds;
  row = anew;
  texts_.forget_rigid(job.id);
}

void RowKeeper::on_end(Instant at, const history::JobState& job, const JobEnd& end) {
  JobRow& row = row_of(job);
  if (job.phase == Phase::kRunning) leave_cores(row, at);
  if (row.is_suspended) row.suspended += at.time_since_epoch();
  row.is_suspended = false;
  row.finished = at;
  row.outcome = end.outcome;
  if (end.outcome == Outcome::kLost) row.lost_core_seconds += job.core_seconds;
  row.exit_code = end.exit_code;
  row.verification = end.verification;
  row.cpu_use = end.cpu_use;
  if (!end.reason.empty()) texts_.set_reason(job.id, end.reason);
  ended(row);
}

void RowKeeper::on_record(const log::Record& record, const history::JobState* job) {
  const auto& seen = std::get<log::RanksSeen>(record.what);
  if (seen.malleable)
    texts_.forget_rigid(seen.job);
  else
    texts_.set_rigid(seen.job, seen.reason);
  row_of(*job).flexibility = job->flexibility;
}

}  // namespace replay::metrics
