#include "scheduler/experiment/logged/logged_runs.hpp"

#include <fmt/core.h>

#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/scratch_folder.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/results/output_names.hpp"
#include "traces/file_kind.hpp"

namespace replay::experiment {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPolicy = "logged";

Prepared prepare_log(const std::string& log) {
  RunSpec spec;
  spec.world = World::kSimulated;
  spec.trace = log;
  spec.nodes_from = "none";  // what happened to nodes has happened to the log's jobs
  spec.policies = {kPolicy};
  spec.outputs = "events,run";
  return prepare(std::move(spec));
}

// A file that some command of ours reads and that is neither a run's nor a log's is refused by its kind; others are left to
// the reader of event logs, which says what it expects.
bool is_log(const std::string& run) {
  const auto known = kind_of_path(run);
  if (!known || known->kind == FileKind::kEventLog || known->kind == FileKind::kRunFolder) return false;
  if (known->kind == FileKind::kSwf) return true;
  throw InputError(
      fmt::format("{}: expected a run's folder, its events.log, or a log in SWF, found {}", run, known->text));
}

}  // namespace

struct LoggedRuns::Made {
  explicit Made(const std::string& log)
      : named(folder.path() / fs::path{log}.filename()),
        at_stop{std::make_unique<RemovedAtStop>((folder.path() / results::file_of("events")).string()),
                std::make_unique<RemovedAtStop>(named.string())} {}

  ScratchFolder folder;
  fs::path named;  // the event log
  std::unique_ptr<RemovedAtStop> at_stop[2];
};

LoggedRuns::LoggedRuns() = default;
LoggedRuns::~LoggedRuns() = default;

std::string LoggedRuns::run_of(const std::string& run) {
  if (const auto known = made_.find(run); known != made_.end()) return known->second->named.string();
  if (!is_log(run)) return run;
  const Prepared prepared = prepare_log(run);
  for (const std::string& note : prepared.notes)
    fmt::print(stderr, "replay: {}: {}\n", clean_line(run), clean_line(note));
  auto made = std::make_unique<Made>(run);
  terminal::ProgressLine progress;
  const auto show = [&](std::size_t done) {
    progress.show(fmt::format("{}: {} of {} jobs", run, done, prepared.logged.workload.jobs.size()));
  };
  const results::PolicyRun done =
      simulate_policy(prepared, 0, made->folder.path(), "replay " + command_line_of(to_words(prepared.spec)), show);
  if (!done.fault.empty()) throw PolicyError(done.fault);
  if (!done.unwritten.empty()) throw InputError(done.unwritten.front());
  fs::rename(made->folder.path() / results::file_of("events"), made->named);
  return made_.emplace(run, std::move(made)).first->second->named.string();
}

std::vector<std::string> LoggedRuns::runs_of(std::span<const std::string> runs) {
  std::vector<std::string> all;
  for (const std::string& run : runs) all.push_back(run_of(run));
  return all;
}

std::optional<std::string> LoggedRuns::given_for(const fs::path& log) const {
  for (const auto& [given, made] : made_)
    if (made->named == log) return given;
  return std::nullopt;
}

}  // namespace replay::experiment
