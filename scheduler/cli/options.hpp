// The options that several commands have in common, as CLI11 options that fill plain structs of other rooms.
#pragma once

#include <map>
#include <string>

#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/experiment/scenario.hpp"

namespace CLI {
class App;  // its header takes four seconds to compile
}  // namespace CLI

namespace replay::cli {

// Each adds its options to a command; what they fill must outlive the parse.

/// The options that `replay`, `replay simulate` and `replay validate` share.
void add_common_options(CLI::App& command, experiment::CommonOptions& options);
/// The cleaning rules among them, for commands that only read a trace.
void add_cleaning_options(CLI::App& command, std::map<std::string, std::string>& given, bool& strict);

/// The options of a command that starts real programs. REQUIRES: the command has --machine.
void add_real_machine_options(CLI::App& command, experiment::RealMachineOptions& options);
/// Adds --job-network.
void add_job_network_option(CLI::App& command, std::string& name);

}  // namespace replay::cli
