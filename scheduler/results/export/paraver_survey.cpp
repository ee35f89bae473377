#include "scheduler/results/export/paraver_survey.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/results/export/node_ranges.hpp"

namespace replay::results {

void ParaverSurvey::on_submit(Instant /*at*/, const history::JobState& job) {
  if (++jobs_ > limits_.applications) return stop_keeping();
  by_job_.emplace(job.id, applications_.size());
  applications_.push_back({.job = job.id, .waits_until = {kNever}});
}

void ParaverSurvey::on_change(Instant at, const history::Before& before, const history::JobState& job) {
  if (before.phase == history::Phase::kWaiting) stop_waiting(at, job.id);
  if (ParaverApplication* const of = application(job.id); of != nullptr && job.phase == history::Phase::kWaiting)
    of->waits_until.push_back(kNever);
}

void ParaverSurvey::stop_waiting(Instant at, JobId job) {
  if (ParaverApplication* const of = application(job); of != nullptr && of->waits_until.back() == kNever)
    of->waits_until.back() = at;
}

void ParaverSurvey::finish(const RunLog::Read& read) {
  read_ = read;
  stretches_.open(last(), *this);
  for (ParaverApplication& application : applications_) {
    if (application.waits_until.back() == kNever) application.waits_until.back() = last();
    if (application.threads.empty()) application.threads[NodeId{0}] = 1;  // it never ran; it has waited
    for (const auto& [node, threads] : application.threads) threads_ += static_cast<std::size_t>(threads);
  }
}

std::optional<std::size_t> ParaverSurvey::application_of(JobId job) const {
  const auto found = by_job_.find(job);
  return !has_applications() || found == by_job_.end() ? std::nullopt : std::optional{found->second};
}

ParaverApplication* ParaverSurvey::application(JobId job) {
  const auto found = by_job_.find(job);
  return found == by_job_.end() ? nullptr : &applications_[found->second];
}

void ParaverSurvey::stop_keeping() {
  applications_.clear();
  by_job_.clear();
}

void ParaverSurvey::begins(const metrics::Stretch& stretch) {
  open_[stretch.job] = ends_.size();
  ends_.push_back(stretch.from);
  if (stretch.kind != metrics::Stretch::Kind::kRuns) return;
  ParaverApplication* const of = application(stretch.job);
  std::map<NodeId, CoreCount> threads;
  for_each_node_range(stretch.cores, machine(), [&](NodeId node, const CoreRange& range) {
    threads[node] += range.size();
    for (const CoreId core : range) seats_.take(core, stretch.job);
  });
  if (of == nullptr) return;
  for (const auto& [node, count] : threads) of->threads[node] = std::max(of->threads[node], count);
}

void ParaverSurvey::end(const metrics::Stretch& stretch) {
  const auto open = open_.find(stretch.job);
  INVARIANT(open != open_.end(), "a stretch of job {} ends that did not begin", number(stretch.job));
  ends_[open->second] = stretch.to;
  open_.erase(open);
  if (stretch.kind != metrics::Stretch::Kind::kRuns) return;
  for (const CoreRange& range : stretch.cores)
    for (const CoreId core : range) (void)seats_.leave(core, stretch.job);
}

}  // namespace replay::results
