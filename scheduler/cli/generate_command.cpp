// `replay generate MODEL`: makes a workload from a model or a log.

#include <CLI/CLI.hpp>

#include "scheduler/cli/commands.hpp"

namespace replay::cli {

Command add_generate(CLI::App& app) {
  auto* generate = app.add_subcommand("generate", "make a workload: from a model, or from a log");
  generate->footer("`replay generate MODEL --help` says more.");
  generate->require_subcommand(1);
  return add_group(*generate, {add_generate_lublin, add_generate_from_log});
}

}  // namespace replay::cli
