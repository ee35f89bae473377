#include "scheduler/report/page/run_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "scheduler/compare/waiting_report.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/report/page/job_columns.hpp"
#include "scheduler/report/page/levels.hpp"
#include "scheduler/report/page/run_parts.hpp"
#include "scheduler/report/page/run_reader.hpp"
#include "scheduler/report/page/warnings.hpp"
#include "scheduler/results/event_log_file.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;

// The row of a job in the page, -1 if it has none.
class Places {
 public:
  Places(const metrics::JobTable& table, const ShownJobs& shown) : table_(table), shown_(shown) {}
  [[nodiscard]] std::int32_t of(JobId job) const {
    const metrics::JobRow* const row = table_.find(job);
    return row == nullptr ? -1 : shown_.place[static_cast<std::size_t>(row - table_.rows().data())];
  }

 private:
  const metrics::JobTable& table_;
  const ShownJobs& shown_;
};

ResizeColumns resize_columns(const metrics::Resizes& resizes, const Places& places) {
  ResizeColumns columns;
  for (const metrics::Resize& resize : resizes.all()) {
    const std::int32_t job = places.of(resize.job);
    if (resize.at == kNever || job < 0) continue;
    columns.job.push_back(job);
    columns.at.push_back(seconds(resize.at));
    columns.from.push_back(resize.from);
    columns.to.push_back(resize.to);
    columns.in_favour_of.push_back(resize.in_favour_of ? places.of(*resize.in_favour_of) : -1);
  }
  return columns;
}

void add_groups(RunData& data, const RunReader& run, const Places& places, std::size_t most) {
  for (const GroupSpan& group : run.groups()) {
    if (data.groups.size() == most) break;
    PageGroup& shown = data.groups.emplace_back();
    shown.from = seconds(group.from);
    shown.to = seconds(std::min(group.to, run.last()));  // of an open one in a run that goes on
    shown.primary = places.of(group.primary);
    shown.jobs.push_back(shown.primary);
    for (const JobId matched : group.matched) shown.jobs.push_back(places.of(matched));
    std::erase(shown.jobs, -1);
  }
  for (const SliceBegun& slice : run.slices()) {
    if (data.slices.size() == most) break;
    data.slices.push_back({static_cast<std::uint8_t>(slice.job_class), seconds(slice.begins), seconds(slice.ends)});
  }
  if (run.groups().size() > most)
    data.limits.push_back(fmt::format("Of {} groups the first {} are shown.", run.groups().size(), most));
  if (run.slices().size() > most)
    data.limits.push_back(fmt::format("Of {} slices the first {} are shown.", run.slices().size(), most));
}

// Takes the stretches of jobs that the page leaves out from `rows`.
std::vector<StretchRow> take_left_out(std::vector<StretchRow>& rows, const ShownJobs& shown) {
  for (StretchRow& row : rows) row.job = shown.place[static_cast<std::size_t>(row.job)];
  std::vector<StretchRow> left_out;
  for (const StretchRow& row : rows)
    if (row.job < 0)
      left_out.push_back({.from = row.from, .to = row.to, .first = row.first, .last = row.last, .flags = kMerged});
  std::erase_if(rows, [](const StretchRow& row) { return row.job < 0; });
  return left_out;
}

// Their jobs are rows of the job table.
void add_stretches(RunData& data, std::vector<StretchRow>& rows, const ShownJobs& shown) {
  const std::vector<StretchRow> left_out = take_left_out(rows, shown);
  const Frame frame{.begin = data.begin, .end = data.end, .cores = data.machine.size(), .columns = 6144};
  if (!left_out.empty() && frame.begin < frame.end) {
    const std::vector<StretchRow> merged = picture_of(left_out, frame);
    rows.insert(rows.end(), merged.begin(), merged.end());
    data.limits.push_back(
        fmt::format("Of {} jobs the {} with the largest areas are shown by themselves; the others are drawn merged, in "
                    "cells of {}{}, and have no data here.",
                    data.jobs_in_all, data.jobs.size(), results::length_text(from_seconds(cell_seconds(frame))),
                    cell_cores(frame.cores) > 1 ? fmt::format(" and {} cores", cell_cores(frame.cores)) : ""));
  }
  data.levels = frame.begin < frame.end
                    ? levels_of(rows, {.begin = data.begin, .end = data.end, .cores = data.machine.size()})
                    : std::vector<Level>{};
  if (!data.levels.empty())
    data.limits.push_back(fmt::format(
        "Where the picture has too many stretches it shows cells of {} or longer, each with the job that has most "
        "of it; zooming in shows the stretches themselves.",
        results::length_text(from_seconds(data.levels.front().cell_seconds))));
  data.stretches = columns_of(rows);
}

// The jobs with the longest waits, by row, as many as have a text.
std::vector<std::int32_t> longest_waits(const JobColumns& jobs, std::size_t most) {
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < jobs.size(); ++i) rows.push_back(static_cast<std::int32_t>(i));
  if (rows.size() <= most) return rows;
  const auto wait = [&jobs](std::int32_t row) {  // one that never started first
    const double known = jobs.wait[static_cast<std::size_t>(row)];
    return std::isnan(known) ? std::numeric_limits<double>::infinity() : known;
  };
  std::ranges::stable_sort(rows, [&](std::int32_t a, std::int32_t b) { return wait(a) > wait(b); });
  rows.resize(most);
  std::ranges::sort(rows);
  return rows;
}

void add_wait_texts(RunData& data, const fs::path& log, std::size_t most) {
  const std::vector<std::int32_t> rows = longest_waits(data.jobs, most);
  std::vector<JobId> jobs;
  for (const std::int32_t row : rows) jobs.push_back(data.jobs.id[static_cast<std::size_t>(row)]);
  if (jobs.empty()) return;
  data.why.job = rows;
  data.why.text = compare::explain_waits(log, jobs, {.most_named = 3, .most_lines = 4});
  if (rows.size() < data.jobs_in_all)
    data.limits.push_back(
        fmt::format("Why it waited is told of the {} jobs with the longest waits; `replay why {} JOB` tells "
                    "it of any.",
                    rows.size(), data.path));
}

std::string name_of(const fs::path& log) {
  const fs::path folder = fs::absolute(log).lexically_normal().parent_path();
  return log.filename() == "events.log" && folder.has_filename() ? folder.filename().string() : log.filename().string();
}

Instant begin_of(const RunReader& run) {
  const auto rows = run.table().rows();
  return rows.empty() ? run.last() : rows.front().submitted;
}

}  // namespace

void mark_groups(std::vector<StretchRow>& rows, const RunReader& run) {
  if (run.groups().empty()) return;
  struct Span {
    double from, to;
  };
  std::vector<std::vector<Span>> spans(run.table().rows().size());
  const auto add = [&](JobId job, const GroupSpan& group) {
    if (const metrics::JobRow* const row = run.table().find(job))
      spans[static_cast<std::size_t>(row - run.table().rows().data())].push_back(
          {seconds(group.from), seconds(group.to)});
  };
  for (const GroupSpan& group : run.groups()) {
    add(group.primary, group);
    for (const JobId matched : group.matched) add(matched, group);
  }
  for (StretchRow& row : rows)
    if (std::ranges::any_of(spans[static_cast<std::size_t>(row.job)],
                            [&row](const Span& span) { return span.from < row.to && row.from < span.to; }))
      row.flags |= kInGroup;
}

RunData run_facts(const RunReader& run, const fs::path& log, const std::optional<log::LogEnd>& end,
                  const ShownJobs& shown, const PageLimits& limits) {
  RunData data;
  data.name = name_of(log);
  data.path = (log.filename() == "events.log" && log.has_parent_path() ? log.parent_path() : log).string();
  data.header = run.table().header();
  data.machine = Machine::parse(data.header.value("machine"));
  data.begin = seconds(begin_of(run));
  data.end = std::max(data.begin, seconds(run.last()));
  data.summary = metrics::summarise(run.table(), run.series());
  data.intervals = metric_intervals(log.parent_path());
  data.has_classes = run.has_classes();
  data.jobs_in_all = run.table().rows().size();
  data.warnings = page_warnings(run, end, shown, log.parent_path(), limits.warnings);
  data.is_complete =
      std::ranges::none_of(data.warnings, [](const PageWarning& warning) { return warning.kind == "cut"; });
  data.distributions = distributions(run);
  add_groups(data, run, Places(run.table(), shown), limits.groups);
  return data;
}

RunData read_run(const fs::path& log, const PageLimits& limits) {
  RunReader run(log.string());
  const log::LogEnd end = log::read_text(log, run);
  run.finish();
  const ShownJobs shown = shown_jobs(run.table(), limits.jobs);
  RunData data = run_facts(run, log, end, shown, limits);
  data.jobs = job_columns(run, shown);
  data.resizes = resize_columns(run.resizes(), Places(run.table(), shown));
  data.series = series_columns(run.series(), limits, data.limits);
  mark_groups(run.stretches(), run);
  add_stretches(data, run.stretches(), shown);
  add_wait_texts(data, log, limits.wait_texts);
  return data;
}

}  // namespace replay::report
