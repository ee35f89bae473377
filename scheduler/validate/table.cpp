#include "scheduler/validate/table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/text_table.hpp"

namespace replay::validate {
namespace {

using nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr int kDecimals[] = {2, 2, 3};  // of wait, response, slowdown
constexpr const char* kShort[] = {"wait", "resp", "sld"};

std::string place_of(const CellResult& result) {
  const std::size_t end = result.cell.rfind('/');
  return end == std::string::npos ? "" : result.cell.substr(0, end);
}

std::string marked(const CellResult& result) { return result.cell + (result.disturbed.value_or(false) ? " *" : ""); }

// S, R, P and the error of each figure.
std::string figures_table(const std::vector<CellResult>& results) {
  Rows rows(1, {"cell"});
  for (const char* name : kShort)
    for (const char* column : {"S", "R", "P", "err %"}) rows[0].push_back(fmt::format("{} {}", name, column));
  for (const CellResult& result : results) {
    auto& row = rows.emplace_back(1, marked(result));
    for (std::size_t i = 0; i < compare::kFigureCount; ++i) {
      row.push_back(value_text(result.simulated.figures[i], kDecimals[i]));
      row.push_back(value_text(result.real.figures[i], kDecimals[i]));
      row.push_back(result.measured ? value_text(result.measured->figures[i], kDecimals[i]) : "-");
      row.push_back(percent_text(compare::relative_error(result.pair(i)) * 100));
    }
  }
  return aligned(rows);
}

std::string jobs_table(const std::vector<CellResult>& results) {
  Rows rows = {{"S - R, size", "jobs", "wait p50", "p95", "max", "run p50", "p95", "max", "resp p50", "p95", "max",
                "run mean %"}};
  for (const CellResult& result : results) {
    const compare::JobErrors& errors = result.simulated_errors;
    auto& row = rows.emplace_back(1, marked(result));
    row.push_back(fmt::format("{}", errors.jobs));
    for (const compare::ErrorSpread* spread : {&errors.wait, &errors.execution, &errors.response})
      for (const double value : {spread->p50, spread->p95, spread->max}) row.push_back(value_text(value, 2));
    row.push_back(percent_text(errors.relative_execution.mean * 100, 2));
  }
  return aligned(rows);
}

std::string gains_table(const std::vector<Gain>& gains) {
  Rows rows = {{"% to the first policy"}};
  for (const char* name : kShort)
    for (const char* column : {"S", "R"}) rows[0].push_back(fmt::format("{} {}", name, column));
  for (const Gain& gain : gains) {
    auto& row = rows.emplace_back(
        1, fmt::format("{}{}{} to {}", gain.place, gain.place.empty() ? "" : ": ", gain.policy, gain.first));
    for (std::size_t i = 0; i < compare::kFigureCount; ++i) {
      row.push_back(percent_text(gain.simulated[i]));
      row.push_back(percent_text(gain.real[i]) + (gain.signs_agree(i) ? "" : " !"));
    }
  }
  return aligned(rows);
}

std::string means_text(const std::vector<CellResult>& results) {
  std::vector<compare::FigurePair> policy_to_real, simulated_to_policy;
  for (const CellResult& result : results) {
    if (!result.measured) continue;
    for (std::size_t i = 0; i < compare::kFigureCount; ++i) {
      policy_to_real.push_back(result.timing_pair(i));
      simulated_to_policy.push_back(result.run_time_pair(i));
    }
  }
  std::string text = fmt::format("mean of |S - R| / R over all figures: {}\n", mean_error_text(pairs_of(results)));
  if (policy_to_real.empty()) return text;
  text += fmt::format("  of |S - P| / P, run times: {}\n", mean_error_text(simulated_to_policy));
  return text + fmt::format("  of |P - R| / R, what the real run adds: {}\n", mean_error_text(policy_to_real));
}

ordered_json mean_json(const std::vector<compare::FigurePair>& pairs) {
  const compare::MeanError error = compare::mean_relative_error(pairs);
  return {{"value", number_or_null(error.mean)},
          {"figures", error.figures},
          {"nothing", error.nothing},
          {"left_out", error.left_out}};
}

}  // namespace

std::string value_text(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-";
}

std::string percent_text(double percent, int decimals) {
  return std::isfinite(percent) ? fmt::format("{:+.{}f}", percent, decimals) : "-";
}

std::string mean_error_text(const std::vector<compare::FigurePair>& pairs) {
  const compare::MeanError error = compare::mean_relative_error(pairs);
  std::string text = std::isfinite(error.mean) ? fmt::format("{:.2f} %", error.mean * 100) : "-";
  text += fmt::format(" ({} figures", error.figures);
  if (error.nothing > 0) text += fmt::format("; {} where both are nothing", error.nothing);
  if (error.left_out > 0) text += fmt::format("; {} without one, as R is nothing", error.left_out);
  return text + ")";
}

std::string cell_line(const CellResult& result) {
  std::string text = result.cell + ":";
  for (std::size_t i = 0; i < compare::kFigureCount; ++i)
    text += fmt::format("{} {} {} %", i == 0 ? "" : ",", compare::kFigureNames[i],
                        percent_text(compare::relative_error(result.pair(i)) * 100));
  if (result.real.failed > 0) text += fmt::format("; {} did not complete", counted(result.real.failed, "job"));
  return text + (result.disturbed.value_or(false) ? "; disturbed" : "");
}

bool Gain::signs_agree(std::size_t figure) const {
  const double s = simulated[figure], r = real[figure];
  return !std::isfinite(s) || !std::isfinite(r) || (s < 0) == (r < 0);
}

std::vector<Gain> gains_of(const std::vector<CellResult>& results) {
  std::vector<Gain> gains;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string place = place_of(results[i]);
    std::size_t first = 0;
    while (place_of(results[first]) != place) ++first;
    if (first == i) continue;
    Gain gain{place, results[first].policy, results[i].policy};
    for (std::size_t k = 0; k < compare::kFigureCount; ++k) {
      gain.simulated[k] = compare::percent_more(results[first].simulated.figures[k], results[i].simulated.figures[k]);
      gain.real[k] = compare::percent_more(results[first].real.figures[k], results[i].real.figures[k]);
    }
    gains.push_back(std::move(gain));
  }
  return gains;
}

std::string validation_text(const std::vector<CellResult>& results) {
  std::string text =
      "wait and response in s, slowdown = response / expanded run time: means over jobs. S simulated, R real, P "
      "simulated "
      "with the real run's\nsubmit instants and run times; err = (S - R) / R\n\n";
  text += figures_table(results) + '\n' + means_text(results);
  bool disturbed = false, failed = false;
  for (const CellResult& result : results) {
    disturbed = disturbed || result.disturbed.value_or(false);
    failed = failed || result.real.failed > 0;
  }
  if (disturbed) text += "* disturbed: others used the machine before or after the run\n";
  for (const CellResult& result : results) {
    if (result.real.failed > 0)
      text += fmt::format("{}: {} did not complete in the real run\n", result.cell, counted(result.real.failed, "job"));
    if (!result.why_not_measured.empty()) text += fmt::format("{}: no P: {}\n", result.cell, result.why_not_measured);
  }
  text += fmt::format("\nper job, in s of trace time\n{}", jobs_table(results));
  if (const auto gains = gains_of(results); !gains.empty())
    text += fmt::format("\n{}(negative: better; !: simulator and real run disagree on which is better)\n",
                        gains_table(gains));
  text += "\nwhere simulator and real run part\n";
  for (const CellResult& result : results)
    text += fmt::format(
        "{}: {}\n", result.cell,
        result.divergence ? *result.divergence : fmt::format("they decide the same, to {:g} s", result.tolerance_s));
  return text;
}

ordered_json validation_json(const std::vector<CellResult>& results) {
  ordered_json json = {{"format", "replay-validation-table 1"}, {"mean_relative_error", mean_json(pairs_of(results))}};
  json["gains_percent"] = ordered_json::array();
  for (const Gain& gain : gains_of(results)) {
    ordered_json object = {{"place", gain.place}, {"policy", gain.policy}, {"to", gain.first}};
    for (std::size_t i = 0; i < compare::kFigureCount; ++i)
      object[compare::kFigureNames[i]] = {{"simulated", number_or_null(gain.simulated[i])},
                                          {"real", number_or_null(gain.real[i])}};
    json["gains_percent"].push_back(std::move(object));
  }
  json["cells"] = ordered_json::array();
  for (const CellResult& result : results) json["cells"].push_back(to_json(result));
  return json;
}

}  // namespace replay::validate
