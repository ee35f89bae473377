#include "scheduler/report/page/run_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/compare/waiting_report.hpp"
#include "scheduler/log/node_names.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/report/page/job_columns.hpp"
#include "scheduler/report/page/levels.hpp"
#include "scheduler/report/page/run_names.hpp"
#include "scheduler/report/page/run_parts.hpp"
#include "scheduler/report/page/run_reader.hpp"
#include "scheduler/report/page/seeds.hpp"
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

void add_closed(RunData& data, const RunReader& run, std::size_t most) {
  const log::NodeNames names{data.header, data.machine};
  for (const ClosedSpan& span : run.closed()) {
    if (data.closed.size() == most) break;
    const CoreRange cores = data.machine.cores_of(span.change.node);
    data.closed.push_back({.from = seconds(span.from),
                           .to = seconds(std::min(span.to, run.last())),
                           .first = number(cores.first),
                           .last = number(cores.last),
                           .text = fmt::format("{} {}", names.of(span.change.node), to_text(span.change))});
  }
  if (run.closed().size() > most)
    data.limits.push_back(
        fmt::format("Of {} times in which a node was closed the first {} are shown.", run.closed().size(), most));
}

// Takes the stretches of jobs that the page leaves out from `rows`.
std::vector<StretchRow> take_left_out(std::vector<StretchRow>& rows, const ShownJobs& shown) {
  for (StretchRow& row : rows) row.job = shown.place[static_cast<std::size_t>(row.job)];
  std::vector<StretchRow> left_out;
  for (const StretchRow& row : rows)
    if (row.job < 0)
      left_out.push_back({.from = row.from,
                          .to = row.to,
                          .first = row.first,
                          .last = row.last,
                          .flags = static_cast<std::uint8_t>((row.flags & kSuspended) | kMerged | used_quarters(4))});
  std::erase_if(rows, [](const StretchRow& row) { return row.job < 0; });
  return left_out;
}

// Draws them in larger cells until there are at most so many. `frame` gets the size of the cells.
std::vector<StretchRow> merged_picture(std::span<const StretchRow> rows, Frame& frame, std::size_t most) {
  constexpr std::size_t kFewestColumns = 768;
  for (;; frame.columns /= 2) {
    std::vector<StretchRow> merged = picture_of(rows, frame);
    if (merged.size() <= most || frame.columns / 2 < kFewestColumns) return merged;
  }
}

// Their jobs are rows of the job table.
void add_stretches(RunData& data, std::vector<StretchRow>& rows, const ShownJobs& shown, const PageLimits& limits) {
  const std::vector<StretchRow> left_out = take_left_out(rows, shown);
  Frame frame{.begin = data.begin, .end = data.end, .cores = data.machine.size(), .columns = 6144};
  if (!left_out.empty() && frame.begin < frame.end) {
    const std::vector<StretchRow> merged = merged_picture(left_out, frame, limits.merged);
    rows.insert(rows.end(), merged.begin(), merged.end());
    data.limits.push_back(
        fmt::format("Of {} jobs the {} with the largest areas are shown by themselves; the others are drawn merged, in "
                    "cells of {}{}, and have no data here.",
                    data.jobs_in_all, data.jobs.size(), length_text(from_seconds(cell_seconds(frame))),
                    cell_cores(frame.cores) > 1 ? fmt::format(" and {} cores", cell_cores(frame.cores)) : ""));
  }
  data.levels = frame.begin < frame.end
                    ? levels_of(rows, {.begin = data.begin, .end = data.end, .cores = data.machine.size()})
                    : std::vector<Level>{};
  if (!data.levels.empty())
    data.limits.push_back(fmt::format(
        "Where the picture has too many stretches it shows cells of {} or longer, each with the job that has most "
        "of it; zooming in shows the stretches themselves.",
        length_text(from_seconds(data.levels.front().cell_seconds))));
  data.stretches = columns_of(rows);
}

// Changes of the load while a job of the page waited: what it costs to explain its wait.
std::size_t steps_of(const JobColumns& jobs, std::size_t row, std::span<const metrics::Point> points) {
  const auto before = [&points](double time) {
    return std::ranges::lower_bound(points, time, {}, [](const metrics::Point& point) { return seconds(point.at); });
  };
  const double until = std::isnan(jobs.start[row]) ? jobs.end[row] : jobs.start[row];
  const auto end = std::isnan(until) ? points.end() : before(until);
  return static_cast<std::size_t>(end - before(jobs.submit[row]));
}

// The jobs with the longest waits, by row, as many as have a text.
std::vector<std::int32_t> longest_waits(const JobColumns& jobs, const metrics::Series& series,
                                        const PageLimits& limits) {
  std::vector<std::int32_t> rows(jobs.size());
  std::iota(rows.begin(), rows.end(), 0);
  const auto wait = [&jobs](std::int32_t row) {  // one that never started first
    const double known = jobs.wait[static_cast<std::size_t>(row)];
    return std::isnan(known) ? std::numeric_limits<double>::infinity() : known;
  };
  std::ranges::stable_sort(rows, [&](std::int32_t a, std::int32_t b) { return wait(a) > wait(b); });
  std::size_t explained = 0;
  for (std::size_t steps = 0; explained < std::min(rows.size(), limits.wait_texts); ++explained)
    if ((steps += steps_of(jobs, static_cast<std::size_t>(rows[explained]), series.points())) > limits.wait_steps)
      break;
  rows.resize(explained);
  std::ranges::sort(rows);
  return rows;
}

void add_wait_texts(RunData& data, const fs::path& log, const metrics::Series& series, const PageLimits& limits) {
  const std::vector<std::int32_t> rows = longest_waits(data.jobs, series, limits);
  std::vector<JobId> jobs;
  for (const std::int32_t row : rows) jobs.push_back(data.jobs.id[static_cast<std::size_t>(row)]);
  if (jobs.empty()) return;
  data.why.job = rows;
  data.why.text = compare::explain_waits(
      log, jobs, {.most_named = 3, .most_lines = 4, .more = fmt::format("`replay why {} JOB`", data.path)});
  if (rows.size() < data.jobs_in_all)
    data.limits.push_back(
        fmt::format("Why it waited is told of the {} jobs with the longest waits; `replay why {} JOB` tells "
                    "it of any.",
                    rows.size(), data.path));
}

// A run of several seeds shows the figures of its own; the intervals are of the means over all.
void add_seeds(RunData& data, const fs::path& run) {
  const auto note = [&data](std::string text) {
    data.warnings.push_back({"note", std::move(text), -1, std::numeric_limits<double>::quiet_NaN()});
  };
  try {
    std::optional<SeedsOfRun> seeds = seeds_of(run);
    if (!seeds) return;
    data.intervals = std::move(seeds->intervals);
    note(fmt::format(
        "the run is one of {} seeds ({}): the intervals beside its figures are of the means over all of them",
        seeds->seeds, run.parent_path().filename().string()));
  } catch (const InputError& wrong) {
    note(fmt::format("what seeds.json says is left out: {}", wrong.what()));
  }
}

Instant begin_of(const RunReader& run) {
  const auto rows = run.table().rows();
  return rows.empty() ? run.last() : rows.front().submitted;
}

}  // namespace

RunData run_facts(const RunReader& run, const fs::path& log, const std::optional<log::LogEnd>& end,
                  const ShownJobs& shown, const PageLimits& limits) {
  RunData data;
  const fs::path place = place_of(log);
  data.name = place.filename().string();
  data.path = (log.filename() == "events.log" && log.has_parent_path() ? log.parent_path() : log).string();
  data.header = run.table().header();
  data.machine = Machine::parse(data.header.value("machine"));
  data.begin = seconds(begin_of(run));
  data.end = std::max(data.begin, seconds(run.last()));
  data.summary = metrics::summarise(run.table(), run.series());
  data.has_classes = run.has_classes();
  data.jobs_in_all = run.table().rows().size();
  data.warnings = page_warnings(run, end, shown, log.parent_path(), limits.warnings);
  add_seeds(data, place);
  data.is_complete =
      std::ranges::none_of(data.warnings, [](const PageWarning& warning) { return warning.kind == "cut"; });
  data.distributions = distributions(run);
  add_groups(data, run, Places(run.table(), shown), limits.groups);
  add_closed(data, run, limits.groups);
  return data;
}

RunData read_run(const fs::path& log, const PageLimits& limits, const std::string& given) {
  RunReader run;
  const log::LogEnd end = log::read_text(log, run.follower());
  run.finish();
  const ShownJobs shown = shown_jobs(run, limits);
  RunData data = run_facts(run, log, end, shown, limits);
  if (!given.empty()) data.path = given;
  data.jobs = job_columns(run, shown);
  data.resizes = resize_columns(run.resizes(), Places(run.table(), shown));
  data.series = series_columns(run.series(), limits, data.limits);
  mark_groups(run.stretches(), run);
  add_stretches(data, run.stretches(), shown, limits);
  add_wait_texts(data, log, run.series(), limits);
  return data;
}

}  // namespace replay::report
