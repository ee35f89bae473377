#include "scheduler/report/page/run_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler/log/text.hpp"
#include "scheduler/report/page/job_columns.hpp"
#include "scheduler/report/page/run_reader.hpp"
#include "scheduler/report/page/warnings.hpp"

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
    shown.to = seconds(group.to);
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

// Marks the stretches that touch a group of their job.
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

std::string name_of(const fs::path& log) {
  const fs::path folder = fs::absolute(log).lexically_normal().parent_path();
  return log.filename() == "events.log" && folder.has_filename() ? folder.filename().string() : log.filename().string();
}

Instant begin_of(const RunReader& run) {
  const auto rows = run.table().rows();
  return rows.empty() ? run.last() : rows.front().submitted;
}

}  // namespace

RunData read_run(const fs::path& log, const PageLimits& limits) {
  RunReader run(log.string());
  const log::LogEnd end = log::read_text(log, run);
  run.finish();
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

  const ShownJobs shown = shown_jobs(run.table(), limits.jobs);
  const Places places(run.table(), shown);
  data.jobs_in_all = run.table().rows().size();
  data.jobs = job_columns(run, shown);
  data.warnings = page_warnings(run, end, shown, log.parent_path(), limits.warnings);
  data.is_complete =
      std::ranges::none_of(data.warnings, [](const PageWarning& warning) { return warning.kind == "cut"; });
  data.resizes = resize_columns(run.resizes(), places);
  data.series = series_columns(run.series(), limits, data.limits);
  data.distributions = distributions(run);
  mark_groups(run.stretches(), run);
  add_groups(data, run, places, limits.groups);
  for (StretchRow& row : run.stretches()) row.job = shown.place[static_cast<std::size_t>(row.job)];
  data.stretches = columns_of(run.stretches());
  return data;
}

}  // namespace replay::report
