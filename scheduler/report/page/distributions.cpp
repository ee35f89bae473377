// The distributions of a run's waits, responses and slowdowns.

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "scheduler/base/percentile.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/report/page/job_columns.hpp"

namespace replay::report {
namespace {

constexpr std::size_t kMostPoints = 512;

struct Values {
  std::vector<double> wait, response, slowdown;
};

// At most kMostPoints of the sorted values, the first and the last among them; of equal ones the last.
Distribution distribution(std::string of, std::string by, std::string name, std::vector<double> values) {
  Distribution curve{std::move(of), std::move(by), std::move(name), percentile(values, 0.5), {}, {}};
  std::ranges::sort(values);
  const std::size_t points = std::min(kMostPoints, values.size());
  const auto count = static_cast<double>(values.size());
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t at = points == 1 ? values.size() - 1 : i * (values.size() - 1) / (points - 1);
    const double x = values[at];
    const auto not_above = std::ranges::upper_bound(values, x) - values.begin();
    if (!curve.x.empty() && curve.x.back() == x) continue;
    curve.x.push_back(x);
    curve.y.push_back(static_cast<double>(not_above) / count);
  }
  return curve;
}

void add_all(std::vector<Distribution>& curves, const std::string& by, const std::string& name, const Values& values) {
  const std::pair<const char*, const std::vector<double>&> kinds[] = {
      {"wait", values.wait}, {"response", values.response}, {"slowdown", values.slowdown}};
  for (const auto& [of, numbers] : kinds)
    if (!numbers.empty()) curves.push_back(distribution(of, by, name, numbers));
}

void add(Values& values, const metrics::JobTimes& times) {
  values.wait.push_back(seconds(times.wait));
  values.response.push_back(seconds(times.response()));
  values.slowdown.push_back(times.bounded_slowdown(std::chrono::seconds{10}));
}

}  // namespace

std::vector<Distribution> distributions(const RunReader& run) {
  Values all;
  std::array<Values, kJobClasses> by_class;
  std::array<Values, kSizeGroups> by_size;
  const auto rows = run.table().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].ran()) continue;
    const metrics::JobTimes times = rows[i].times();
    add(all, times);
    if (const std::uint8_t of = class_index(run, i); of != kAbsent) add(by_class[of], times);
    add(by_size[size_group(rows[i].processes)], times);
  }
  std::vector<Distribution> curves;
  add_all(curves, "all", "all", all);
  for (std::size_t of = 0; of < kJobClasses; ++of)
    add_all(curves, "class", std::string{to_text(static_cast<JobClass>(of))}, by_class[of]);
  for (std::size_t group = 0; group < kSizeGroups; ++group)
    add_all(curves, "size", std::string{size_group_name(group)}, by_size[group]);
  return curves;
}

}  // namespace replay::report
