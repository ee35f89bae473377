#include "scheduler/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "traces/file_kind.hpp"

namespace replay::cli {

namespace {

void add_rule(CLI::App& command, std::map<std::string, std::string>& given, const CleaningOption& option,
              const char* group) {
  const std::string name{option.name};
  const std::string help = fmt::format("{} ({}; default {})", option.help, option.values, option.default_value);
  command
      .add_option_function<std::string>(
          "--" + name, [&given, name](const std::string& value) { given[name] = value.empty() ? "on" : value; }, help)
      ->type_name("VALUE")
      ->expected(name == "closed-loop" ? 0 : 1, 1)
      ->group(group);
}

// `replay trace cut` and others below `command` that have this option.
void add_commands_with(const std::string& option, const CLI::App& command, std::vector<std::string>& names) {
  if (has_option(command, option)) names.push_back(full_name(command));
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    add_commands_with(option, *below, names);
}

}  // namespace

void add_rules_of_records(CLI::App& command, std::map<std::string, std::string>& given) {
  for (const CleaningOption& option : cleaning_options())
    if (option.name != "cpu-use" && option.name != "closed-loop" && option.name != "cancelled" &&
        option.name != "queue-from")
      add_rule(command, given, option, "Cleaning rules");
}

void add_cleaning_options(CLI::App& command, std::map<std::string, std::string>& given, bool& strict) {
  for (const CleaningOption& option : cleaning_options()) add_rule(command, given, option, "Reading the trace");
  command.add_flag("--strict", strict, "stop at the first broken line instead of skipping and counting it")
      ->group("Reading the trace");
}

namespace {

CLI::Option* add_option_of_run(CLI::App& command, experiment::RunSpec& run, const experiment::RunOption& option) {
  using Kind = experiment::RunOption::Kind;
  if (option.kind == Kind::kFlag) return command.add_flag(option.name, option.flag(run), option.help);
  const auto set = [&run, &option](const std::string& text) { option.set(run, text); };
  CLI::Option* const added = add_read(command, option.name, option.type, set, option.help, option.text(run));
  if (option.kind == Kind::kChoice) added->check(CLI::IsMember(option.words));
  return added;
}

}  // namespace

void add_options_of_run(CLI::App& command, experiment::RunSpec& run, std::initializer_list<const char*> names) {
  for (const char* name : names) add_option_of_run(command, run, experiment::run_option(name));
}

void add_common_options(CLI::App& command, experiment::RunSpec& run, ResultOptions& results) {
  add_options_of_run(
      command, run,
      {"--trace", "--jobs-from", "--policy", "--machine", "--runtime-model", "--profile", "--pairs", "--curve-error",
       "--slowdown-error", "--overrun", "--requeue-lost", "--until", "--scale-sizes", "--seed"});
  add_text(command, "--out", results.out, "DIR", "folder for the results (default runs/TIME-POLICY)");
  command.add_flag("--force", results.force, "replace an output folder that exists");
  add_options_of_run(command, run, {"--outputs"});
  command.add_flag("--json", results.json, "print the result table as JSON");
  add_cleaning_options(command, run.cleaning, run.strict);
}

void add_node_options(CLI::App& command, experiment::RunSpec& run) {
  add_options_of_run(command, run, {"--smt", "--back-end", "--quantum", "--turn", "--job-network"});
}

void add_host_options(CLI::App& command, experiment::RunSpec& run) {
  command.get_option("--machine")
      ->description(
          "where jobs run: local, local:CORES by OS index, such as local:0-3, virtual cores: "
          "emulated:NODESxPACKAGESxCORES, those of other hosts: hosts:FILE, of the job of Slurm or PBS in which this "
          "runs: slurm, pbs, or of a `replay agent`: agent:HOST:PORT (default local)");
  add_options_of_run(command, run, {"--agent-key", "--bootstrap", "--lease"});
}

void add_live_page_option(CLI::App& command, std::optional<std::uint16_t>& port) {
  const auto take = [&port](const std::string& text) {
    const auto given = text.empty() ? std::optional<std::uint16_t>{0} : parse_number<std::uint16_t>(text);
    if (!given)
      throw UsageError(
          fmt::format("--live-page: expected a port from 0 to 65535, 0 for any that is free, found '{}'", text));
    port = given;
  };
  add_read(command, "--live-page", "PORT", take,
           "show the run in a browser while it goes on: serves its page on 127.0.0.1, at an address that is printed "
           "(default: a port that is free)")
      ->expected(0, 1);
}

std::vector<std::string> command_words(const CLI::App& command) {
  std::vector<std::string> words = command.remaining();
  const bool has_mark = words.size() > 1 && words[0].empty() && words[1] == "--";  // from main()
  if (has_mark) words.erase(words.begin(), words.begin() + 2);
  const std::string name = command.get_name();
  if (words.empty())
    throw UsageError(fmt::format(
        "{}: expected a program: replay {} [OPTIONS] PROGRAM [ARGS...]; see `replay {} --help`", name, name, name));
  if (!has_mark && words.front().starts_with("-") && words.front().size() > 1)
    throw UsageError(no_such_option(command, words.front().substr(0, words.front().find('='))));
  return words;
}

std::optional<std::string> data_instead_of_program(const std::string& word) {
  if (benchmark(word) || find_program(word)) return std::nullopt;
  const auto known = kind_of_path(word);
  return known ? std::optional{"expected a program, found " + known->text} : std::nullopt;
}

std::string full_name(const CLI::App& command) {
  const CLI::App* const above = command.get_parent();
  return above == nullptr ? command.get_name() : full_name(*above) + " " + command.get_name();
}

bool has_option(const CLI::App& command, const std::string& name) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  return option != nullptr && !option->get_group().empty();
}

std::string no_such_option(const CLI::App& command, const std::string& given) {
  const CLI::App* root = &command;
  while (root->get_parent() != nullptr) root = root->get_parent();
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options())
    for (const std::string& one : known->get_lnames()) names.push_back("--" + one);
  const std::string_view near = nearest(given, std::vector<std::string_view>(names.begin(), names.end()));
  std::vector<std::string> others;
  add_commands_with(given, *root, others);
  constexpr std::size_t kFew = 6;
  std::string hint = fmt::format("see `{} --help`", full_name(command));
  if (!near.empty())
    hint = fmt::format("did you mean '{}'?", near);
  else if (!others.empty() && others.size() <= kFew)
    hint = fmt::format("it belongs to `{}`", fmt::join(others, "`, `"));
  return fmt::format("{}: there is no option '{}'; {}", full_name(command), given, hint);
}

// ---- texts and durations ----

CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& value, const std::string& type,
                      const std::string& help) {
  return command.add_option(name, value, help)->type_name(type);
}

CLI::Option* add_texts(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                       const std::string& type, const std::string& help) {
  return command.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
}

CLI::Option* add_read(CLI::App& command, const std::string& name, const std::string& type,
                      const std::function<void(const std::string&)>& read, const std::string& help,
                      const std::string& usual) {
  CLI::Option* const added = command.add_option_function<std::string>(name, read, help);
  if (!type.empty()) added->type_name(type);
  return usual.empty() ? added : added->default_str(usual);
}

Duration duration_of(std::string_view option, const std::string& text, const DurationRange& range) {
  const std::optional<Duration> duration = parse_duration(text);
  if (duration && range.needs_unit && parse_seconds(text) && *duration > Duration::zero())
    throw UsageError(fmt::format("{}: expected {}, found '{}' without a unit: {}{}min", option, range.expected, text,
                                 range.least >= std::chrono::minutes{1} ? "" : text + "s or ", text));
  if (duration && *duration >= range.least && *duration <= range.most) return *duration;
  throw UsageError(fmt::format("{}: expected {}, found '{}'", option, range.expected, text));
}

// ---- choices ----

CLI::Option* add_word(CLI::App& command, const std::string& name, const std::vector<std::string>& words, Words kind,
                      const std::function<void(const std::string&)>& choose, const std::string& help) {
  CLI::Option* const option = command.add_option_function<std::string>(name, choose, help);
  return kind == Words::kListed ? option->check(CLI::IsMember(words)) : option;
}

// ---- lists ----

CLI::Option* add_factors(CLI::App& command, std::vector<double>& factors, const std::string& help) {
  const auto check = [&factors](const std::vector<double>& given) {
    for (auto factor = given.begin(); factor != given.end(); ++factor) {
      if (!(*factor > 0 && *factor <= 1000))
        throw UsageError(fmt::format("--factors: expected numbers above 0 and up to 1000, found {}", *factor));
      if (std::find(given.begin(), factor, *factor) != factor)
        throw UsageError(fmt::format("--factors: {} is there twice", *factor));
    }
    factors = given;
  };
  return command.add_option_function<std::vector<double>>("--factors", check, help)
      ->type_name("F,F...")
      ->delimiter(',');
}

}  // namespace replay::cli
