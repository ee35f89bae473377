#include "scheduler/report/page/job_columns.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>

#include "scheduler/model/job_sizes.hpp"

namespace replay::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Duration kBound = std::chrono::seconds{10};  // of the bounded slowdown, as in metrics.json

double seconds_or_none(Instant instant) { return instant == kNever ? kNone : seconds(instant); }

double area_of(const metrics::JobRow& row) {
  return row.ran() ? static_cast<double>(row.first_cores) * seconds(row.execution()) : 0;
}

// How many of the first of `jobs`, rows of the table, have at most so many stretches together.
std::size_t fitting(const std::vector<std::size_t>& jobs, const std::vector<StretchRow>& stretches, std::size_t most) {
  std::vector<std::size_t> count(jobs.size());
  for (const StretchRow& stretch : stretches) ++count[static_cast<std::size_t>(stretch.job)];
  std::size_t fit = 0;
  for (std::size_t sum = 0; fit < jobs.size(); ++fit)
    if ((sum += count[jobs[fit]]) > most) break;
  return fit;
}

void add_times(JobColumns& jobs, const metrics::JobRow& row) {
  jobs.submit.push_back(seconds(row.submitted));
  jobs.start.push_back(seconds_or_none(row.launched));
  jobs.end.push_back(seconds_or_none(row.finished));
  jobs.estimate.push_back(seconds(row.estimate));
  jobs.runtime.push_back(seconds(row.runtime));
  jobs.wait.push_back(row.has_started() ? seconds(row.wait()) : kNone);
  jobs.response.push_back(row.ran() ? seconds(row.response()) : kNone);
  jobs.bounded_slowdown.push_back(row.ran() ? row.times().bounded_slowdown(kBound) : kNone);
}

void add_sizes(JobColumns& jobs, const metrics::JobRow& row, const metrics::ChosenSize* size) {
  jobs.processes.push_back(row.processes);
  const bool is_other = size != nullptr && size->given != 0;
  jobs.given.push_back(!row.has_started() ? -1 : is_other ? number(size->given) : number(row.processes));
  jobs.optimal.push_back(size != nullptr && size->choice.optimal != 0 ? number(size->choice.optimal) : -1);
  jobs.cores.push_back(row.has_started() ? number(row.first_cores) : -1);
}

struct SizeGroup {
  ProcessCount most;
  std::string_view name;
};
constexpr std::array<SizeGroup, kSizeGroups> kGroups{
    {{1, "1 process"},
     {8, "2 to 8 processes"},
     {64, "9 to 64 processes"},
     {512, "65 to 512 processes"},
     {std::numeric_limits<ProcessCount>::max(), "513 processes or more"}}};

}  // namespace

ShownJobs shown_jobs(const RunReader& run, const PageLimits& limits) {
  const auto rows = run.table().rows();
  ShownJobs shown;
  shown.rows.resize(rows.size());
  std::iota(shown.rows.begin(), shown.rows.end(), std::size_t{0});
  if (rows.size() > limits.jobs || run.stretches().size() > limits.stretches) {
    std::vector<double> areas;
    areas.reserve(rows.size());
    for (const metrics::JobRow& row : rows) areas.push_back(area_of(row));
    std::ranges::stable_sort(shown.rows, [&areas](std::size_t a, std::size_t b) { return areas[a] > areas[b]; });
    shown.rows.resize(std::min(limits.jobs, fitting(shown.rows, run.stretches(), limits.stretches)));
    std::ranges::sort(shown.rows);
  }
  shown.place.assign(rows.size(), -1);
  for (std::size_t i = 0; i < shown.rows.size(); ++i) shown.place[shown.rows[i]] = static_cast<std::int32_t>(i);
  return shown;
}

std::uint8_t class_index(const RunReader& run, std::size_t row) {
  const metrics::JobRow& job = run.table().rows()[row];
  if (!run.has_classes()) return static_cast<std::uint8_t>(class_of(job.runtime));
  const metrics::SharingTimes* const told = run.sharing().find(job.job);
  return told != nullptr && told->job_class ? static_cast<std::uint8_t>(*told->job_class) : kAbsent;
}

JobColumns job_columns(const RunReader& run, const ShownJobs& shown) {
  JobColumns jobs;
  for (const std::size_t place : shown.rows) {
    const metrics::JobRow& row = run.table().rows()[place];
    const JobFacts& facts = run.facts()[place];
    const metrics::SharingTimes* const sharing = run.sharing().find(row.job);
    jobs.id.push_back(row.job);
    jobs.user.push_back(row.user);
    jobs.queue.push_back(row.queue);
    add_times(jobs, row);
    add_sizes(jobs, row, run.sizes().find(row.job));
    jobs.max_mpl.push_back(facts.max_mpl);
    jobs.shrunk_time.push_back(facts.shrunk_time);
    const Duration since = row.is_suspended ? run.last().time_since_epoch() : Duration{};
    jobs.suspended_time.push_back(seconds(row.suspended + since));
    jobs.group_time.push_back(sharing == nullptr ? 0 : seconds(sharing->in_groups));
    jobs.job_class.push_back(class_index(run, place));
    jobs.outcome.push_back(row.has_ended() ? static_cast<std::uint8_t>(row.outcome) : kAbsent);
    jobs.node_share.push_back(facts.is_shareable ? 1 : 0);
    jobs.reason.emplace_back(run.table().reason(row.job));
  }
  if (std::ranges::all_of(jobs.reason, &std::string::empty)) jobs.reason.clear();
  return jobs;
}

std::size_t size_group(ProcessCount processes) {
  return static_cast<std::size_t>(std::ranges::lower_bound(kGroups, processes, {}, &SizeGroup::most) - kGroups.begin());
}

std::string_view size_group_name(std::size_t group) { return kGroups.at(group).name; }

}  // namespace replay::report
