#include "scheduler/cli/recorded_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/plugin/resolver.hpp"
#include "scheduler/policy/view/parameters.hpp"
#include "traces/swf_reader.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

// Parses the words with the options of the command itself, so that both read them alike. No other command is known to
// it.
class Reading {
 public:
  explicit Reading(const std::vector<std::string>& words) : is_simulation_(words.front() == "simulate") {
    command_ = is_simulation_ ? add_simulate(app_, "") : add_run(app_, "");
    try {
      app_.parse(std::vector<std::string>{words.rbegin(), words.rend()});
    } catch (const CLI::Error& error) {  // a request for help, too
      throw InputError(
          fmt::format("its command is none that can be repeated: expected the options of `replay{}`, found '{}' ({})",
                      is_simulation_ ? " simulate" : "", visible_text(fmt::format("{}", fmt::join(words, " ")), 400),
                      error.what()));
    }
  }

  [[nodiscard]] bool is_simulation() const { return is_simulation_; }
  /// Empty where it was not given, or there is no such option.
  [[nodiscard]] std::string value(const std::string& option) const {
    const CLI::App* const command = is_simulation_ ? app_.get_subcommand("simulate") : &app_;
    const CLI::Option* const found = command->get_option_no_throw(option);
    return found != nullptr && found->count() > 0 ? found->as<std::string>() : "";
  }

 private:
  CLI::App app_{"", "replay"};
  Command command_;  // never called; it owns what the options are parsed into
  bool is_simulation_;
};

void add_policies_of(const Reading& reading, const fs::path& folder, RecordedCommand& found) {
  for (const std::string& policy : split_policies(reading.value("--policy")))
    if (plugin::is_code(policy))
      found.foreign.push_back(fmt::format("--policy {} (in {})", visible_text(policy), visible_text(folder.string())));
}

void add_programs_of(const Reading& reading, const fs::path& folder, RecordedCommand& found) {
  if (const std::string program = reading.value("--program"); !program.empty()) {
    if (!experiment::runs_own_benchmark(program))
      found.foreign.push_back(fmt::format("--program {}", visible_text(program)));
    return;
  }
  if (reading.is_simulation()) return;
  const std::string trace = (folder / reading.value("--trace")).string();
  for (const auto& [number, command] : SwfReader{trace}.header().programs()) {
    if (experiment::runs_own_benchmark(command)) continue;
    found.foreign.push_back(fmt::format("Program {} of {}: {}", number, visible_text(trace), visible_text(command)));
    found.has_programs_from_trace = true;
  }
}

}  // namespace

RecordedCommand examine(const std::vector<std::string>& words, const fs::path& folder) {
  const Reading reading{words};
  RecordedCommand found;
  add_policies_of(reading, folder, found);
  add_programs_of(reading, folder, found);
  if (const std::string machine = reading.value("--machine"); machine.starts_with("agent:"))
    found.foreign.push_back(fmt::format("--machine {}, a connection with the key in '{}'", visible_text(machine),
                                        visible_text(reading.value("--agent-key"))));
  return found;
}

}  // namespace replay::cli
