// `replay export RUN... --to FORMAT`: runs as files that other programs open.

#include <fmt/format.h>

#include <filesystem>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/experiment/logged/logged_runs.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/results/export/export_files.hpp"
#include "scheduler/results/export/formats.hpp"

namespace replay::cli {
namespace {

struct ExportGiven {
  std::vector<std::string> runs;
  std::string format;
  std::string out;
  bool list = false;
};

std::string format_names() { return joined(results::export_formats(), ", ", &results::ExportFormat::name); }

void say(const std::string& run, const std::string& remark) {
  fmt::print(stderr, "replay: {}: {}\n", clean_line(run), clean_line(remark));
}

int export_runs(const ExportGiven& given) {
  if (given.list) {
    fmt::print("{}", results::export_format_list());
    return 0;
  }
  if (given.runs.empty()) throw UsageError("export: expected a run, found none (--list shows the formats)");
  if (given.format.empty())
    throw UsageError(fmt::format("export: expected --to and one of {}; --list says what each holds", format_names()));
  const results::ExportFormat& format = results::export_format(given.format);
  experiment::LoggedRuns logged;
  std::vector<std::filesystem::path> logs;
  for (const std::string& run : logged.runs_of(given.runs))
    for (const std::filesystem::path& log : results::event_logs_of(run)) logs.push_back(log);
  const std::vector<results::PlannedExport> planned = results::plan_exports(logs, format, given.out);
  for (const results::PlannedExport& of : planned)
    for (const std::string& file : of.files) results::expect_no_log(file, logs);
  const HeedStops heeding;
  for (const auto& [log, files] : planned) {
    const results::RunLog run{log};
    const std::string name = logged.given_for(log).value_or(log.string());
    try {
      for (const std::string& remark : format.write(run, files)) say(name, remark);
      if (!run.end())
        say(name, fmt::format("the log was cut off{}; the export has what there is",
                              run.end().reason.empty() ? "" : ": " + run.end().reason));
    } catch (const results::ExportStopped&) {
      say(name, "interrupted: it was not exported");
      return exit_status_after_stop();
    }
    if (files.front() == "-") continue;
    for (const std::string& file : files) fmt::print("{}\n", clean_line(file));
  }
  return 0;
}

}  // namespace

Command add_export(CLI::App& app) {
  CLI::App& command = add_command(
      app, "export", "a run in the format of another program: Perfetto, Paje, Paraver, Evalys, ...",
      "RUN is a run's folder (or the folder of several policies' runs), an events.log, or a log in SWF with waits (.gz "
      "too).\nEverything is made from the event log. The names of the files are printed; in a folder they begin with "
      "the name of the run.\n"
      "Examples: replay export runs/20261121-040000-easy --to perfetto -o easy.json.gz\n"
      "          replay export runs/compare/easy runs/compare/fcfs --to paje -o traces/\n"
      "          replay export --list                               what each format holds and loses");
  auto given = std::make_shared<ExportGiven>();
  command.add_option("RUN", given->runs, "the runs");
  add_text(command, "--to", given->format, "FORMAT", fmt::format("the format: {}", format_names()));
  add_text(command, "-o,--out", given->out, "PATH",
           "the file, of several the first, or a folder (default: the working folder); compressed if it ends "
           "in .gz; - is standard "
           "output, for formats of one file");
  command.add_flag("--list", given->list, "print the formats: their files, what opens them, what they hold and lose");
  return [given] { return export_runs(*given); };
}

}  // namespace replay::cli
