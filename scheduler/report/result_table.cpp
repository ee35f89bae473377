#include "scheduler/report/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/text_table.hpp"

namespace replay::report {
namespace {

struct Column {
  const char* metric;
  const char* title;
  double scale;
  int decimals;
};

// The figures of the FCFS-malleable paper, in its order, then what malleability did.
constexpr Column kColumns[] = {
    {"mean_wait", "wait s", 1, 2},
    {"mean_response", "resp. s", 1, 2},
    {"mean_slowdown", "slowdown", 1, 3},
    {"mean_bounded_slowdown", "bsld 10s", 1, 3},
    {"fragmentation", "frag. %", 100, 2},
    {"utilisation", "util. %", 100, 2},
    {"mean_mpl", "MPL", 1, 3},
    {"makespan", "span s", 1, 1},
    {"shrinks", "shrinks", 1, 0},
    {"expands", "expands", 1, 0},
    {"jobs_counted", "jobs", 1, 0},
    {"jobs_failed", "failed", 1, 0},
};

std::string cell(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-";
}

// In percent; NaN where the first is 0.
double difference(const Result& first, const Result& here, const char* metric) {
  const double before = first.summary.value(metric);
  return before == 0 ? std::nan("") : (here.summary.value(metric) - before) / before * 100;
}

}  // namespace

std::string result_table(std::span<const Result> results) {
  std::vector<std::vector<std::string>> rows(1, {"policy"});
  for (const Column& column : kColumns) rows[0].emplace_back(column.title);
  for (const Result& result : results) {
    auto& row = rows.emplace_back(1, result.policy);
    for (const Column& column : kColumns)
      row.push_back(cell(result.summary.value(column.metric) * column.scale, column.decimals));
  }
  std::string text = aligned(rows);
  if (results.size() < 2) return text;

  rows.resize(1);
  rows[0][0] = fmt::format("% to {}", results[0].policy);
  for (const Result& result : results.subspan(1)) {
    auto& row = rows.emplace_back(1, result.policy);
    for (const Column& column : kColumns) {
      const double percent = difference(results[0], result, column.metric);
      row.push_back(std::isfinite(percent) ? fmt::format("{:+.1f}", percent) : "-");
    }
  }
  return text + '\n' + aligned(rows);
}

std::string rigid_lines(const std::string& policy, const std::map<std::string, std::size_t>& jobs_by_reason) {
  constexpr std::size_t kMost = 10;
  std::vector<std::pair<std::string, std::size_t>> sorted{jobs_by_reason.begin(), jobs_by_reason.end()};
  std::ranges::stable_sort(sorted, std::greater{}, [](const auto& entry) { return entry.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMost); ++i)
    text += fmt::format("{}: {} ran as rigid: {}\n", policy, counted(sorted[i].second, "job"), sorted[i].first);
  if (sorted.size() > kMost)
    text += fmt::format("{}: others ran as rigid for {} more reasons; events.log says which\n", policy,
                        sorted.size() - kMost);
  return text;
}

std::string node_line(const std::string& policy, const metrics::Summary& summary) {
  if (summary.find("jobs_lost") == nullptr) return "";
  const auto count = [&](const char* metric) { return static_cast<std::int64_t>(summary.value(metric)); };
  const auto core_time = [&](const char* metric) {
    constexpr double kHour = 3600, kFewHours = 10;
    const double time = summary.value(metric);
    return time < kFewHours * kHour ? fmt::format("{:.0f} core-seconds", time)
                                    : fmt::format("{:.0f} core-hours", time / kHour);
  };
  return fmt::format(
      "{}: {} lost, {} requeued: {} of work lost; nodes closed for {}; utilisation of the cores that were there "
      "{:.3f}\n",
      policy, counted(count("jobs_lost"), "job"), count("requeues"), core_time("lost_work"),
      core_time("closed_core_time"), summary.value("present_utilisation"));
}

nlohmann::ordered_json to_json(std::span<const Result> results) {
  auto list = nlohmann::ordered_json::array();
  for (const Result& result : results) {
    nlohmann::ordered_json json;
    json["policy"] = result.policy;
    for (const metrics::Metric& metric : result.summary.metrics)
      json["metrics"][std::string{metric.name}] = number_or_null(metric.value);
    if (&result != results.data())
      for (const Column& column : kColumns)
        json["difference_percent"][column.metric] = number_or_null(difference(results[0], result, column.metric));
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace replay::report
