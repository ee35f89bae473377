#include "scheduler/sweep/answer/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/metrics/holm.hpp"

namespace replay::sweep {
namespace {

// Which axes are compared, and where the others are.
struct Roles {
  std::vector<std::size_t> of_setting;
  std::optional<std::size_t> policy, seed;

  explicit Roles(const std::vector<Axis>& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].name == kPolicyAxis)
        policy = i;
      else if (axes[i].name == kSeedAxis)
        seed = i;
      else
        of_setting.push_back(i);
    }
  }
};

// Of one policy in one setting: the seeds that have a value, ascending, and their values.
struct SeedValue {
  std::size_t seed;
  double value;
};
using BySeed = std::vector<SeedValue>;
using ByPolicy = std::vector<BySeed>;
using BySetting = std::map<std::vector<std::size_t>, ByPolicy>;

std::vector<std::size_t> setting_of(const CellResult& cell, const Roles& roles) {
  std::vector<std::size_t> setting;
  for (const std::size_t axis : roles.of_setting) setting.push_back(cell.values[axis]);
  return setting;
}

bool are_same(const std::map<std::string, double>& metrics, const std::map<std::string, double>& others) {
  return std::ranges::equal(metrics, others, [](const auto& one, const auto& other) {
    const bool is_none = std::isnan(one.second) && std::isnan(other.second);
    return one.first == other.first && (is_none || one.second == other.second);
  });
}

// Those in which each policy has the same metrics with every seed: nothing was drawn, and a repetition says nothing.
using Settings = std::set<std::vector<std::size_t>>;
Settings undrawn_settings(const StudyResults& results, const Roles& roles) {
  std::map<std::vector<std::size_t>, std::map<std::size_t, const CellResult*>> first;  // of each policy
  Settings repeated, drawn;
  for (const CellResult& cell : results.cells) {
    if (!cell.failure.empty()) continue;
    std::vector<std::size_t> setting = setting_of(cell, roles);
    const auto [known, is_first] = first[setting].try_emplace(roles.policy ? cell.values[*roles.policy] : 0, &cell);
    if (!is_first) (are_same(known->second->metrics, cell.metrics) ? repeated : drawn).insert(std::move(setting));
  }
  for (const auto& setting : drawn) repeated.erase(setting);
  return repeated;
}

BySetting values_of(const StudyResults& results, const Roles& roles, std::size_t policies, const Settings& undrawn,
                    MetricComparison& comparison) {
  BySetting all;
  for (const CellResult& cell : results.cells) {
    INVARIANT(cell.values.size() == results.axes.size(), "cell {} has {} values for {} axes", cell.id,
              cell.values.size(), results.axes.size());
    std::vector<std::size_t> setting = setting_of(cell, roles);
    const bool is_drawn = !undrawn.contains(setting);
    ByPolicy& of = all.try_emplace(std::move(setting), policies).first->second;
    if (!cell.failure.empty()) continue;
    const auto found = cell.metrics.find(comparison.metric);
    if (found == cell.metrics.end() || !std::isfinite(found->second)) {
      ++comparison.without_value;
      continue;
    }
    BySeed& values = of[roles.policy ? cell.values[*roles.policy] : 0];
    if (is_drawn)
      values.push_back({roles.seed ? cell.values[*roles.seed] : 0, found->second});
    else if (values.empty())
      values.push_back({0, found->second});
  }
  for (auto& [setting, of] : all)
    for (BySeed& seeds : of) {
      std::ranges::sort(seeds, {}, &SeedValue::seed);
      INVARIANT(std::ranges::adjacent_find(seeds, {}, &SeedValue::seed) == seeds.end(), "two cells are one");
    }
  return all;
}

metrics::Estimate mean_of(const BySeed& seeds) {
  std::vector<double> values;
  values.reserve(seeds.size());
  for (const auto& [seed, value] : seeds) values.push_back(value);
  return metrics::estimate(values, false, 1 - kChance);
}

Difference difference_of(const ByPolicy& of, std::size_t first, std::size_t second) {
  std::vector<double> before, differences;
  auto pair = of[second].begin();
  for (const SeedValue& of_first : of[first]) {
    while (pair != of[second].end() && pair->seed < of_first.seed) ++pair;
    if (pair == of[second].end()) break;
    if (pair->seed > of_first.seed) continue;
    before.push_back(of_first.value);
    differences.push_back(pair->value - of_first.value);
  }
  Difference difference{
      .first = first, .second = second, .estimate = metrics::estimate(differences, false, 1 - kChance)};
  difference.mean_of_first = metrics::estimate(before).mean;
  difference.by_chance = metrics::probability_by_chance(difference.estimate);
  return difference;
}

bool is_better(Better better, double value, double than) {
  return better == Better::kLess ? value < than : value > than;
}

// What a policy is to all others of the setting: better, or better than some and equal to the rest.
enum class Stand : std::uint8_t { kBest, kTied, kOpen };
Stand stand_of(const MetricComparison& comparison, const Setting& setting, std::size_t policy) {
  Stand stand = Stand::kBest;
  for (const Difference& difference : setting.differences) {
    if (difference.first != policy && difference.second != policy) continue;
    const double lead = difference.second == policy ? difference.estimate.mean : -difference.estimate.mean;
    if (difference.is_none())
      stand = Stand::kTied;
    else if (!difference.is_settled || !is_better(comparison.better, lead, 0))
      return Stand::kOpen;
  }
  return stand;
}

// The settled differences, then the best policies that follow from them.
void settle(MetricComparison& comparison, std::size_t policies) {
  std::vector<double> by_chance;
  for (const Setting& setting : comparison.settings)
    for (const Difference& difference : setting.differences) by_chance.push_back(difference.by_chance);
  const metrics::HolmOutcome outcome = metrics::holm(by_chance, kChance);
  comparison.tests =
      static_cast<std::size_t>(std::ranges::count_if(by_chance, [](double p) { return !std::isnan(p); }));
  comparison.open = outcome.open;
  comparison.open_level = outcome.open_level;
  std::size_t at = 0;
  for (Setting& setting : comparison.settings) {
    for (Difference& difference : setting.differences) difference.is_settled = outcome.settled[at++];
    if (comparison.better == Better::kNeither || policies < 2) continue;
    for (std::size_t policy = 0; policy < policies; ++policy) {
      const Stand stand = stand_of(comparison, setting, policy);
      if (stand == Stand::kBest) setting.best = policy;
      setting.is_tie = setting.is_tie || stand == Stand::kTied;
    }
  }
}

MetricComparison compare(const StudyResults& results, const Roles& roles, std::size_t policies, const Settings& undrawn,
                         const std::string& metric) {
  MetricComparison comparison{.metric = metric, .better = better_of(metric)};
  for (const auto& [values, of] : values_of(results, roles, policies, undrawn, comparison)) {
    Setting& setting = comparison.settings.emplace_back(Setting{.values = values});
    for (const BySeed& seeds : of) setting.means.push_back(mean_of(seeds));
    for (std::size_t first = 0; first < policies; ++first)
      for (std::size_t second = first + 1; second < policies; ++second)
        setting.differences.push_back(difference_of(of, first, second));
  }
  settle(comparison, policies);
  return comparison;
}

}  // namespace

Better better_of(std::string_view metric) {
  constexpr std::array<std::string_view, 11> kLess{"sldwa",         "makespan",    "fragmentation", "mean_queue",
                                                   "max_queue",     "jobs_failed", "jobs_overrun",  "jobs_killed",
                                                   "jobs_rejected", "jobs_lost",   "lost_work"};
  constexpr std::array<std::string_view, 3> kOverJobs{"wait", "response", "slowdown"};
  const auto is_of_jobs = [metric](std::string_view what) {
    return !metric.starts_with("jobs_") && metric.find(what) != std::string_view::npos;
  };
  if (metric.ends_with("utilisation")) return Better::kMore;
  if (std::ranges::find(kLess, metric) != kLess.end() || std::ranges::any_of(kOverJobs, is_of_jobs))
    return Better::kLess;
  return Better::kNeither;
}

double Difference::percent() const {
  return mean_of_first == 0 ? std::numeric_limits<double>::quiet_NaN() : estimate.mean / mean_of_first * 100;
}

const Difference& Setting::between(std::size_t one, std::size_t other) const {
  const std::pair pair = std::minmax(one, other);
  const auto found = std::ranges::find_if(differences, [&pair](const Difference& difference) {
    return difference.first == pair.first && difference.second == pair.second;
  });
  INVARIANT(found != differences.end(), "policies {} and {} are not compared", one, other);
  return *found;
}

std::optional<std::size_t> MetricComparison::leader(const Setting& setting) const {
  if (better == Better::kNeither || setting.means.size() < 2) return std::nullopt;
  std::optional<std::size_t> leader;
  for (std::size_t i = 0; i < setting.means.size(); ++i)
    if (setting.means[i].values > 0 &&
        (!leader || is_better(better, setting.means[i].mean, setting.means[*leader].mean)))
      leader = i;
  return leader;
}

std::size_t MetricComparison::seeds_to_settle(const Difference& difference) const {
  const metrics::Estimate& estimate = difference.estimate;
  INVARIANT(std::isfinite(estimate.error), "a difference over {} seeds was not tested", estimate.values);
  const double deviation = estimate.error * std::sqrt(static_cast<double>(estimate.values));
  return metrics::values_needed(estimate.mean, deviation, 1 - open_level, kMostSeeds);
}

StudyComparison compare(const StudyResults& results) {
  const Roles roles{results.axes};
  StudyComparison study;
  study.is_provisional = results.missing() > 0;
  for (const std::size_t axis : roles.of_setting) study.axes.push_back(results.axes[axis]);
  study.policies = roles.policy ? results.axes[*roles.policy].values : std::vector<std::string>{""};
  if (roles.seed) study.seeds = results.axes[*roles.seed].values.size();
  const Settings undrawn = undrawn_settings(results, roles);
  study.undrawn = undrawn.size();
  for (const std::string& metric : results.metrics)
    study.metrics.push_back(compare(results, roles, study.policies.size(), undrawn, metric));
  return study;
}

std::string name_of(const StudyComparison& study, const Setting& setting) {
  std::string name;
  for (std::size_t i = 0; i < study.axes.size(); ++i)
    add_item(name, ", ", "{} {}", study.axes[i].name, study.axes[i].values[setting.values[i]]);
  return name;
}

}  // namespace replay::sweep
