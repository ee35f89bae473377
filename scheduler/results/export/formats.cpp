#include "scheduler/results/export/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/results/export/paraver.hpp"
#include "scheduler/results/export/writers.hpp"

namespace replay::results {
namespace {

constexpr std::array<std::string_view, 1> kPerfettoFiles = {".json"}, kPajeFiles = {".trace"},
                                          kEvalysFiles = {"_evalys.csv"}, kSwfFiles = {".swf"},
                                          kCsvFiles = {"_stretches.csv"};
constexpr std::array<std::string_view, 2> kBatsimFiles = {"_jobs.csv", "_schedule.json"};
constexpr std::array<std::string_view, 3> kParaverFiles = {".prv", ".pcf", ".row"},
                                          kGnuplotFiles = {".gp", "_gantt.dat", "_load.dat"};

const ExportFormat kFormats[] = {
    {"perfetto", kPerfettoFiles, "ui.perfetto.dev, chrome://tracing",
     "cores by node with the job on them, its sizes, level, user, class and wait; shared cores, suspended jobs, groups "
     "and "
     "slices as rows; queue, busy cores, MPL; shrinks, failures, states of nodes and notes as instants",
     "a job on adjacent cores is one slice in the row of the first of them, as wide as `width` says; waits are "
     "numbers, not "
     "slices",
     export_perfetto},
    {"paje", kPajeFiles, "PajeNG (pj_dump), ViTE",
     "cluster, nodes and cores; on each core the job, with the cores, processes and level that it has; shared cores; "
     "queue, "
     "busy cores, MPL as variables; shrinks, suspensions, failures, states of nodes and notes as events",
     "user, class and estimate of jobs; where a suspended job was; groups and slices; double quotes in texts become "
     "single "
     "ones",
     export_paje},
    {"paraver", kParaverFiles, "wxparaver, paramedir",
     "up to 2,000 jobs (200,000 threads): each an application with the states waiting, running, shrunk, suspended; "
     "more: one "
     "application with a thread per core, and the job as the value of an event; queue, busy cores, running and "
     "suspended jobs "
     "as events; times from the first record on, in microseconds",
     "user, class and estimate; which core of its node a rank is on after a shrink; with one application also waits "
     "and "
     "suspensions of single jobs; texts of failures and notes",
     [](const RunLog& run, const ExportFiles& files) { return export_paraver(run, files); }},
    {"evalys", kEvalysFiles, "Evalys (JobSet.from_csv), pandas",
     "jobs that ran to an end: times, sizes, success, and the cores that they used",
     "resizes and suspensions: a job is as wide as all cores it ever had; jobs that never ran or had not ended; "
     "reasons, "
     "users, classes",
     export_evalys},
    {"batsim", kBatsimFiles, "what reads Batsim's output, Evalys among it",
     "Batsim's seventeen columns and no others, for jobs that ended; its summary under its names",
     "as evalys; energy is -1; jobs that had not ended; reasons, users, classes", export_batsim},
    {"swf", kSwfFiles, "what reads the Standard Workload Format, replay among it",
     "the trace with waits, run times, most cores, states, users, queues and programs as they came out",
     "core numbers, resizes and suspensions; what jobs declare beyond SWF; reasons", export_swf},
    {"csv", kCsvFiles, "R, pandas, spreadsheets",
     "what each job had on the machine from one change to the next: state, cores by number, nodes, processes, level, "
     "whether "
     "they may be shared; its class, user, group, queue, requested size and submission",
     "jobs that never ran; outcomes, reasons; groups and slices; texts", export_stretches_csv},
    {"gnuplot", kGnuplotFiles, "gnuplot",
     "a script that draws cores over time, and queue, busy cores and suspended jobs below; shrunk jobs are hatched; "
     "its two "
     "tables",
     "where a suspended job was is in the table but not drawn; jobs that share a core are drawn over each other; "
     "users, "
     "classes, texts",
     export_gnuplot},
};

std::string files_text(const ExportFormat& format) {
  std::vector<std::string> files;
  for (const std::string_view suffix : format.suffixes) files.push_back(fmt::format("NAME{}", suffix));
  return fmt::format("{}", fmt::join(files, ", "));
}

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

const ExportFormat& export_format(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &ExportFormat::name);
  if (found != std::end(kFormats)) return *found;
  std::vector<std::string_view> names;
  for (const ExportFormat& format : kFormats) names.push_back(format.name);
  throw UsageError(fmt::format("--to: expected one of {}, found '{}'", fmt::join(names, ", "), name));
}

std::string export_format_list() {
  std::string text;
  for (const ExportFormat& format : kFormats)
    text += fmt::format("{}\n    files: {}\n    opened by: {}\n    holds: {}\n    loses: {}\n", format.name,
                        files_text(format), format.opened_by, format.holds, format.loses);
  return text;
}

std::string export_format_table() {
  std::string text = "| format | files | opened by | holds | loses |\n|---|---|---|---|---|\n";
  for (const ExportFormat& format : kFormats)
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", format.name, files_text(format), format.opened_by,
                        format.holds, format.loses);
  return text;
}

}  // namespace replay::results
