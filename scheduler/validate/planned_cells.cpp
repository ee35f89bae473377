#include "scheduler/validate/planned_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/validate/table.hpp"
#include "traces/tools/scale.hpp"

namespace replay::validate {
namespace fs = std::filesystem;
namespace {

constexpr double kCellOverhead = 2;  // real seconds, for starting an agent and looking at the machine's load

std::vector<double> loads_of(const std::string& list) {
  std::vector<double> loads;
  for (const std::string_view part : split(list, ',')) {
    if (part.empty()) continue;
    const auto percent = parse_seconds(part);
    const double load = percent ? seconds(*percent) : 0;
    if (!(load > 0 && load <= 1000))
      throw UsageError(
          fmt::format("--loads: expected percents above 0, joined by commas, such as 30,50,70,90; found '{}'", part));
    if (std::ranges::find(loads, load) != loads.end())
      throw UsageError(fmt::format("--loads: {} stands there twice", part));
    loads.push_back(load);
  }
  return loads;
}

// Writes the trace with run times scaled to the load. Returns its path.
std::string scaled_trace(const ValidationSetting& setting, const fs::path& folder, double load, CoreCount cores) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  const experiment::RunSpec& run = setting.run;
  const fs::path file = folder / fmt::format("load-{:g}.swf", load);
  const RereadableTrace trace(
      run.trace, {.swf = {.strict = run.strict}, .job_table = experiment::side_file_of(run.trace, run.jobs_from)});
  TraceWriter writer(file.string(), {.force = true});
  ScaleOptions options;
  options.load = load / 100;
  options.by = LoadBy::kRuntimes;
  options.machine_size = cores;
  options.exact = true;
  (void)scale_trace(
      trace, writer, options,
      fmt::format("replay trace scale --load {:g} --by runtimes --machine-size {} --exact", load / 100, cores));
  writer.close();
  return file.string();
}

}  // namespace

std::vector<ValidationCell> cells_of_trace(ValidationSetting& setting, const std::string& loads_list,
                                           const fs::path& folder, CoreCount cores) {
  if (setting.run.trace.empty() || setting.run.trace == "-")
    throw UsageError(
        "--trace is missing: expected a file (each cell reads it again), such as traces/emulated-small.swf; or "
        "--paper-experiment");
  if (setting.run.policies.empty())
    throw UsageError("--policy is missing: expected policies such as easy,fcfs-malleable");
  const std::vector<std::string>& policies = setting.run.policies;
  for (const std::string& policy : policies)
    experiment::expect_policy_that_decides(make_policy(policy), "a validation, which also runs for real,");
  std::vector<ValidationCell> cells;
  const auto add = [&](const std::string& trace, std::optional<double> load) {
    for (const std::string& policy : policies)
      cells.push_back({.name = cell_name(load, "", policy), .trace = trace, .policy = policy, .load_percent = load});
  };
  const std::vector<double> loads = loads_of(loads_list);
  if (loads.empty()) add(setting.run.trace, std::nullopt);
  for (const double load : loads) add(scaled_trace(setting, folder, load, cores), load);
  if (!loads.empty()) setting.run.jobs_from.clear();  // the new traces have side files of their own
  std::set<std::string> names;
  for (const ValidationCell& cell : cells)
    if (!names.insert(cell.name).second)
      throw UsageError(fmt::format("--policy, --loads: cell {} is there twice; expected each once", cell.name));
  return cells;
}

std::vector<ValidationCell> chosen_cells(std::vector<ValidationCell> cells, const std::string& list) {
  if (list.empty()) return cells;
  std::set<std::string> names;
  for (const std::string_view part : split(list, ',')) {
    bool found = part.empty();
    for (const ValidationCell& cell : cells)
      if (cell.name == part || cell.name.starts_with(fmt::format("{}/", part)))
        found = names.insert(cell.name).second || true;
    if (found) continue;
    std::vector<std::string> all;
    all.reserve(cells.size());
    for (const ValidationCell& cell : cells) all.push_back(cell.name);
    throw UsageError(
        fmt::format("--cells: there is no cell '{}'; expected some of {}, or the beginning of some, such as "
                    "{}",
                    part, fmt::join(all, ", "), all[0].substr(0, all[0].find('/'))));
  }
  std::erase_if(cells, [&](const ValidationCell& cell) { return !names.contains(cell.name); });
  return cells;
}

// Writes nothing, because the user may still decline.
std::vector<PlannedCell> plan_cells(const ValidationSetting& setting, std::vector<ValidationCell> cells,
                                    const fs::path& out) {
  std::vector<PlannedCell> planned;
  for (ValidationCell& cell : cells) {
    PlannedCell& p = planned.emplace_back(PlannedCell{std::move(cell), {}});
    p.folder = out / "cells" / p.cell.name;
    p.inputs = cell_inputs(setting, p.cell);
    if (!setting.force) p.result = finished_cell(p.folder, p.cell.name, p.inputs);
  }
  for (PlannedCell& p : planned) {
    if (p.result) continue;
    p.real_seconds = foresee_cell(setting, p.cell) * setting.run.time_scale + kCellOverhead;
  }
  return planned;
}

double real_seconds_of(const std::vector<PlannedCell>& planned) {
  double sum = 0;
  for (const PlannedCell& p : planned)
    if (!p.result) sum += p.real_seconds;
  return sum;
}

std::vector<CellResult> results_of(const std::vector<PlannedCell>& planned) {
  std::vector<CellResult> results;
  for (const PlannedCell& p : planned)
    if (p.result) results.push_back(*p.result);
  return results;
}

void run_cells(const ValidationSetting& setting, std::vector<PlannedCell>& planned, const sweep::Show& say) {
  const auto run = [&](std::size_t i, const fs::path& /*scratch*/) {
    PlannedCell& p = planned[i];
    say(fmt::format("cell {} of {}: {}, about {}; in all {} left", i + 1, planned.size(), p.cell.name,
                    about_text(p.real_seconds), about_text(real_seconds_of(planned))));
    p.result = run_cell(setting, p.cell, p.folder, p.inputs);
    say("  " + cell_line(*p.result));
    return std::string{};
  };
  const auto is_done = [&](std::size_t i) { return planned[i].result.has_value(); };
  sweep::run_here({.count = planned.size(), .compute = run, .is_done = is_done});
}

}  // namespace replay::validate
