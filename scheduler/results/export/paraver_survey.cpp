#include "scheduler/results/export/paraver_survey.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/results/export/node_ranges.hpp"

namespace replay::results {

struct ParaverSurvey::OnRecord {
  ParaverSurvey& survey;
  Instant at;

  void operator()(const log::Submitted& what) const {
    ++survey.jobs_;
    if (survey.jobs_ > survey.limits_.applications) return survey.stop_keeping();
    if (!survey.by_job_.try_emplace(what.job.id, survey.applications_.size()).second)
      throw InputError(fmt::format("event log: job {} is submitted twice", number(what.job.id)));
    survey.applications_.push_back({.job = what.job.id, .waits_until = kNever});
  }
  void operator()(const log::Launched& what) const { stop_waiting(what.job); }
  void operator()(const log::Finished& what) const { stop_waiting(what.job); }

 private:
  void stop_waiting(JobId job) const {
    if (ParaverApplication* const of = survey.application(job); of != nullptr && of->waits_until == kNever)
      of->waits_until = at;
  }
};

void ParaverSurvey::header(const log::Header& header) {
  header_ = header;
  stretches_.header(header);
  machine_ = Machine::parse(header.value("machine"));
  expect_rows_for(machine_);
}

void ParaverSurvey::record(const log::Record& record) {
  if (!first_) first_ = record.at;
  last_ = record.at;
  log::visit(OnRecord{*this, record.at}, record.what);
  stretches_.record(record);
}

void ParaverSurvey::finish(Instant last) {
  last_ = last;
  stretches_.open(last, *this);
  for (ParaverApplication& application : applications_) {
    if (application.waits_until == kNever) application.waits_until = last;
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
  for_each_node_range(stretch.cores, machine_, [&](NodeId node, const CoreRange& range) {
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
