// `replay trace forecast FILE`: learns from a trace how many jobs of which kind to expect at each half hour of the day, for
// policies that predict.

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "scheduler/base/file/sha256.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/policy/moldable/forecast_file.hpp"
#include "traces/workload_reader.hpp"

namespace replay::cli {
namespace {

namespace fs = std::filesystem;

struct ForecastGiven {
  std::string trace, jobs_from;
  std::map<std::string, std::string> cleaning;
  std::string output;  // empty: a table
  bool strict = false;
  bool force = false;
};

using Rows = std::vector<std::vector<std::string>>;

std::string table_of_classes(const TrainedForecast& forecast) {
  Rows rows{{"class", "jobs", "N_opt", "T(N_opt) s", "least", "most", "Downey", "A", "sigma"}};
  for (std::size_t c = 0; c < kJobClasses; ++c) {
    const TrainedClass& means = forecast.classes[c];
    std::vector<std::string>& row =
        rows.emplace_back(std::vector{std::string{to_text(static_cast<JobClass>(c))}, fmt::format("{}", means.jobs)});
    for (const double mean : {means.optimum, means.at_optimum_s, means.least, means.most})
      row.push_back(means.jobs > 0 ? fmt::format("{:.1f}", mean) : "-");
    row.push_back(fmt::format("{}", means.downey_jobs));
    for (const double mean : {means.downey_a, means.downey_sigma})
      row.push_back(means.downey_jobs > 0 ? fmt::format("{:.2f}", mean) : "-");
  }
  return aligned(rows);
}

// Jobs to expect in the whole half hour.
std::string expected_in(Duration watched, std::int64_t submitted) {
  if (watched == Duration::zero()) return "-";
  return fmt::format("{:.2f}", static_cast<double>(submitted) * (seconds(kForecastSlot) / seconds(watched)));
}

std::string table_of_slots(const TrainedForecast& forecast) {
  Rows rows{{"from", "watched h", "short", "medium", "long", "expected: short", "medium", "long"}};
  for (std::size_t slot = 0; slot < kForecastSlots; ++slot) {
    const Duration watched = forecast.watched[slot];
    std::vector<std::string>& row =
        rows.emplace_back(std::vector{time_of_slot(slot), fmt::format("{:.2f}", seconds(watched) / 3600)});
    for (const TrainedClass& means : forecast.classes) row.push_back(fmt::format("{}", means.submitted[slot]));
    for (const TrainedClass& means : forecast.classes) row.push_back(expected_in(watched, means.submitted[slot]));
  }
  return aligned(rows);
}

int make_forecast(const ForecastGiven& given) {
  if (given.trace == "-")
    throw UsageError("expected the trace in a file, by whose bytes it is known again; found standard input");
  expect_file_of_its_own("--output", given.output, {given.trace, given.jobs_from}, given.force);
  const CleaningRules rules = experiment::cleaning_rules(given.cleaning);
  const auto side_file = experiment::side_file_of(given.trace, given.jobs_from);
  const LoadedWorkload loaded =
      read_workload(TraceReader(given.trace, {.swf = {.strict = given.strict}, .job_table = side_file}), rules);
  for (std::size_t i = 0; i < loaded.workload.jobs.size(); ++i)
    if (loaded.workload.jobs.cores_needed(i) > loaded.machine_size)
      throw InputError(fmt::format(
          "{}: job {} needs {} processors, the machine has {}: --machine-size N says that it "
          "has more, --oversize skip or clamp leaves such jobs out or cuts them",
          given.trace, number(loaded.workload.jobs.id(i)), loaded.workload.jobs.cores_needed(i), loaded.machine_size));
  const TrainedForecast forecast = learned_from(loaded.workload, {.trace = fs::path{given.trace}.filename().string(),
                                                                  .sha256 = digest_of(given.trace).sha256,
                                                                  .machine = loaded.machine_size});
  if (forecast.training.jobs == 0)
    throw InputError(fmt::format("{}: expected jobs that are submitted at two instants or more, found {}", given.trace,
                                 counted(loaded.workload.jobs.size(), "job")));
  const std::string text = to_json(forecast).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  (void)trained_forecast_of(nlohmann::json::parse(text), given.trace);  // names an odd declaration
  for (const std::string& line : loaded.report.to_lines()) fmt::print(stderr, "{}\n", clean_lines(line));
  if (given.output.empty()) {
    fmt::print("{}: {} on {} processors\n\n{}\n{}", clean_lines(forecast.training.trace),
               counted(forecast.training.jobs, "job"), forecast.training.machine, table_of_classes(forecast),
               table_of_slots(forecast));
    return 0;
  }
  write_forecast(forecast, given.output);
  fmt::print(stderr, "{}: {} learned from {} on {} processors\n", given.output, counted(forecast.training.jobs, "job"),
             given.trace, forecast.training.machine);
  return 0;
}

}  // namespace

Command add_trace_forecast(CLI::App& trace) {
  CLI::App& command =
      add_command(trace, "forecast",
                  "how many jobs of which kind to expect at each half hour of the day, for policies that predict",
                  "Example: replay trace forecast w1.swf -o w1.forecast.json\n"
                  "         replay simulate --trace w2.swf --policy scojo-p:predict=w1.forecast.json");
  auto given = std::make_shared<ForecastGiven>();
  command.add_option("FILE", given->trace, "the training workload: SWF, plain or .gz")->required();
  add_side_file(command, given->jobs_from);
  add_text(command, "-o,--output", given->output, "FILE",
           "where the forecast goes, NAME.forecast.json (default: a table is printed)");
  command.add_flag("--force", given->force, "replace the file if it exists");
  add_cleaning_options(command, given->cleaning, given->strict);
  return [given] { return make_forecast(*given); };
}

}  // namespace replay::cli
