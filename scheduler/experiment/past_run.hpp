// Reads a past run from its run.json, for a repetition: the run as a value, its inputs with their hashes, and what it would
// run, load or connect to. The folder may come from an untrusted source: nothing that it names is run or loaded here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/experiment/run_spec.hpp"
#include "scheduler/results/input_file.hpp"

namespace replay::experiment {

/// The fields of run.json that a repetition needs.
struct PastRun {
  std::filesystem::path folder;
  RunSpec spec;                ///< its policy with every parameter, if as it was written it means something else by now
  std::string command;         ///< as it was given
  std::string working_folder;  ///< where it was given; empty if run.json does not state it
  std::string version;         ///< of the program
  std::vector<results::InputFile> inputs;
  bool was_over = true;
  bool interrupted = false;

  [[nodiscard]] bool is_live() const { return spec.world == World::kLive; }
};

/// Throws InputError naming the file and the field that is missing or wrong.
[[nodiscard]] PastRun read_run(const std::filesystem::path& folder);
/// The same, and for a run that cannot be repeated.
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

/// What a repetition would run, load or connect to that is not ours.
struct ForeignCode {
  std::vector<std::string> items;        ///< one line each, fit for a terminal
  bool has_programs_from_trace = false;  ///< the trace's Program table names some of it
};
/// `folder`: where it would be repeated. Throws InputError if the trace cannot be read.
[[nodiscard]] ForeignCode foreign_code(const PastRun& run, const std::filesystem::path& folder);

/// The words of the command that repeats the run into `out` (absolute).
[[nodiscard]] std::vector<std::string> repeated_command(const PastRun& run, const std::filesystem::path& out);

}  // namespace replay::experiment
