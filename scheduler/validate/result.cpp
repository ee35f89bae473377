#include "scheduler/validate/result.hpp"

#include <fmt/format.h>

#include <limits>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/text/add_item.hpp"

namespace replay::validate {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

constexpr const char* kValidationFormat = "replay-validation 1";
constexpr const char* kFile = "result.json";

// ---- to JSON ----

ordered_json optional_number(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json();
}
ordered_json optional_text(const std::optional<std::string>& text) {
  return text ? ordered_json(*text) : ordered_json();
}

ordered_json to_json(const ValidatedRun& run) {
  ordered_json object;
  for (std::size_t i = 0; i < compare::kFigureCount; ++i)
    object[compare::kFigureNames[i]] = number_or_null(run.figures[i]);
  object.update(ordered_json{{"jobs", run.jobs},
                             {"failed", run.failed},
                             {"makespan_s", number_or_null(run.makespan)},
                             {"shrinks", run.shrinks},
                             {"expands", run.expands}});
  return object;
}

ordered_json to_json(const compare::ErrorSpread& spread) {
  return {{"mean", number_or_null(spread.mean)},
          {"p50", number_or_null(spread.p50)},
          {"p90", number_or_null(spread.p90)},
          {"p95", number_or_null(spread.p95)},
          {"max", number_or_null(spread.max)}};
}

ordered_json to_json(const compare::JobErrors& errors) {
  return {{"jobs", errors.jobs},
          {"one_only", errors.one_only},
          {"wait_s", to_json(errors.wait)},
          {"execution_s", to_json(errors.execution)},
          {"response_s", to_json(errors.response)},
          {"relative_execution", to_json(errors.relative_execution)}};
}

// ---- and back ----

using Place = JsonPlace<ordered_json>;

constexpr const char* kNumber = "a number or null";

double number_at(const Place& place) {  // null: not a number
  return place.is_null() ? std::numeric_limits<double>::quiet_NaN() : place.as<double>(kNumber);
}

std::optional<double> optional_number_at(const Place& place) {
  return place.is_null() ? std::nullopt : std::optional{place.as<double>(kNumber)};
}

std::string text_at(const Place& place) { return place.as<std::string>("a text"); }

std::optional<std::string> optional_text_at(const Place& place) {
  return place.is_null() ? std::nullopt : std::optional{place.as<std::string>("a text or null")};
}

std::size_t count_at(const Place& place) { return place.as<std::size_t>("a count"); }

ValidatedRun run_of(const Place& object) {
  ValidatedRun run;
  for (std::size_t i = 0; i < compare::kFigureCount; ++i)
    run.figures[i] = number_at(object.at(std::string{compare::kFigureNames[i]}.c_str()));
  run.jobs = count_at(object.at("jobs"));
  run.failed = count_at(object.at("failed"));
  run.makespan = number_at(object.at("makespan_s"));
  run.shrinks = object.at("shrinks").as<int>("a count");
  run.expands = object.at("expands").as<int>("a count");
  return run;
}

compare::ErrorSpread spread_of(const Place& object) {
  return {number_at(object.at("mean")), number_at(object.at("p50")), number_at(object.at("p90")),
          number_at(object.at("p95")), number_at(object.at("max"))};
}

compare::JobErrors errors_of(const Place& object) {
  return {count_at(object.at("jobs")),        count_at(object.at("one_only")),
          spread_of(object.at("wait_s")),     spread_of(object.at("execution_s")),
          spread_of(object.at("response_s")), spread_of(object.at("relative_execution"))};
}

// "time_scale: 0.1 then, 0.05 now"
std::string difference(const ordered_json& then, const ordered_json& now) {
  std::string text;
  const auto note = [&text](const std::string& name, const std::string& before, const std::string& here) {
    add_item(text, "; ", "{}: {} then, {} now", name, before, here);
  };
  for (const auto& [name, value] : now.items())
    if (!then.contains(name) || then[name] != value)
      note(name, then.contains(name) ? then[name].dump() : "not stated", value.dump());
  for (const auto& [name, value] : then.items())
    if (!now.contains(name)) note(name, value.dump(), "not stated");
  return text;
}

}  // namespace

// In trace time, as all figures.
double CellResult::resolution(std::size_t figure) const {
  constexpr double kRealSeconds = 0.001;
  return compare::kFigureNames[figure] == "wait" ? kRealSeconds / inputs.value("time_scale", 1.0) : 0;
}

compare::FigurePair CellResult::pair(std::size_t figure) const {
  return {simulated.figures[figure], real.figures[figure], resolution(figure)};
}

compare::FigurePair CellResult::run_time_pair(std::size_t figure) const {
  return {simulated.figures[figure], measured->figures[figure], resolution(figure)};
}

compare::FigurePair CellResult::timing_pair(std::size_t figure) const {
  return {measured->figures[figure], real.figures[figure], resolution(figure)};
}

ordered_json to_json(const CellResult& result) {
  ordered_json object = {{"format", kValidationFormat},
                         {"cell", result.cell},
                         {"policy", result.policy},
                         {"load_percent", optional_number(result.load_percent)},
                         {"arrivals", result.arrivals},
                         {"inputs", result.inputs},
                         {"simulated", to_json(result.simulated)},
                         {"real", to_json(result.real)}};
  object["measured"] = result.measured ? to_json(*result.measured) : ordered_json();
  object["why_not_measured"] = result.why_not_measured;
  for (std::size_t i = 0; i < compare::kFigureCount; ++i)
    object["relative_error"][compare::kFigureNames[i]] = number_or_null(compare::relative_error(result.pair(i)));
  object["job_errors"] = to_json(result.simulated_errors);
  object["measured_job_errors"] = result.measured_errors ? to_json(*result.measured_errors) : ordered_json();
  object["divergence"] = optional_text(result.divergence);
  object["measured_divergence"] = optional_text(result.measured_divergence);
  object["tolerance_s"] = result.tolerance_s;
  object["disturbed"] = result.disturbed ? ordered_json(*result.disturbed) : ordered_json();
  object["load_of_others"] = {{"before", optional_number(result.load_before)},
                              {"after", optional_number(result.load_after)}};
  object["started"] = result.started;
  object["ended"] = result.ended;
  object["version"] = result.version;
  return object;
}

CellResult cell_result_of(const ordered_json& whole, const std::string& file) {
  const Place object(whole, file);
  if (const Place format = object.at("format"); text_at(format) != kValidationFormat)
    format.fail(fmt::format("\"{}\"", kValidationFormat));
  CellResult result;
  result.cell = text_at(object.at("cell"));
  result.policy = text_at(object.at("policy"));
  result.load_percent = optional_number_at(object.at("load_percent"));
  result.arrivals = text_at(object.at("arrivals"));
  result.inputs = object.at("inputs").value();
  result.simulated = run_of(object.at("simulated"));
  result.real = run_of(object.at("real"));
  if (const Place measured = object.at("measured"); !measured.is_null()) result.measured = run_of(measured);
  result.why_not_measured = text_at(object.at("why_not_measured"));
  result.simulated_errors = errors_of(object.at("job_errors"));
  if (const Place errors = object.at("measured_job_errors"); !errors.is_null())
    result.measured_errors = errors_of(errors);
  result.divergence = optional_text_at(object.at("divergence"));
  result.measured_divergence = optional_text_at(object.at("measured_divergence"));
  result.tolerance_s = number_at(object.at("tolerance_s"));
  const Place disturbed = object.at("disturbed");
  result.disturbed = disturbed.is_null() ? std::nullopt : std::optional{disturbed.as<bool>("true or false")};
  const Place load = object.at("load_of_others");
  result.load_before = optional_number_at(load.at("before"));
  result.load_after = optional_number_at(load.at("after"));
  result.started = text_at(object.at("started"));
  result.ended = text_at(object.at("ended"));
  result.version = text_at(object.at("version"));
  return result;
}

std::optional<CellResult> finished_cell(const fs::path& folder, const std::string& cell, const ordered_json& inputs) {
  const fs::path file = folder / kFile;
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  constexpr const char* kWaysOut = "--force runs the cell again";
  CellResult result;
  try {
    result = cell_result_of(read_json<ordered_json>(file), file.string());
  } catch (const InputError& broken) {
    throw InputError(fmt::format("{}; {}", broken.what(), kWaysOut));
  }
  if (result.cell != cell)
    throw InputError(fmt::format("{}: expected the result of cell {}, found that of {}; {}", file.string(), cell,
                                 result.cell, kWaysOut));
  if (const std::string other = difference(result.inputs, inputs); !other.empty())
    throw InputError(fmt::format("{}: cell {} was run with other inputs: {}; choose another --out, or {}",
                                 file.string(), cell, other, kWaysOut));
  return result;
}

void write_cell_result(const fs::path& folder, const CellResult& result) {
  write_json(folder / kFile, to_json(result));
}

void remove_cell_result(const fs::path& folder) {
  std::error_code error;
  fs::remove(folder / kFile, error);
  if (error) throw InputError(fmt::format("{}: cannot be removed: {}", (folder / kFile).string(), error.message()));
}

std::vector<compare::FigurePair> pairs_of(const std::vector<CellResult>& results) {
  std::vector<compare::FigurePair> pairs;
  for (const CellResult& result : results)
    for (std::size_t i = 0; i < compare::kFigureCount; ++i) pairs.push_back(result.pair(i));
  return pairs;
}

}  // namespace replay::validate
