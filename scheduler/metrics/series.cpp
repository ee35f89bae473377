#include "scheduler/metrics/series.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::metrics {

// A job is in one phase at a time; each record takes it out of one and into another.
struct Series::OnRecord {
  Series& series;
  Instant at;

  void operator()(const log::Submitted& what) const {
    if (series.jobs_.find(what.job.id) != nullptr) return;  // JobTable reports this error, likewise below
    series.move_to(at);
    JobState& job = series.jobs_.add(what.job.id);
    job.processes = what.job.processes;
    series.enter(series.points_.back(), what.job.id, job);
  }
  void operator()(const log::Launched& what) const { change(what.job, Phase::kRunning, &what.allocation); }
  void operator()(const log::ResizeDone& what) const {
    const JobState* job = series.jobs_.find(what.job);
    if (job != nullptr) change(what.job, job->phase, &what.allocation);
  }
  void operator()(const log::SuspendDone& what) const { change(what.job, Phase::kSuspended); }
  void operator()(const log::ResumeDone& what) const { change(what.job, Phase::kRunning); }
  void operator()(const log::Finished& what) const {
    series.jobs_.take_out(what.job, [&](const JobState& job) {
      series.move_to(at);
      series.leave(series.points_.back(), what.job, job);
      if (job.shareable) series.shared_.erase(what.job);
    });
  }

 private:
  // Without `allocation` the job keeps its cores.
  void change(JobId id, Phase phase, const Allocation* allocation = nullptr) const {
    JobState* job = series.jobs_.find(id);
    if (job == nullptr) return;
    series.move_to(at);
    series.leave(series.points_.back(), id, *job);
    job->phase = phase;
    if (allocation != nullptr) {
      job->cores = allocation->cores;
      job->processes = processes_on(*allocation, job->processes);
      job->shareable = allocation->shareable;
      if (job->shareable) series.share(id, *allocation);
    }
    series.enter(series.points_.back(), id, *job);
  }
};

void Series::header(const log::Header& header) {
  const std::string& machine = header.value("machine");
  if (machine.empty()) throw InputError("event log: expected a header '#machine ...' such as flat:128, found none");
  cores_ = Machine::parse(machine).size();
}

void Series::record(const log::Record& record) { log::visit(OnRecord{*this, record.at}, record.what); }

log::Kinds Series::kinds() const { return log::kinds_of<OnRecord>(); }

void Series::move_to(Instant at) {
  if (points_.empty()) {
    begin_ = at;
    points_.push_back({.at = at});
  }
  Point& now = points_.back();
  if (at == now.at) return;
  add(total_, now, at - now.at);
  longest_queue_ = std::max(longest_queue_, now.queued);
  const bool is_news = points_.size() < 2 || !points_[points_.size() - 2].same_state(now);
  if (options_.keep_points && is_news) points_.push_back(now);
  points_.back().at = at;
}

void Series::enter(Point& now, JobId id, const JobState& job) {
  switch (job.phase) {
    case Phase::kQueued:
      ++now.queued;
      now.waiting_processors += job.processes;
      break;
    case Phase::kRunning:
      ++now.running;
      now.busy_cores += job.shareable ? cores_entered(id) : job.cores;
      now.processes += job.processes;
      break;
    case Phase::kSuspended: ++now.suspended; break;
  }
}

void Series::leave(Point& now, JobId id, const JobState& job) {
  switch (job.phase) {
    case Phase::kQueued:
      --now.queued;
      now.waiting_processors -= job.processes;
      break;
    case Phase::kRunning:
      --now.running;
      now.busy_cores -= job.shareable ? cores_left(id) : job.cores;
      now.processes -= job.processes;
      break;
    case Phase::kSuspended: --now.suspended; break;
  }
}

void Series::share(JobId id, const Allocation& allocation) {
  for (const CoreLoad& load : allocation.named)
    if (!first_cores(cores_).contains(load.core))
      throw InputError(fmt::format("event log: job {} has core {}, the machine has {} cores",
                                   static_cast<std::int64_t>(id), load.core, cores_));
  sharers_.resize(static_cast<std::size_t>(cores_));
  shared_[id] = allocation.named;
}

// A core is busy from the first job on it to the last.
CoreCount Series::cores_entered(JobId id) {
  CoreCount busy = 0;
  for (const CoreLoad& load : shared_[id]) busy += sharers_[index_of(load.core)]++ == 0 ? 1 : 0;
  return busy;
}

CoreCount Series::cores_left(JobId id) {
  CoreCount idle = 0;
  for (const CoreLoad& load : shared_[id]) idle += --sharers_[index_of(load.core)] == 0 ? 1 : 0;
  return idle;
}

void Series::add(Integrals& sum, const Point& state, Duration lasting) const {
  const Wide time = lasting.count();
  sum.time += time;
  sum.busy_cores += time * state.busy_cores;
  sum.processes += time * state.processes;
  sum.queued += time * state.queued;
  if (state.queued > 0) sum.free_cores_while_queued += time * (cores_ - state.busy_cores);
  if (state.queued >= options_.high_load_queue) {
    sum.high_load_time += time;
    sum.high_load_busy_cores += time * state.busy_cores;
  }
}

Integrals Series::between(Instant from, Instant to) const {
  INVARIANT(options_.keep_points, "integrals between two instants need the points");
  Integrals sum;
  for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
    const Instant first = std::max(from, points_[i].at);
    const Instant last = std::min(to, points_[i + 1].at);
    if (first < last) add(sum, points_[i], last - first);
  }
  return sum;
}

}  // namespace replay::metrics
