// Reads a past run from its run.json and makes the command line that repeats it; finds the inputs and checks their
// hashes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/results/input_file.hpp"

namespace replay::results {

/// The fields of run.json that a repetition needs.
struct PastRun {
  std::filesystem::path folder;
  std::vector<std::string> words;  ///< of the command line, without the program
  std::string working_folder;      ///< where it was given; empty if run.json does not state it
  std::string version;             ///< of the program
  std::string body;
  std::string policy;  ///< as it was written, with every parameter if that means something else by now
  std::string runtime_model;
  std::uint64_t seed = 1;
  std::vector<InputFile> inputs;
  bool was_over = true;
  bool interrupted = false;
};

/// The words of a command line as run.json has it (base/text/shell_words.hpp). Throws InputError if a quote is left open.
[[nodiscard]] std::vector<std::string> words_of(std::string_view command_line);

/// Throws InputError naming the file and the field that is missing or wrong.
[[nodiscard]] PastRun read_past_run(const std::filesystem::path& folder);

struct InputCheck {
  std::filesystem::path folder;       ///< where to run it: relative paths lead to the inputs from here
  std::vector<std::string> problems;  ///< inputs that have changed, are missing or have come; empty: all as it was
};
/// Looks in the run's working folder, in the present one, and in those above the run's folder; takes the first from
/// which all inputs are as they were, else one of the first two.
[[nodiscard]] InputCheck check_inputs(const PastRun& run);

/// Remarks for the reader of the comparison: another version, a run that did not come to its end.
[[nodiscard]] std::vector<std::string> remarks_on(const PastRun& run);

/// The words of the command that repeats the run into `out` (absolute). Throws InputError for what cannot be repeated.
[[nodiscard]] std::vector<std::string> repeated_command(const PastRun& run, const std::filesystem::path& out);

/// Throws InputError if one cannot be read.
[[nodiscard]] bool same_bytes(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace replay::results
