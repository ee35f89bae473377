#include "scheduler/validate/result.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/json/write_json.hpp"

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

// An object of the file, with its place for messages.
class Object {
 public:
  Object(const ordered_json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) fail("an object", short_text(object));
  }

  template <class T>
  [[nodiscard]] T get(const char* name, const char* expected) const {
    if (!object_.contains(name)) fail(fmt::format("field '{}'", name), "no such field");
    try {
      return object_[name].get<T>();
    } catch (const ordered_json::exception&) {
      fail(fmt::format("{} in field '{}'", expected, name), short_text(object_[name]));
    }
  }
  [[nodiscard]] double number(const char* name) const {  // null: not a number
    return is_null(name) ? std::numeric_limits<double>::quiet_NaN() : get<double>(name, "a number or null");
  }
  [[nodiscard]] std::optional<double> optional_number(const char* name) const {
    return is_null(name) ? std::nullopt : std::optional{get<double>(name, "a number or null")};
  }
  [[nodiscard]] std::string text(const char* name) const { return get<std::string>(name, "a text"); }
  [[nodiscard]] std::optional<std::string> optional_text(const char* name) const {
    return is_null(name) ? std::nullopt : std::optional{get<std::string>(name, "a text or null")};
  }
  [[nodiscard]] std::size_t count(const char* name) const { return get<std::size_t>(name, "a count"); }
  [[nodiscard]] Object object(const char* name) const {
    if (!object_.contains(name)) fail(fmt::format("field '{}'", name), "no such field");
    return {object_[name], place_ + ": " + name};
  }
  [[nodiscard]] std::optional<Object> optional_object(const char* name) const {
    return is_null(name) ? std::nullopt : std::optional{object(name)};
  }
  [[nodiscard]] const ordered_json& raw(const char* name) const {
    if (!object_.contains(name)) fail(fmt::format("field '{}'", name), "no such field");
    return object_[name];
  }

 private:
  [[nodiscard]] bool is_null(const char* name) const {
    if (!object_.contains(name)) fail(fmt::format("field '{}'", name), "no such field");
    return object_[name].is_null();
  }
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw InputError(fmt::format("{}: expected {}, found {}", place_, expected, found));
  }

  const ordered_json& object_;
  std::string place_;
};

ValidatedRun run_of(const Object& object) {
  ValidatedRun run;
  for (std::size_t i = 0; i < compare::kFigureCount; ++i)
    run.figures[i] = object.number(std::string{compare::kFigureNames[i]}.c_str());
  run.jobs = object.count("jobs");
  run.failed = object.count("failed");
  run.makespan = object.number("makespan_s");
  run.shrinks = object.get<int>("shrinks", "a count");
  run.expands = object.get<int>("expands", "a count");
  return run;
}

compare::ErrorSpread spread_of(const Object& object) {
  return {object.number("mean"), object.number("p50"), object.number("p90"), object.number("p95"),
          object.number("max")};
}

compare::JobErrors errors_of(const Object& object) {
  return {object.count("jobs"),
          object.count("one_only"),
          spread_of(object.object("wait_s")),
          spread_of(object.object("execution_s")),
          spread_of(object.object("response_s")),
          spread_of(object.object("relative_execution"))};
}

// "time_scale: 0.1 then, 0.05 now"
std::string difference(const ordered_json& then, const ordered_json& now) {
  std::string text;
  const auto note = [&text](const std::string& name, const std::string& before, const std::string& here) {
    text += fmt::format("{}{}: {} then, {} now", text.empty() ? "" : "; ", name, before, here);
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
  object["disturbed"] = result.disturbed;
  object["load_of_others"] = {{"before", optional_number(result.load_before)},
                              {"after", optional_number(result.load_after)}};
  object["started"] = result.started;
  object["ended"] = result.ended;
  object["version"] = result.version;
  return object;
}

CellResult cell_result_of(const ordered_json& whole, const std::string& file) {
  const Object object{whole, file};
  if (const auto format = object.text("format"); format != kValidationFormat)
    throw InputError(
        fmt::format("{}: expected \"{}\" in field 'format', found \"{}\"", file, kValidationFormat, format));
  CellResult result;
  result.cell = object.text("cell");
  result.policy = object.text("policy");
  result.load_percent = object.optional_number("load_percent");
  result.arrivals = object.text("arrivals");
  result.inputs = object.raw("inputs");
  result.simulated = run_of(object.object("simulated"));
  result.real = run_of(object.object("real"));
  if (const auto measured = object.optional_object("measured")) result.measured = run_of(*measured);
  result.why_not_measured = object.text("why_not_measured");
  result.simulated_errors = errors_of(object.object("job_errors"));
  if (const auto errors = object.optional_object("measured_job_errors")) result.measured_errors = errors_of(*errors);
  result.divergence = object.optional_text("divergence");
  result.measured_divergence = object.optional_text("measured_divergence");
  result.tolerance_s = object.number("tolerance_s");
  result.disturbed = object.get<bool>("disturbed", "true or false");
  const Object load = object.object("load_of_others");
  result.load_before = load.optional_number("before");
  result.load_after = load.optional_number("after");
  result.started = object.text("started");
  result.ended = object.text("ended");
  result.version = object.text("version");
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
