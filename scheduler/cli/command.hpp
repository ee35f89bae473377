// What the file of a command is written with: CLI11, the options that commands have in common, and the types that what the
// user gives is kept in. A wrong value is a UsageError.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"

namespace replay::cli {

/// A command; `footer` is what its help says below the options.
inline CLI::App& add_command(CLI::App& to, const std::string& name, const std::string& about,
                             const std::string& footer) {
  CLI::App* const command = to.add_subcommand(name, about);
  command->footer(footer);
  return *command;
}

}  // namespace replay::cli
