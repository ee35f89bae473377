// Results of studies, made by hand.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/sweep/study_results.hpp"

namespace replay::test {

/// A study of policies, loads and seeds without cells.
inline sweep::StudyResults empty_study(std::vector<std::string> policies, std::vector<std::string> loads, int seeds) {
  sweep::StudyResults study{.name = "made", .metrics = {"mean_wait"}, .axes = {}, .cells = {}};
  study.planned = policies.size() * loads.size() * static_cast<std::size_t>(seeds);
  study.axes = {{"policy", std::move(policies)}, {"load", std::move(loads)}, {"seed", {}}};
  for (int seed = 1; seed <= seeds; ++seed) study.axes[2].values.push_back(fmt::format("{}", seed));
  return study;
}

inline sweep::CellResult& add_cell(sweep::StudyResults& study, std::vector<std::size_t> values, double mean_wait) {
  sweep::CellResult cell{.id = fmt::format("{:04x}", study.cells.size()),
                         .values = std::move(values),
                         .version = "1.0",
                         .failure = {},
                         .metrics = {}};
  cell.metrics["mean_wait"] = mean_wait;
  return study.cells.emplace_back(std::move(cell));
}

/// One with a cell for each value: waits[policy][load][seed].
inline sweep::StudyResults made_study(std::vector<std::string> policies, std::vector<std::string> loads,
                                      const std::vector<std::vector<std::vector<double>>>& waits) {
  sweep::StudyResults study = empty_study(std::move(policies), std::move(loads), static_cast<int>(waits[0][0].size()));
  for (std::size_t policy = 0; policy < waits.size(); ++policy)
    for (std::size_t load = 0; load < waits[policy].size(); ++load)
      for (std::size_t seed = 0; seed < waits[policy][load].size(); ++seed)
        add_cell(study, {policy, load, seed}, waits[policy][load][seed]);
  return study;
}

}  // namespace replay::test
