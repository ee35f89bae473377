#include "scheduler/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/results/output_names.hpp"
#include "traces/file_kind.hpp"

namespace replay::cli {

void add_cleaning_options(CLI::App& command, std::map<std::string, std::string>& given, bool& strict) {
  for (const CleaningOption& option : cleaning_options()) {
    const std::string name{option.name};
    const std::string help = fmt::format("{} ({}; default {})", option.help, option.values, option.default_value);
    command
        .add_option_function<std::string>(
            "--" + name, [&given, name](const std::string& value) { given[name] = value.empty() ? "on" : value; }, help)
        ->type_name("VALUE")
        ->expected(name == "closed-loop" ? 0 : 1, 1)
        ->group("Reading the trace");
  }
  command.add_flag("--strict", strict, "stop at the first broken line instead of skipping and counting it")
      ->group("Reading the trace");
}

void add_common_options(CLI::App& command, experiment::CommonOptions& options) {
  command.add_option("--trace", options.trace, "the trace: SWF, plain or .gz, '-' for standard input")
      ->type_name("FILE");
  command
      .add_option("--jobs-from", options.jobs_from,
                  "the side file of the trace (default: NAME.jobs.csv beside NAME.swf, if it is there)")
      ->type_name("FILE");
  command
      .add_option("--policy", options.policies,
                  "policies, joined by commas; parameters as name:key=value (`replay policies` lists them)")
      ->type_name("LIST");
  command.add_option("--machine", options.machine)->type_name("MACHINE");
  command
      .add_option("--runtime-model", options.runtime_model, "how fast a shrunk job runs (`replay models` lists them)")
      ->type_name("NAME");
  command
      .add_option("--profile", options.profile,
                  "what the runtime model calibrated reads (default: the profile that `replay calibrate` makes)")
      ->type_name("FILE");
  command
      .add_option(
          "--pairs", options.pairs,
          "what the runtime model pairs reads: job,beside,slowdown (default: NAME.pairs.csv beside NAME.swf, if it "
          "is there)")
      ->type_name("FILE");
  for (const auto& [name, error, what] :
       {std::tuple{"--curve-error", &options.errors.curve_error, "speedup curves"},
        std::tuple{"--slowdown-error", &options.errors.slowdown_error, "slowdowns, beside others and by itself,"}})
    command
        .add_option(
            name, *error,
            fmt::format("how wrong declared {} are: a job's true ones are the declared to the power p, drawn "
                        "from 1/(1+E) to 1+E by --seed; one that then takes longer than estimated is killed, unless "
                        "--overrun extend",
                        what))
        ->type_name("E")
        ->check(CLI::Range(0.0, 10.0))
        ->capture_default_str();
  command
      .add_option("--overrun", options.overrun,
                  "what happens to a job at the end of its estimate: kill it, extend the estimate by 10 %, or as the "
                  "policy says (slack; the others kill)")
      ->check(CLI::IsMember({"kill", "extend", "policy"}))
      ->capture_default_str();
  command.add_option("--until", options.until, "end the run at this time of the trace, from its first job on: 90s, 2h")
      ->type_name("T");
  command
      .add_option("--scale-sizes", options.scale_sizes,
                  "scale job sizes to the machine: from the trace's machine (auto), or from a machine of N cores")
      ->type_name("auto|N");
  command.add_option("--seed", options.seed, "everything that is drawn by chance follows from it")
      ->capture_default_str();
  command.add_option("--out", options.out, "folder for the results (default runs/TIME-POLICY)")->type_name("DIR");
  command.add_flag("--force", options.force, "replace an output folder that exists");
  command
      .add_option("--outputs", options.outputs,
                  fmt::format("which files to write: all, none, or some of {}", results::output_list()))
      ->type_name("LIST");
  command.add_flag("--json", options.json, "print the result table as JSON");
  add_cleaning_options(command, options.cleaning, options.strict);
}

void add_real_machine_options(CLI::App& command, experiment::RealMachineOptions& options) {
  command.get_option("--machine")
      ->description(
          "where to run: local, local:CORES by OS index, such as local:0-3, virtual cores: "
          "emulated:NODESxPACKAGESxCORES, or those of a `replay agent`: agent:HOST:PORT (default local)");
  command.add_flag("--smt", options.smt, "count hardware threads as cores");
  command
      .add_option("--back-end", options.back_end,
                  "how ranks give a shared core away: yield, token, or what a test finds better here (auto)")
      ->check(CLI::IsMember({"auto", "yield", "token"}))
      ->capture_default_str();
  command
      .add_option("--quantum", options.quantum,
                  "emulated cores: how long a rank computes at most while another one waits for the core")
      ->type_name("T")
      ->capture_default_str();
  command
      .add_option("--turn", options.turn,
                  "jobs that share real cores: how long one computes on them while the others are stopped; 0: all run "
                  "at the same time")
      ->type_name("T")
      ->capture_default_str();
  add_job_network_option(command, options.job_network);
}

void add_live_page_option(CLI::App& command, std::optional<std::uint16_t>& port) {
  const auto take = [&port](const std::string& text) {
    const auto given = text.empty() ? std::optional<std::uint16_t>{0} : parse_number<std::uint16_t>(text);
    if (!given)
      throw UsageError(
          fmt::format("--live-page: expected a port from 0 to 65535, 0 for any that is free, found '{}'", text));
    port = given;
  };
  command
      .add_option_function<std::string>(
          "--live-page", take,
          "show the run in a browser while it goes on: serves its page on 127.0.0.1, at an address that is printed "
          "(default: a port that is free)")
      ->type_name("PORT")
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
    throw UsageError(fmt::format("{}: there is no option {}; see `replay {} --help`", name, words.front(), name));
  return words;
}

std::optional<std::string> data_instead_of_program(const std::string& word) {
  if (benchmark(word) || find_program(word)) return std::nullopt;
  const auto known = kind_of_path(word);
  return known ? std::optional{"expected a program, found " + known->text} : std::nullopt;
}

void add_job_network_option(CLI::App& command, std::string& name) {
  command
      .add_option(
          "--job-network", name,
          "network of a job: its own, in which only its ranks and its mpiexec are, where the system permits it, "
          "or the host's, for programs that need the network")
      ->check(CLI::IsMember({"own", "host"}))
      ->type_name("NAME")
      ->capture_default_str();
}

// ---- durations ----

Duration duration_of(std::string_view option, const std::string& text, const DurationRange& range) {
  const std::optional<Duration> duration = parse_duration(text);
  if (duration && range.needs_unit && parse_seconds(text) && *duration > Duration::zero())
    throw UsageError(fmt::format("{}: expected {}, found '{}' without a unit: {}s or {}min", option, range.expected,
                                 text, text, text));
  if (duration && *duration >= range.least && *duration <= range.most) return *duration;
  throw UsageError(fmt::format("{}: expected {}, found '{}'", option, range.expected, text));
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, Duration& value, const DurationRange& range,
                          const std::string& help) {
  return command.add_option_function<std::string>(
      name, [&value, name, range](const std::string& text) { value = duration_of(name, text, range); }, help);
}

// ---- choices ----

CLI::Option* add_word(CLI::App& command, const std::string& name, std::vector<std::string> words, Words kind,
                      const std::function<void(std::size_t)>& choose, const std::string& help) {
  const auto find = [name, words, choose](const std::string& word) {
    const auto found = std::ranges::find(words, word);
    if (found != words.end()) return choose(static_cast<std::size_t>(found - words.begin()));
    const auto last = words.end() - 1;
    throw UsageError(
        fmt::format("{}: expected {} or {}, found '{}'", name, fmt::join(words.begin(), last, ", "), *last, word));
  };
  CLI::Option* const option = command.add_option_function<std::string>(name, find, help);
  return kind == Words::kListed ? option->check(CLI::IsMember(std::move(words))) : option;
}

// ---- lists ----

std::vector<std::string> chosen_of(std::string_view option, const std::string& list,
                                   std::span<const std::string_view> known) {
  const std::vector<std::string_view> given = split(list, ',');
  for (const std::string_view item : given)
    if (std::ranges::find(known, item) == known.end())
      throw UsageError(fmt::format("{}: expected some of {}, found '{}'", option, fmt::join(known, ","), item));
  std::vector<std::string> items;
  for (const std::string_view name : known)
    if (std::ranges::find(given, name) != given.end()) items.emplace_back(name);
  return items;
}

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
