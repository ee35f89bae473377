#include "scheduler/report/live/run_changes.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/report/page/run_json.hpp"
#include "scheduler/report/page/run_parts.hpp"

namespace replay::report {
namespace {

using nlohmann::ordered_json;

// Texts were cleaned where they came in; what is no UTF-8 all the same becomes U+FFFD.
std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

constexpr const char* kLimits =
    "This page follows a run that goes on. The page that `replay report` makes of it afterwards also says why each job "
    "waited.";

constexpr std::size_t kMostGroups = 2'000;  // they are sent anew with all facts

// A job's number as the page knows it.
ordered_json id_json(JobId job) { return number(job); }

}  // namespace

// Notes the jobs that a record tells of, and those whose rows it changes otherwise.
struct RunChanges::JobsOf {
  RunChanges& changes;

  void operator()(const log::Submitted& what) const { changes.note_job(what.job.id); }
  void operator()(const GroupFormed& what) const {
    note_members(what);
    changes.groups_[what.primary] = what;
  }
  void operator()(const GroupEnded& what) const {
    const auto group = changes.groups_.find(what.primary);
    if (group == changes.groups_.end()) return;
    note_members(group->second);
    changes.groups_.erase(group);
  }
  void operator()(const ClassAssigned& what) const {
    changes.note_job(what.job);
    if (std::exchange(changes.has_classes_, true)) return;
    // Until now classes were made by run time.
    for (std::size_t row = 0; row < changes.run_.table().rows().size(); ++row) changes.note(Part::kJob, row);
  }
  template <class What, class = decltype(What::job)>
  void operator()(const What& what) const {
    changes.note_job(what.job);
  }

 private:
  void note_members(const GroupFormed& group) const {
    changes.note_job(group.primary);
    for (const JobId job : group.matched) changes.note_job(job);
  }
};

// Places of what a batch tells of.
struct RunChanges::Collected {
  std::set<std::size_t> jobs;
  std::vector<std::size_t> stretches, points, resizes;
};

RunChanges::RunChanges(std::filesystem::path log) : log_(std::move(log)) { run_.follower().add(this); }

void RunChanges::on_begin(const log::Header& /*header*/, const Machine& /*machine*/) {
  Columns columns{Columns::Form::kArrays};
  RunData data = run_facts(run_, log_, std::nullopt, {}, {});
  data.is_complete = false;
  data.limits.emplace_back(kLimits);
  begin_ = text_of(run_json(data, columns));
}

void RunChanges::on_record(const log::Record& record, const history::JobState* /*job*/) {
  log::visit(JobsOf{*this}, record.what);
  note_new(Part::kStretch, stretches_, run_.stretches().size());
  // The last point may still change; since() tells it with each batch.
  const std::size_t points = run_.series().points().size();
  note_new(Part::kPoint, points_, points == 0 ? 0 : points - 1);
  note_resizes(record);
}

void RunChanges::finish() {
  run_.finish();
  end_.emplace();
  note_new(Part::kStretch, stretches_, run_.stretches().size());
}

void RunChanges::note(Part part, std::size_t place) { journal_.push_back({part, static_cast<std::uint32_t>(place)}); }

void RunChanges::note_job(JobId job) { note(Part::kJob, run_.row_of(job)); }

void RunChanges::note_new(Part part, std::size_t& known, std::size_t count) {
  for (; known < count; ++known) note(part, known);
}

// A resize is told of when it is done, and again if a job is started at that instant on the cores that it gave up.
void RunChanges::note_resizes(const log::Record& record) {
  const std::size_t count = run_.resizes().all().size();
  const bool is_new = count > std::exchange(resizes_, count);
  if (const auto* const decided = std::get_if<log::ResizeDecided>(&record.what)) {
    if (is_new) open_resizes_[decided->job] = count - 1;
  } else if (const auto* const done = std::get_if<log::ResizeDone>(&record.what)) {
    const std::size_t place = is_new ? count - 1 : open_resizes_.at(done->job);
    note(Part::kResize, place);
    done_now_.push_back(place);
    open_resizes_.erase(done->job);
  } else if (const auto* const finished = std::get_if<log::Finished>(&record.what)) {
    open_resizes_.erase(finished->job);
  } else if (const auto* const requeued = std::get_if<log::Requeued>(&record.what)) {
    open_resizes_.erase(requeued->job);
  } else if (std::holds_alternative<log::StartDecided>(record.what)) {
    for (const std::size_t place : done_now_) note(Part::kResize, place);
  }
}

RunChanges::Collected RunChanges::collect(std::size_t from, std::size_t until) const {
  Collected found;
  for (const Change& change : std::span{journal_}.subspan(from, until - from)) {
    switch (change.part) {
      case Part::kJob: found.jobs.insert(change.place); break;
      case Part::kStretch: found.stretches.push_back(change.place); break;
      case Part::kPoint: found.points.push_back(change.place); break;
      case Part::kResize: found.resizes.push_back(change.place); break;
    }
  }
  // A reader takes a batch with stretches of a job as one with all its open ones.
  for (const std::size_t place : found.stretches)
    found.jobs.insert(static_cast<std::size_t>(run_.stretches()[place].job));
  return found;
}

ordered_json RunChanges::jobs_in(const Collected& found, Columns& columns) const {
  ShownJobs shown;
  shown.rows.assign(found.jobs.begin(), found.jobs.end());
  return jobs_json(job_columns(run_, shown), columns);
}

ordered_json RunChanges::stretches_in(const Collected& found, Columns& columns, Instant now) const {
  std::vector<StretchRow> rows;
  for (const std::size_t place : found.stretches) rows.push_back(run_.stretches()[place]);
  const std::size_t closed = rows.size();
  if (!end_)
    for (const StretchRow& open : run_.open_stretches(std::max(now, run_.last())))
      if (found.jobs.contains(static_cast<std::size_t>(open.job))) rows.push_back(open);
  mark_groups(rows, run_);
  for (std::size_t i = closed; i < rows.size(); ++i) rows[i].to = std::numeric_limits<double>::quiet_NaN();
  ordered_json json = stretches_json(columns_of(rows), columns);
  for (ordered_json& job : json["job"]) job = id_json(run_.table().rows()[job.get<std::size_t>()].job);
  return json;
}

ordered_json RunChanges::load_in(const Collected& found, Columns& columns) const {
  SeriesColumns load;
  const auto points = run_.series().points();
  for (const std::size_t place : found.points) add_point(load, points[place], run_.series());
  return series_json(load, columns);
}

ordered_json RunChanges::present_load(Columns& columns) const {
  SeriesColumns load;
  add_point(load, run_.series().points().back(), run_.series());
  return series_json(load, columns);
}

ordered_json RunChanges::resizes_in(const Collected& found) const {
  ordered_json json = ordered_json::array();
  for (const std::size_t place : found.resizes) {
    const metrics::Resize& resize = run_.resizes().all()[place];
    json.push_back({{"place", place},
                    {"job", id_json(resize.job)},
                    {"at", seconds(resize.at)},
                    {"from", resize.from},
                    {"to", resize.to},
                    {"for", resize.in_favour_of ? id_json(*resize.in_favour_of) : ordered_json{}}});
  }
  return json;
}

RunChanges::Batch RunChanges::since(std::size_t from, std::size_t most, Instant now) const {
  INVARIANT(from <= journal_.size(), "change {} of {}", from, journal_.size());
  Batch batch;
  batch.until = std::min(journal_.size(), from + most);
  const Collected found = collect(from, batch.until);
  Columns columns{Columns::Form::kArrays};
  ordered_json json = {{"now", seconds(now)}};
  if (!found.jobs.empty()) {
    json["jobs"] = jobs_in(found, columns);
    json["stretches"] = stretches_in(found, columns, now);
  }
  if (!found.points.empty()) json["series"] = load_in(found, columns);
  if (!run_.series().points().empty()) json["present"] = present_load(columns);
  if (!found.resizes.empty()) json["resizes"] = resizes_in(found);
  batch.json = text_of(json);
  return batch;
}

RunChanges::Facts RunChanges::facts() const {
  Columns columns{Columns::Form::kArrays};
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  const ShownJobs all = shown_jobs(run_, {.jobs = kAll, .stretches = kAll});
  const RunData data = run_facts(run_, log_, end_, all, {.groups = kMostGroups});
  return {text_of({{"facts", facts_json(data, columns)}}), end_.has_value() && data.is_complete};
}

}  // namespace replay::report
