// The commands that only group others: `replay trace COMMAND`, which works on a trace, and `replay generate MODEL`, which
// makes a workload.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "scheduler/base/json/write_json.hpp"
#include "scheduler/cli/commands.hpp"

namespace replay::cli {

void print_json(const nlohmann::ordered_json& json) { fmt::print("{}", json_text(json)); }

Command add_group(CLI::App& group, std::initializer_list<AddCommand> adders) {
  std::map<const CLI::App*, Command> commands;
  for (const AddCommand& add : adders) {
    Command command = add(group);
    commands[group.get_subcommands([](const CLI::App*) { return true; }).back()] = std::move(command);
  }
  return [&group, commands = std::move(commands)] { return commands.at(group.get_subcommands().front())(); };
}

Command add_trace(CLI::App& app) {
  auto* trace = app.add_subcommand("trace", "work on a trace");
  trace->footer("`replay trace COMMAND --help` says more.");
  trace->require_subcommand(1);
  return add_group(*trace,
                   {add_trace_declare, add_trace_info, add_trace_cut, add_trace_scale, add_trace_clean, add_trace_sort,
                    add_trace_merge, add_trace_validate, add_trace_convert, add_trace_match, add_trace_forecast});
}

Command add_generate(CLI::App& app) {
  auto* generate = app.add_subcommand("generate", "make a workload: from a model, or from a log");
  generate->footer("`replay generate MODEL --help` says more.");
  generate->require_subcommand(1);
  return add_group(*generate, {add_generate_lublin, add_generate_from_log});
}

}  // namespace replay::cli
