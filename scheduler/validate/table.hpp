// Tables of a validation as text: the paper's Table 1 with S, R and P, mean errors, errors of jobs, where the runs
// part, the gains between policies; and all of it as JSON.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "scheduler/validate/result.hpp"

namespace replay::validate {

/// One line a cell, for when it ends: "30/poisson/easy: wait -0.4 %, response +0.1 %, slowdown +0.2 %".
[[nodiscard]] std::string cell_line(const CellResult& result);

/// All of it as text. REQUIRES: at least one result.
[[nodiscard]] std::string validation_text(const std::vector<CellResult>& results);

/// {"format", "mean_relative_error", "gains_percent", "cells"}: docs/formats/validation-json.md.
[[nodiscard]] nlohmann::ordered_json validation_json(const std::vector<CellResult>& results);

/// How a policy compares with the first one of the same load and arrivals, in percent; NaN where that cannot be had.
struct Gain {
  std::string place;  ///< "30/poisson"; "" where there is one load and one kind of arrivals
  std::string first, policy;
  std::array<double, compare::kFigureCount> simulated{}, real{};  ///< negative: better than the first
  [[nodiscard]] bool signs_agree(std::size_t figure) const;
};
[[nodiscard]] std::vector<Gain> gains_of(const std::vector<CellResult>& results);

/// The mean of |S - R| / R over all figures of the cells, "2.31 %"; with what it left out.
[[nodiscard]] std::string mean_error_text(const std::vector<compare::FigurePair>& pairs);

/// "1.2", "-" for what cannot be had.
[[nodiscard]] std::string value_text(double value, int decimals);
/// "+1.2", "-" for what cannot be had.
[[nodiscard]] std::string percent_text(double percent, int decimals = 1);

}  // namespace replay::validate
