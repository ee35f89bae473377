#include "scheduler/metrics/stretches.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::metrics {

struct Stretches::OnRecord {
  Stretches& stretches;
  const log::Record& record;

  void operator()(const log::Submitted& what) const {
    stretches.submitted_.insert_or_assign(what.job.id, what.job.processes);
  }
  void operator()(const log::Launched& what) const {
    stretches.names_.record(record);
    const auto [place, is_new] = stretches.open_.try_emplace(what.job);
    if (!is_new) throw InputError(fmt::format("event log: job {} is launched twice", number(what.job)));
    Open& open = place->second;
    const auto job = stretches.submitted_.find(what.job);
    if (job == stretches.submitted_.end())
      throw InputError(fmt::format("event log: job {} is launched and was not submitted", number(what.job)));
    open.processes = job->second;
    stretches.submitted_.erase(job);
    hold(what.job, open, what.allocation);
  }
  void operator()(const log::ResizeDone& what) const {
    Open* const open = closed(what.job);
    stretches.names_.record(record);
    if (open != nullptr) hold(what.job, *open, what.allocation);
  }
  // Its cores stay those it had: a picture shows where it was.
  void operator()(const log::SuspendDone& what) const {
    Open* const open = closed(what.job);
    stretches.names_.record(record);
    if (open == nullptr) return;
    open->kind = Stretch::Kind::kSuspended;
    begin(what.job, *open);
  }
  void operator()(const log::ResumeDone& what) const {
    Open* const open = closed(what.job);
    stretches.names_.record(record);
    if (open == nullptr) return;
    open->kind = Stretch::Kind::kRuns;
    take_cores(what.job, *open);
    begin(what.job, *open);
  }
  void operator()(const log::Finished& what) const {
    if (closed(what.job) != nullptr) {
      stretches.open_.erase(what.job);
      stretches.names_.record(record);
      stretches.names_.forget(what.job);
    }
    stretches.submitted_.erase(what.job);
  }

  void hold(JobId job, Open& open, const Allocation& allocation) const {
    open.from = record.at;
    open.kind = Stretch::Kind::kRuns;
    open.processes = processes_on(allocation, open.processes);
    open.mpl = allocation.mpl;
    open.shareable = allocation.shareable;
    take_cores(job, open);
    begin(job, open);
  }
  void begin(JobId job, const Open& open) const { stretches.reader_->begins(up_to(open.from, job, open)); }
  void take_cores(JobId job, Open& open) const {
    const std::span<const CoreRange> held = stretches.names_.held(job);
    open.cores.assign(held.begin(), held.end());
    if (!open.cores.empty() && number(open.cores.back().last) >= stretches.cores_)
      throw InputError(fmt::format("event log: job {} has core {}, the machine has {} cores", number(job),
                                   open.cores.back().last, stretches.cores_));
  }
  // Ends the job's stretch; null if it has none.
  Open* closed(JobId job) const {
    const auto found = stretches.open_.find(job);
    if (found == stretches.open_.end()) return nullptr;
    stretches.close(job, found->second, record.at);
    found->second.from = record.at;
    return &found->second;
  }
};

void Stretches::header(const log::Header& header) {
  names_.header(header);  // complains about a missing machine
  cores_ = Machine::parse(header.value("machine")).size();
}

void Stretches::record(const log::Record& record) { log::visit(OnRecord{*this, record}, record.what); }

log::Kinds Stretches::kinds() const { return log::kinds_of<OnRecord>(); }

Stretch Stretches::up_to(Instant at, JobId job, const Open& open) {
  return {job, open.from, at, open.kind, open.cores, open.processes, open.mpl, open.shareable};
}

void Stretches::close(JobId job, const Open& open, Instant at) {
  if (open.from < at)
    reader_->stretch(up_to(at, job, open));
  else
    reader_->taken_back(up_to(at, job, open));
}

void Stretches::open(Instant now, StretchReader& reader) const {
  std::vector<JobId> jobs;
  jobs.reserve(open_.size());
  for (const auto& [job, open] : open_) jobs.push_back(job);
  std::ranges::sort(jobs);
  for (const JobId job : jobs) reader.stretch(up_to(now, job, open_.at(job)));
}

}  // namespace replay::metrics
