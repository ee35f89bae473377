// `replay trace COMMAND`: the group of commands that work on a trace.

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "scheduler/cli/commands.hpp"

namespace replay::cli {

Command add_group(CLI::App& group, std::initializer_list<AddCommand> adders) {
  using Chosen = std::pair<CLI::App*, Command>;
  auto commands = std::make_shared<std::vector<Chosen>>();
  // Makes them only when the group is named: else they would cost each run of replay a millisecond.
  group.preparse_callback([&group, commands, adders = std::vector<AddCommand>(adders)](std::size_t) {
    for (const AddCommand add : adders) {
      Command command = add(group);
      commands->emplace_back(group.get_subcommands([](const CLI::App*) { return true; }).back(), std::move(command));
    }
  });
  return [&group, commands] {
    for (const auto& [app, command] : *commands)
      if (group.got_subcommand(app)) return command();
    return 2;  // CLI11 has asked for a command before this
  };
}

Command add_trace(CLI::App& app) {
  auto* trace = app.add_subcommand("trace", "work on a trace");
  trace->footer("`replay trace COMMAND --help` says more.");
  trace->require_subcommand(1);
  return add_group(*trace, {add_trace_declare, add_trace_info, add_trace_cut, add_trace_scale, add_trace_clean,
                            add_trace_sort, add_trace_merge, add_trace_validate, add_trace_convert, add_trace_match});
}

}  // namespace replay::cli
