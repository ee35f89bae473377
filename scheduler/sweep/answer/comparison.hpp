// What the cells of a study say together, metric by metric: means over the seeds with 95 % intervals, differences between
// policies pair by pair of the same workload and seed, which of them are more than chance, and which policy is best.
//
// All differences of one metric, of each two policies in each setting, are tested together, by Holm's correction
// (metrics/holm.hpp): at most one metric in twenty has a mark that is wrong. A policy is best where its difference to every
// other one of the setting is settled in its favour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/metrics/confidence.hpp"
#include "scheduler/sweep/study_results.hpp"

namespace replay::sweep {

inline constexpr std::string_view kPolicyAxis = "policy", kSeedAxis = "seed";
inline constexpr double kChance = 0.05;               ///< that intervals and marks are wrong
inline constexpr std::size_t kMostSeeds = 1'000'000;  ///< of which an estimate still is a number

enum class Better : std::uint8_t { kLess, kMore, kNeither };
/// For times, slowdowns and what is lost less is better, for utilisation more; of the rest neither.
[[nodiscard]] Better better_of(std::string_view metric);

/// Of two policies in one setting: the second one's values less the first one's, seed by seed.
struct Difference {
  std::size_t first = 0, second = 0;                                ///< policies
  metrics::Estimate estimate{};                                     ///< over the seeds that both have
  double mean_of_first = std::numeric_limits<double>::quiet_NaN();  ///< over the same seeds
  double by_chance = std::numeric_limits<double>::quiet_NaN();      ///< NaN: fewer than two seeds
  bool is_settled = false;

  /// The same with every seed of two or more.
  [[nodiscard]] bool is_none() const { return estimate.mean == 0 && estimate.error == 0; }
  /// Of `estimate.mean`, in percent of the first one's mean; NaN where that is 0.
  [[nodiscard]] double percent() const;
};

/// One value of each axis but policy and seed.
struct Setting {
  std::vector<std::size_t> values{};       ///< of StudyComparison::axes
  std::vector<metrics::Estimate> means{};  ///< of each policy; of no values where there is no cell
  std::vector<Difference> differences{};   ///< of the policies 0 and 1, 0 and 2, ..., 1 and 2, ...
  std::optional<std::size_t> best{};       ///< policy

  /// Whether the policies that nothing else beats are equal with every seed: none is best, and no seeds would change it.
  bool is_tie = false;

  /// REQUIRES: two different policies.
  [[nodiscard]] const Difference& between(std::size_t one, std::size_t other) const;
};

struct MetricComparison {
  std::string metric{};
  Better better = Better::kNeither;
  std::vector<Setting> settings{};  ///< those with cells, in the order of the axes' values
  std::size_t tests = 0, open = 0;  ///< differences that could be tested, and those that are not settled
  double open_level = kChance;      ///< what Holm's correction asks of the next one of these
  std::size_t without_value = 0;    ///< cells that are done and have none

  /// The policy whose mean is best in the setting, the first of equal ones; nothing without two policies or a direction.
  [[nodiscard]] std::optional<std::size_t> leader(const Setting& setting) const;
  /// Estimate of how many seeds would settle the difference if its mean and variance stay as they are; kMostSeeds + 1
  /// for more than kMostSeeds. REQUIRES: it was tested.
  [[nodiscard]] std::size_t seeds_to_settle(const Difference& difference) const;
};

struct StudyComparison {
  std::vector<Axis> axes{};             ///< without policy and seed
  std::vector<std::string> policies{};  ///< the first one is the baseline; one of "" where the study has no such axis
  std::size_t seeds = 1;                ///< values of that axis
  bool is_provisional = false;          ///< cells are missing: what they bring may take marks back
  std::size_t undrawn = 0;              ///< settings whose cells are the same with every seed: they count once
  std::vector<MetricComparison> metrics{};  ///< in the study's order
};

/// O(cells * metrics * policies).
[[nodiscard]] StudyComparison compare(const StudyResults& results);

/// "load 0.7, malleable 0.5"; "" where there is no axis but policy and seed.
[[nodiscard]] std::string name_of(const StudyComparison& study, const Setting& setting);

}  // namespace replay::sweep
