// The commands that start real programs, in a build without them (REPLAY_RUNTIME=OFF): each says what is missing.

#include <utility>

#include "scheduler/cli/command.hpp"

namespace replay::cli {
namespace {

constexpr const char* kNotHere = "not in this build, which only simulates";

[[noreturn]] void refuse(const std::string& command) {
  throw UsageError(
      command +
      ": this build only simulates (REPLAY_RUNTIME=OFF); `./dev build` makes one that starts real programs, "
      "and `replay simulate` takes the same traces and policies");
}

// Takes whatever words follow, so that the answer is about the command and not about them.
Command add_missing(CLI::App& app, const std::string& name) {
  CLI::App* const command = app.add_subcommand(name, kNotHere);
  command->allow_extras();
  command->prefix_command();
  return [name]() -> int { refuse("replay " + name); };
}

}  // namespace

void prepare_runtime() {}

Command add_run(CLI::App& app, const std::string&) {
  const auto given = std::make_shared<std::pair<experiment::RunSpec, ResultOptions>>();
  add_common_options(app, given->first, given->second);
  return [given]() -> int { refuse("replay"); };
}

Command add_validate(CLI::App& app) { return add_missing(app, "validate"); }
Command add_serve(CLI::App& app, const std::string&) { return add_missing(app, "serve"); }
Command add_agent(CLI::App& app) { return add_missing(app, "agent"); }
Command add_sbatch(CLI::App& app) { return add_missing(app, "sbatch"); }
Command add_calibrate(CLI::App& app) { return add_missing(app, "calibrate"); }
Command add_submit(CLI::App& app) { return add_missing(app, "submit"); }
Command add_jobs(CLI::App& app) { return add_missing(app, "jobs"); }
Command add_cancel(CLI::App& app) { return add_missing(app, "cancel"); }
Command add_run_program(CLI::App& app) { return add_missing(app, "run"); }

}  // namespace replay::cli
