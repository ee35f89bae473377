// Studies whose jobs are drawn from seeds: their options and runs, and what their pages say of gains and of seeds.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/metrics/confidence.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/study/simulation.hpp"
#include "scheduler/study/table_of.hpp"

namespace replay::study {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

struct SeededOptions {
  std::uint64_t seeds = 1;  ///< 1 .. seeds
  std::uint64_t jobs = 10'000;
  bool quick = false;  ///< without what takes longest
};
inline constexpr SeededOptions kQuickOptions{.seeds = 1, .jobs = 2'000, .quick = true};

[[nodiscard]] inline std::string seeds_text(const SeededOptions& options) {
  return options.seeds == 1 ? "seed 1" : fmt::format("seeds 1 to {}", options.seeds);
}
[[nodiscard]] inline std::string quick_text(const SeededOptions& options, std::string_view left_out) {
  return fmt::format("--quick: {}, {} jobs, {}",
                     options.seeds == 1 ? "one seed" : fmt::format("{} seeds", options.seeds), options.jobs, left_out);
}

/// The figures of each run, by seed.
template <class Run, class Figures>
using SeededRuns = std::map<Run, std::vector<Figures>>;

/// Calls simulate(run, seed) for each run and seed. `rank`: runs of a low one first, so that no core has a long one left
/// at the end; the figures do not depend on it.
template <class Figures, class Run, class Simulate>
[[nodiscard]] SeededRuns<Run, Figures> run_seeds(std::string_view study, std::vector<Run> runs, int (*rank)(const Run&),
                                                 const SeededOptions& options, const Surroundings& surroundings,
                                                 const Simulate& simulate) {
  std::ranges::stable_sort(runs, {}, rank);
  SeededRuns<Run, Figures> figures;
  for (const Run& run : runs) figures[run].resize(options.seeds);
  run_all(surroundings, study, runs.size() * options.seeds, [&](std::size_t i) {
    const Run& run = runs[i / options.seeds];
    const std::uint64_t seed = i % options.seeds + 1;
    figures.at(run)[seed - 1] = simulate(run, seed);
  });
  return figures;
}

/// NaN of none.
[[nodiscard]] inline double mean_of(const std::vector<double>& values) {
  metrics::CompensatedSum sum;
  for (const double value : values) sum.add(value);
  return sum.total() / static_cast<double>(values.size());
}

/// By how many per cent a figure of `run` is below that of `base`: of the means, and by seed. Below 0: it is above.
/// Values: mean(run, figure) and by_seed(run, figure).
template <class Values>
struct Gain {
  typename Values::Run run, base;
  typename Values::Figure figure;

  [[nodiscard]] double percent(const Values& simulated) const {
    return less(simulated.mean(run, figure), simulated.mean(base, figure));
  }
  [[nodiscard]] std::vector<double> by_seed(const Values& simulated) const {
    std::vector<double> gains = simulated.by_seed(run, figure);
    const std::vector<double> theirs = simulated.by_seed(base, figure);
    gains.resize(std::min(gains.size(), theirs.size()));
    std::ranges::transform(gains, theirs, gains.begin(), less);
    return gains;
  }

 private:
  static double less(double ours, double theirs) { return (1 - ours / theirs) * 100; }
};

/// Columns "seed 1" to the last; of_seeds(key) has a value for each, or fewer.
template <class Key, class OfSeeds>
void add_seeds(TableOf<Key>& table, const SeededOptions& options, const std::string& unit, int decimals,
               const OfSeeds& of_seeds) {
  for (std::uint64_t seed = 0; seed < options.seeds; ++seed)
    table.column({fmt::format("seed {}", seed + 1), unit, decimals}, [of_seeds, seed](const Key& key) {
      const std::vector<double> values = of_seeds(key);
      return seed < values.size() ? values[seed] : kNoValue;
    });
}
/// Half of the 95 % confidence interval of the mean: what other seeds could make of it. NaN of one seed.
template <class Key, class OfSeeds>
void add_interval(TableOf<Key>& table, const std::string& unit, int decimals, const OfSeeds& of_seeds) {
  table.column({"+- (95 %)", unit, decimals},
               [of_seeds](const Key& key) { return metrics::estimate(of_seeds(key)).half_width; });
}

template <class Values>
struct GainRow {
  std::string name;
  Gain<Values> gain;
  std::optional<double> printed{};
  double sign = 1;  ///< -1: how much more
};

/// The mean, its confidence interval if asked for, and each seed's.
template <class Values>
[[nodiscard]] Table gain_table(const Values& simulated, Table head, const std::vector<GainRow<Values>>& rows,
                               std::string_view why, int decimals_of_seeds, bool has_interval) {
  constexpr Band kGainBand{.absolute = 10};  // percentage points
  using Key = GainRow<Values>;
  TableOf<Key> table{std::move(head)};
  const SeededOptions& options = simulated.outcome().options;
  const auto gains = [&](const Key& row) {
    std::vector<double> by_seed = row.gain.by_seed(simulated);
    by_seed.resize(options.seeds, kNoValue);
    for (double& gain : by_seed) gain *= row.sign;
    return by_seed;
  };
  table.column(
      {"mean", "%", 1, kGainBand, std::string{why}},
      [&](const Key& row) { return row.sign * row.gain.percent(simulated) + 0.0; },
      [](const Key& row) { return row.printed; });
  if (has_interval) add_interval(table, "%", 1, gains);
  add_seeds(table, options, "%", decimals_of_seeds, gains);
  for (const Key& row : rows) table.row(row.name, row);
  return table.table();
}

}  // namespace replay::study
