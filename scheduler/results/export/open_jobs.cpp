#include "scheduler/results/export/open_jobs.hpp"

#include <fmt/core.h>

#include "scheduler/base/error.hpp"

namespace replay::results {

struct OpenJobs::OnRecord {
  JobMap<OpenJob>& jobs;
  Instant at;

  void operator()(const log::Submitted& what) const {
    if (jobs.find(what.job.id) != nullptr)
      throw InputError(fmt::format("event log: job {} is submitted twice", number(what.job.id)));
    OpenJob& job = jobs.add(what.job.id);
    job.submitted = at;
    job.estimate = what.job.estimate;
    job.runtime = what.truth.runtime;
    job.requested = what.job.processes;
    job.user = what.job.user;
    job.group = what.job.group;
    job.queue = what.job.queue;
    job.program = what.truth.executable;
  }
  void operator()(const log::StartDecided& what) const {
    if (OpenJob* const job = jobs.find(what.job)) job->optimal = what.choice.optimal;
  }
  void operator()(const log::Launched& what) const {
    OpenJob* const job = jobs.find(what.job);
    if (job == nullptr) return;
    job->launched = at;
    job->cores = what.allocation.cores;
  }
  void operator()(const log::ResizeDone& what) const {
    if (OpenJob* const job = jobs.find(what.job)) job->cores = what.allocation.cores;
  }
  void operator()(const ClassAssigned& what) const {
    if (OpenJob* const job = jobs.find(what.job)) job->job_class = what.job_class;
  }
  void operator()(const log::Finished& what) const { jobs.erase_if_there(what.job); }
};

void OpenJobs::record(const log::Record& record) { log::visit(OnRecord{jobs_, record.at}, record.what); }

log::Kinds OpenJobs::kinds() const { return log::kinds_of<OnRecord>(); }

}  // namespace replay::results
