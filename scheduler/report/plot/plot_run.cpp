#include "scheduler/report/plot/plot_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scheduler/base/error.hpp"
#include "scheduler/report/draw/legend.hpp"
#include "scheduler/report/page/run_names.hpp"
#include "scheduler/results/event_log_file.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const fs::path& log) {
  const fs::path folder = fs::absolute(log).lexically_normal().parent_path();
  return log.filename() == "events.log" && folder.has_filename() ? folder.filename().string() : log.filename().string();
}

// Without its parameters.
std::string policy_of(const PlotRun& run) {
  const std::string& policy = run.records->table().header().value("policy");
  return policy.substr(0, policy.find(':'));
}

template <class NameOf>
bool name_all(std::vector<PlotRun>& runs, const NameOf& name_of) {
  std::set<std::string> names;
  for (PlotRun& run : runs) {
    run.label = name_of(run);
    if (run.label.empty()) return false;
    names.insert(run.label);
  }
  return names.size() == runs.size();
}

bool is_complete(const RunReader& run) {
  const auto is_whole = [&run](const metrics::JobRow& row) {
    return row.has_ended() && run.table().reason(row.job) != "the run was interrupted";
  };
  return std::ranges::all_of(run.table().rows(), is_whole) &&
         std::ranges::none_of(run.said(),
                              [](const SaidInLog& said) { return !said.job && said.text == "interrupted"; });
}

void label_runs(std::vector<PlotRun>& runs, std::span<const std::string> labels) {
  if (!labels.empty() && labels.size() != runs.size())
    throw UsageError(
        fmt::format("--label: expected one for each of the {} runs, or none, found {}", runs.size(), labels.size()));
  if (!labels.empty()) {
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].label = labels[i];
    return;
  }
  const bool has_names = name_all(runs, policy_of) ||
                         name_all(runs, [](const PlotRun& run) { return folder_of(run.log); }) ||
                         name_all(runs, [](const PlotRun& run) { return run.log.parent_path().string(); });
  (void)has_names;  // the paths may be equal
  for (PlotRun& run : runs) run.label += run_mark(run.log, is_complete(*run.records));
}

}  // namespace

std::vector<PlotRun> read_plot_runs(std::span<const fs::path> logs, std::span<const std::string> labels) {
  std::vector<PlotRun> runs;
  for (const fs::path& log : logs) {
    PlotRun run{.log = log, .label = {}, .records = std::make_unique<RunReader>()};
    results::read_event_log(log, run.records->follower());
    run.records->finish();
    mark_groups(run.records->stretches(), *run.records);
    if (run.records->table().rows().empty())
      throw InputError(fmt::format("{}: no job was submitted, so there is nothing to draw", log.string()));
    run.machine = Machine::parse(run.records->table().header().value("machine"));
    run.names = {run.records->table().header(), run.machine};
    runs.push_back(std::move(run));
  }
  label_runs(runs, labels);
  return runs;
}

void expect_few(std::span<const PlotRun> runs, std::string_view figure) {
  if (runs.size() > kMostCurves)
    throw UsageError(fmt::format("--figure {}: expected at most {} runs, found {}", figure, kMostCurves, runs.size()));
}

}  // namespace replay::report
