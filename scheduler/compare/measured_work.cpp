#include "scheduler/compare/measured_work.hpp"

#include <fmt/core.h>

#include <cmath>

#include "scheduler/base/error.hpp"

namespace replay::compare {

struct MeasuredWork::OnRecord {
  MeasuredWork& self;
  Instant at;

  void operator()(const log::Submitted& what) {
    Followed& job = self.jobs_[static_cast<std::int64_t>(what.job.id)];
    job.measured.submitted = at;
    job.id = what.job.id;
    job.measured.processes = what.job.processes;
  }
  void operator()(const log::Launched& what) { start(what.job, what.allocation); }
  void operator()(const log::ResizeDone& what) {
    Followed& job = self.job(what.job);
    if (job.on_cores) self.account(job, at);
    move(job, what.allocation);
  }
  void operator()(const log::SuspendDone& what) {
    Followed& job = self.job(what.job);
    self.account(job, at);
    job.on_cores = false;
  }
  void operator()(const log::ResumeDone& what) {
    Followed& job = self.job(what.job);
    job.on_cores = true;
    job.since = at;
  }
  void operator()(const log::Finished& what) {
    Followed& job = self.job(what.job);
    if (job.on_cores) self.account(job, at);
    job.on_cores = false;
    if (what.end.outcome == Outcome::kCompleted) job.measured.work = job.full + Duration{std::llround(job.shared_us)};
  }
  template <class Other>
  void operator()(const Other&) {}

 private:
  void start(JobId id, const Allocation& allocation) {
    Followed& job = self.job(id);
    job.measured.processes = processes_on(allocation, job.measured.processes);
    move(job, allocation);
    job.on_cores = true;
    job.since = at;
  }
  void move(Followed& job, const Allocation& allocation) {
    job.on = allocation;
    self.has_shared_cores_ = self.has_shared_cores_ || allocation.shareable;
  }
};

void MeasuredWork::record(const log::Record& record) { std::visit(OnRecord{*this, record.at}, record.what); }

const MeasuredJob* MeasuredWork::find(JobId id) const {
  const auto found = jobs_.find(static_cast<std::int64_t>(id));
  return found == jobs_.end() ? nullptr : &found->second.measured;
}

MeasuredWork::Followed& MeasuredWork::job(JobId id) {
  const auto found = jobs_.find(static_cast<std::int64_t>(id));
  if (found == jobs_.end())
    throw InputError(
        fmt::format("the event log has a record of job {}, which was never submitted", static_cast<std::int64_t>(id)));
  return found->second;
}

void MeasuredWork::account(Followed& job, Instant now) const {
  const double slowdown = slowdown_(job.id, job.on);
  if (slowdown == 1)
    job.full += now - job.since;
  else
    job.shared_us += static_cast<double>((now - job.since).count()) / slowdown;
  job.since = now;
}

}  // namespace replay::compare
