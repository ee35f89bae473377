#include "scheduler/report/page/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/compare/run_difference.hpp"

namespace replay::report {
namespace {

constexpr double kRealTolerance = 1;     // seconds of trace time, at least,
constexpr double kLateStart = 0.5;       // and so many real ones: as `replay validate` has it
constexpr std::size_t kMostInText = 10;  // jobs that are listed

// In seconds.
double tolerance_of(const RunData& run) {
  if (run.header.value("body") != "live") return 0;
  const double scale = parse_number<double>(run.header.value("time-scale"), 1e-6, 1e6).value_or(1);
  return std::max(kRealTolerance, kLateStart / scale);
}

// How far apart; infinite if only one of them is not a number.
double apart(double a, double b) {
  if (std::isnan(a) != std::isnan(b)) return std::numeric_limits<double>::infinity();
  return std::isnan(a) ? 0 : std::abs(a - b);
}

std::unordered_map<JobId, std::size_t> rows_by_job(const JobColumns& jobs) {
  std::unordered_map<JobId, std::size_t> rows;
  for (std::size_t i = 0; i < jobs.size(); ++i) rows.emplace(jobs.id[i], i);
  return rows;
}

void add_jobs(PageDifference& difference, const JobColumns& first, const JobColumns& here) {
  const auto rows = rows_by_job(first);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const auto found = rows.find(here.id[i]);
    if (found == rows.end()) continue;
    const std::size_t other = found->second;
    const bool same = apart(first.start[other], here.start[i]) <= difference.tolerance &&
                      apart(first.end[other], here.end[i]) <= difference.tolerance &&
                      first.outcome[other] == here.outcome[i];
    if (same) continue;
    difference.jobs.push_back(static_cast<std::int32_t>(i));
    difference.wait_difference.push_back(here.wait[i] - first.wait[other]);
  }
}

bool share_a_job(const JobColumns& a, const JobColumns& b) {
  const auto rows = rows_by_job(a);
  for (const JobId id : b.id)
    if (rows.contains(id)) return true;
  return a.size() == 0 && b.size() == 0;
}

}  // namespace

std::optional<PageDifference> difference_of(std::span<RunData> runs, std::size_t run, std::size_t against,
                                            std::span<const std::filesystem::path> logs) {
  RunData &first = runs[against], &here = runs[run];
  if (!share_a_job(first.jobs, here.jobs)) {
    here.warnings.push_back({"note", fmt::format("it shares no job with {}, so the two are not compared", first.name),
                             -1, std::numeric_limits<double>::quiet_NaN()});
    return std::nullopt;
  }
  PageDifference difference{.run = run, .against = against};
  difference.tolerance = std::max(tolerance_of(first), tolerance_of(here));
  const compare::RunDifference found =
      compare::compare_runs(logs[against].string(), logs[run].string(), from_seconds(difference.tolerance),
                            difference.tolerance == 0, kMostInText);
  difference.remarks = found.remarks;
  difference.text = compare::difference_text(found);
  if (found.parting) {
    difference.parts = true;
    difference.at = seconds(found.parting->at);
    difference.first = fmt::format("A is {}, B is {}\n{}", first.name, here.name, compare::parting_text(found));
    for (std::size_t i = 0; i < here.jobs.size(); ++i)
      if (here.jobs.id[i] == found.parting->job) difference.job = static_cast<std::int32_t>(i);
  }
  add_jobs(difference, first.jobs, here.jobs);
  return difference;
}

}  // namespace replay::report
