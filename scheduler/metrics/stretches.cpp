#include "scheduler/metrics/stretches.hpp"

#include <algorithm>
#include <vector>

namespace replay::metrics {

using history::Phase;

void Stretches::on_change(Instant at, const history::Before& before, const history::JobState& job) {
  if (before.phase != Phase::kWaiting) close(at, job, before);
  names_.on_change(at, before, job);
  if (job.phase == Phase::kWaiting)
    open_.erase(job.id);
  else
    begin(at, job, job.phase == Phase::kSuspended);
}

void Stretches::on_end(Instant at, const history::JobState& job, const JobEnd& end) {
  if (job.phase == Phase::kWaiting) return;
  close(at, job, {job.phase, job.held});
  open_.erase(job.id);
  names_.on_end(at, job, end);
  names_.forget(job.id);
}

// A suspended job keeps the cores that it had: a picture shows where it was.
void Stretches::begin(Instant at, const history::JobState& job, bool keeps_cores) {
  Open& open = open_[job.id];
  open.from = at;
  open.job = &job;
  if (!keeps_cores) {
    const std::span<const CoreRange> held = names_.held(job.id);
    open.cores.assign(held.begin(), held.end());
  }
  reader_->begins(up_to(at, open, {job.phase, job.held}));
}

void Stretches::close(Instant at, const history::JobState& job, const history::Before& before) {
  const Open& open = open_.at(job.id);
  if (open.from < at)
    reader_->stretch(up_to(at, open, before));
  else
    reader_->taken_back(up_to(at, open, before));
}

Stretch Stretches::up_to(Instant at, const Open& open, const history::Before& was) {
  return {.job = open.job->id,
          .from = open.from,
          .to = at,
          .kind = was.phase == Phase::kSuspended ? Stretch::Kind::kSuspended : Stretch::Kind::kRuns,
          .cores = open.cores,
          .processes = processes_on(was.held, open.job->requested),
          .mpl = was.held.mpl,
          .shareable = was.held.shareable,
          .state = open.job};
}

void Stretches::open(Instant now, StretchReader& reader) const {
  std::vector<const Open*> all;
  all.reserve(open_.size());
  for (const auto& [job, open] : open_) all.push_back(&open);
  std::ranges::sort(all, {}, [](const Open* open) { return open->job->id; });
  for (const Open* open : all) reader.stretch(up_to(now, *open, {open->job->phase, open->job->held}));
}

}  // namespace replay::metrics
