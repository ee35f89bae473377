// Examines the command line recorded in a run's folder before it is repeated: what it would run, load or connect to.
// The folder may come from an untrusted source.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace replay::cli {

struct RecordedCommand {
  /// Code that is not ours, and machines elsewhere; one line each, fit for a terminal.
  std::vector<std::string> foreign;
  /// The trace's Program table names some of it.
  bool has_programs_from_trace = false;
};

/// `words`: as repeated_command() gives them. `folder`: where they are carried out. Runs and loads nothing. Throws InputError for
/// anything but a run or a simulation with options that these have.
[[nodiscard]] RecordedCommand examine(const std::vector<std::string>& words, const std::filesystem::path& folder);

}  // namespace replay::cli
