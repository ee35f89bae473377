#include "scheduler/experiment/seeds/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/metrics/confidence.hpp"
#include "scheduler/metrics/estimate_text.hpp"

namespace replay::experiment {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostSeeds = 1'000'000;

struct Row {
  const char* metric;
  const char* title;
  double scale;
  int decimals;
};
constexpr Row kRows[] = {
    {"mean_wait", "wait s", 1, 2},
    {"mean_response", "response s", 1, 2},
    {"mean_slowdown", "slowdown", 1, 3},
    {"mean_bounded_slowdown", "bounded slowdown 10 s", 1, 3},
    {"sldwa", "SLDwA", 1, 3},
    {"fragmentation", "fragmentation %", 100, 2},
    {"utilisation", "utilisation %", 100, 2},
    {"mean_mpl", "MPL", 1, 3},
    {"makespan", "makespan s", 1, 1},
    {"shrinks", "shrinks", 1, 1},
    {"expands", "expands", 1, 1},
    {"jobs_counted", "jobs", 1, 1},
    {"jobs_failed", "failed", 1, 1},
};

[[noreturn]] void wrong_list(std::string_view list, std::string_view part) {
  throw UsageError(fmt::format("--seeds: expected seeds such as 1-20, 1,3,7 or 1-5,9, found '{}'{}", list,
                               part == list ? "" : fmt::format(" with '{}'", part)));
}

std::vector<double> values_of(const SeededResult& result, std::string_view metric) {
  std::vector<double> values;
  values.reserve(result.by_seed.size());
  for (const metrics::Summary& summary : result.by_seed) {
    const metrics::Metric* const found = summary.find(metric);  // of nodes: only where the log tells of some
    values.push_back(found == nullptr ? std::nan("") : found->value);
  }
  return values;
}

metrics::Estimate difference(const SeededResult& first, const SeededResult& here, std::string_view metric, bool trim) {
  return metrics::estimate(metrics::percent_differences(values_of(first, metric), values_of(here, metric)), trim);
}

ordered_json to_json(const metrics::Estimate& estimate) {
  return {{"mean", number_or_null(estimate.mean)},
          {"half_width", number_or_null(estimate.half_width)},
          {"low", number_or_null(estimate.low())},
          {"high", number_or_null(estimate.high())}};
}

}  // namespace

std::vector<std::uint64_t> parse_seeds(std::string_view list) {
  std::vector<std::uint64_t> seeds;
  for (const std::string_view part : split(list, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_number<std::uint64_t>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<std::uint64_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first) wrong_list(list, part);
    if (*last - *first >= kMostSeeds || seeds.size() + (*last - *first) >= kMostSeeds)
      throw UsageError(fmt::format("--seeds: expected at most {} seeds, found more in '{}'", kMostSeeds, list));
    for (std::uint64_t seed = *first; seed - *first <= *last - *first; ++seed) {
      seeds.push_back(seed);
      if (seed == *last) break;
    }
  }
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : seeds)
    if (!seen.insert(seed).second) throw UsageError(fmt::format("--seeds: seed {} is there twice in '{}'", seed, list));
  if (seeds.size() < 2)
    throw UsageError(fmt::format("--seeds: expected at least two seeds, found '{}'; for one there is --seed", list));
  return seeds;
}

bool all_seeds_agree(const SeededResult& result) {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const auto& first = result.by_seed.front().metrics;
  return std::ranges::all_of(result.by_seed, [&](const metrics::Summary& other) {
    return std::ranges::equal(first, other.metrics, same, &metrics::Metric::value, &metrics::Metric::value);
  });
}

std::string seeds_table(const std::vector<SeededResult>& results, bool trim) {
  std::vector<std::vector<std::string>> rows(1, {"mean +- half-width"});
  for (const SeededResult& result : results) rows[0].push_back(result.policy);
  for (const Row& row : kRows) {
    auto& cells = rows.emplace_back(1, row.title);
    for (const SeededResult& result : results)
      cells.push_back(
          metrics::mean_text(metrics::estimate(values_of(result, row.metric), trim), row.decimals, row.scale));
  }
  std::string text = aligned(rows);
  if (results.size() < 2) return text;

  rows.assign(1, {fmt::format("% to {}, seed by seed", results[0].policy)});
  for (std::size_t i = 1; i < results.size(); ++i) rows[0].push_back(results[i].policy);
  for (const Row& row : kRows) {
    auto& cells = rows.emplace_back(1, row.title);
    for (std::size_t i = 1; i < results.size(); ++i)
      cells.push_back(metrics::difference_text(difference(results[0], results[i], row.metric, trim), 2));
  }
  return text + '\n' + aligned(rows);
}

ordered_json to_json(const std::vector<SeededResult>& results, const std::vector<std::uint64_t>& seeds, bool trim) {
  ordered_json json;
  json["format"] = "replay-seeds 1";
  json["seeds"] = seeds;
  json["confidence"] = 0.95;
  json["trimmed"] = trim;
  json["policies"] = ordered_json::array();
  for (const SeededResult& result : results) {
    ordered_json policy;
    policy["policy"] = result.policy;
    const metrics::Summary& fullest =
        std::ranges::max(result.by_seed, {}, [](const metrics::Summary& one) { return one.metrics.size(); });
    for (const metrics::Metric& metric : fullest.metrics) {
      const std::string name{metric.name};
      const std::vector<double> values = values_of(result, name);
      policy["metrics"][name] = to_json(metrics::estimate(values, trim));
      policy["metrics"][name]["unit"] = metric.unit;
      policy["metrics"][name]["values"] = values;  // NaN is written as null
      if (&result != results.data())
        policy["difference_percent"][name] = to_json(difference(results[0], result, name, trim));
    }
    json["policies"].push_back(std::move(policy));
  }
  return json;
}

}  // namespace replay::experiment
