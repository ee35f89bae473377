// Options that several commands have in common: those of a run and of its results, and types of options
// (durations, choices, lists) that are read while CLI11 parses. A wrong value is a UsageError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/base/text/choice.hpp"
#include "scheduler/base/whole_number.hpp"
#include "scheduler/experiment/run_spec.hpp"
#include "scheduler/model/units.hpp"

namespace CLI {
class App;  // its header takes four seconds to compile
class Option;
}  // namespace CLI

namespace replay::cli {

// Each adds its options to a command; what they fill must outlive the parse.

/// Where a command writes its results, and how it prints them.
struct ResultOptions {
  std::string out;
  bool force = false;
  bool json = false;
};

/// Options of a run by name, from the table of run_options(): what `run` has already is the default.
void add_options_of_run(CLI::App& command, experiment::RunSpec& run, std::initializer_list<const char*> names);
/// The options that `replay`, `replay simulate` and `replay validate` share.
void add_common_options(CLI::App& command, experiment::RunSpec& run, ResultOptions& results);
/// The cleaning rules that are about the record of a job, not about its simulation.
void add_rules_of_records(CLI::App& command, std::map<std::string, std::string>& given);
/// All cleaning rules, for commands that only read a trace.
void add_cleaning_options(CLI::App& command, std::map<std::string, std::string>& given, bool& strict);

/// How a command that starts real programs uses the cores of the machine.
void add_node_options(CLI::App& command, experiment::RunSpec& run);
/// What its --machine may be, which it has already, and how agents on other hosts are reached.
void add_host_options(CLI::App& command, experiment::RunSpec& run);
/// Adds --live-page; `port` 0: any that is free.
void add_live_page_option(CLI::App& command, std::optional<std::uint16_t>& port);
/// The program and its arguments, of a command `NAME [OPTIONS] PROGRAM [ARGS...]` (CLI::App::prefix_command). A "--" in
/// front is left out. Throws UsageError where there is no program, or an option that the command does not have.
[[nodiscard]] std::vector<std::string> command_words(const CLI::App& command);
/// "expected a program, found ...", with what reads it, if the word names no program but a trace, a run or another file that
/// is known.
[[nodiscard]] std::optional<std::string> data_instead_of_program(const std::string& word);

/// "replay trace cut".
[[nodiscard]] std::string full_name(const CLI::App& command);
/// Whether the command has this option, "--trace"; those without a group are there for a message only.
[[nodiscard]] bool has_option(const CLI::App& command, const std::string& name);
/// "replay run: there is no option '--tim'; did you mean '--time'?", or which other commands have it.
[[nodiscard]] std::string no_such_option(const CLI::App& command, const std::string& given);

// ---- texts ----

/// Adds an option that takes a text, which the help calls `type`.
CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& value, const std::string& type,
                      const std::string& help);
/// One that may be repeated, a text each time.
CLI::Option* add_texts(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                       const std::string& type, const std::string& help);
/// Adds an option whose words `read` gets; it may throw UsageError. `usual` is its default, for the help.
CLI::Option* add_read(CLI::App& command, const std::string& name, const std::string& type,
                      const std::function<void(const std::string&)>& read, const std::string& help,
                      const std::string& usual = "");

// ---- durations ----

/// What a duration may be, and how the message says it: "--gap: expected EXPECTED, found '...'".
struct DurationRange {
  Duration least;
  Duration most = Duration::max();
  const char* expected;
  bool needs_unit = false;  ///< "30" is refused: it is seconds here, and minutes in Slurm
};
inline constexpr DurationRange kTolerance{.least = Duration::zero(),
                                          .expected = "seconds from 0 up, such as 0.5 or 2min"};

/// Throws UsageError for a text that is no duration in the range.
[[nodiscard]] Duration duration_of(std::string_view option, const std::string& text, const DurationRange& range);
/// `value`: a Duration, or an optional one.
template <class Target>
CLI::Option* add_duration(CLI::App& command, const std::string& name, const std::string& type, Target& value,
                          const DurationRange& range, const std::string& help, const std::string& usual = "") {
  const auto read = [&value, name, range](const std::string& text) { value = duration_of(name, text, range); };
  return add_read(command, name, type, read, help, usual);
}

// ---- counts ----

using experiment::number_of;

/// Adds an option that takes a whole number from `least` to `most`, in decimal digits; another word is a UsageError. What
/// `value` holds, if it is in the range, is the default that the help names.
template <WholeNumber Number>
CLI::Option* add_count(CLI::App& command, const std::string& name, Number& value, std::type_identity_t<Number> least,
                       std::type_identity_t<Number> most, const std::string& help) {
  const auto read = [=, &value](const std::string& text) { value = number_of(name, text, least, most); };
  const bool has_default = value >= least && value <= most;
  return add_read(command, name, "N", read, help, has_default ? std::to_string(value) : "");
}
template <WholeNumber Number>
CLI::Option* add_count(CLI::App& command, const std::string& name, std::optional<Number>& value,
                       std::type_identity_t<Number> least, std::type_identity_t<Number> most, const std::string& help) {
  const auto read = [=, &value](const std::string& text) { value = number_of(name, text, least, most); };
  return add_read(command, name, "N", read, help);
}

// ---- choices ----

/// kListed: CLI11 lists the words in the help and in its message. kInHelp: the help text names them.
enum class Words : std::uint8_t { kListed, kInHelp };

/// Adds an option that takes one of the words, which `choose` gets.
CLI::Option* add_word(CLI::App& command, const std::string& name, const std::vector<std::string>& words, Words kind,
                      const std::function<void(const std::string&)>& choose, const std::string& help);

template <class Value, std::size_t N, class Target>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Target& value, const Choice<Value> (&choices)[N],
                        const std::string& help, Words kind = Words::kListed) {
  const auto choose = [=, &value, &choices](const std::string& word) { value = value_of(name, choices, word); };
  return add_word(command, name, words_of(choices), kind, choose, help);
}

// ---- lists ----

/// Numbers above 0 and up to 1000, joined by commas, none of them twice.
CLI::Option* add_factors(CLI::App& command, std::vector<double>& factors, const std::string& help);

}  // namespace replay::cli
