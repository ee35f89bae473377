// Studies whose jobs are drawn from seeds: their options and cells.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/study/findings.hpp"
#include "scheduler/study/simulation.hpp"

namespace replay::study {

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

/// Adds the figures that a Record has of each cell. make(workload, seed) draws the jobs; facts_of() them are found as
/// "W1/workload".
template <class Record, class Make>
void run_seeds(Findings& found, const std::vector<Cell>& cells, const SeededOptions& options, const Setting& setting,
               const Surroundings& surroundings, const Make& make) {
  for (const Cell& cell : cells)
    if (const std::string facts = cell.workload() + "/workload"; !found.has(facts))
      for (std::uint64_t seed = 1; seed <= options.seeds; ++seed)
        found.add(facts, seed, facts_of(make(cell.workload(), seed)));
  run_cells(found, cells, surroundings, [&](const Cell& cell) {
    const auto drawn = make(cell.workload(), cell.seed);
    Record record;
    simulate_one(drawn.workload, cell.policy, setting, record.observers());
    return record.figures(drawn);
  });
}

}  // namespace replay::study
