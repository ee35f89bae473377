// The commands that only group others: `replay trace COMMAND`, which works on a trace, and `replay generate MODEL`, which
// makes a workload.

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "scheduler/base/json/write_json.hpp"
#include "scheduler/cli/command.hpp"

namespace replay::cli {

void print_json(const nlohmann::ordered_json& json) { fmt::print("{}", json_text(json)); }

Command add_commands(CLI::App& group, const std::vector<AddCommand>& adders) {
  std::map<const CLI::App*, Command> commands;
  for (const AddCommand& add : adders) {
    Command command = add(group);
    commands[group.get_subcommands([](const CLI::App*) { return true; }).back()] = std::move(command);
  }
  return [&group, commands = std::move(commands)] { return commands.at(group.get_subcommands().front())(); };
}

Command add_group(CLI::App& app, const std::string& name, const std::string& about, const std::string& what,
                  const std::vector<AddCommand>& adders) {
  CLI::App& group = add_command(app, name, about, fmt::format("`replay {} {} --help` says more.", name, what));
  group.require_subcommand(1);
  return add_commands(group, adders);
}

Command add_trace(CLI::App& app) {
  return add_group(app, "trace", "work on a trace", "COMMAND",
                   {add_trace_declare, add_trace_info, add_trace_cut, add_trace_scale, add_trace_clean, add_trace_sort,
                    add_trace_merge, add_trace_validate, add_trace_convert, add_trace_match, add_trace_forecast});
}

Command add_generate(CLI::App& app) {
  return add_group(app, "generate", "make a workload: from a model, or from a log", "MODEL",
                   {add_generate_lublin, add_generate_from_log});
}

}  // namespace replay::cli
