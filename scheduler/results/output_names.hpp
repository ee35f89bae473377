// The files that a run can leave, and their names as --outputs takes them. Help texts, `replay results` and --force, which
// replaces only files of runs, read this table.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace replay::results {

struct OutputFile {
  std::string_view name;  ///< as --outputs takes it
  std::string_view file;  ///< its name in the run's folder
  bool is_remade;         ///< `replay results` makes it again
};

/// The page that `replay report` puts into the folder of a run, or of runs. No output of a run, but it goes with the folder.
inline constexpr std::string_view kPageFile = "report.html";
/// Address of the live page, while a run goes on whose output is no terminal.
inline constexpr std::string_view kLivePageFile = "live-page";

/// Inputs of a run whose jobs outlive its daemon; and its event log while it is compared with what they make of it.
inline constexpr std::string_view kTurnsFile = "turns.log", kAdoptedTurns = "turns.log.adopted",
                                  kLogBefore = "events.log.before";

/// A file that is in the folder of a run on several hosts while it begins, since each is asked to read it: this, and
/// kWordDigits hexadecimal digits.
inline constexpr std::string_view kWordFile = ".word-";
inline constexpr std::size_t kWordDigits = 8;

/// All of them, in the order of help texts.
[[nodiscard]] std::span<const OutputFile> output_files();

/// The file of an output: "jobs.csv" for "jobs". REQUIRES: output_names() has `name`.
[[nodiscard]] std::string_view file_of(std::string_view name);

/// The names that --outputs takes.
[[nodiscard]] const std::set<std::string>& output_names();

/// The same for a help text: "run,events,jobs". `remade`: only those that `replay results` makes again.
[[nodiscard]] std::string output_list(bool remade = false);

/// "all" (also ""), "none", or names joined by commas. Throws UsageError for an unknown one.
[[nodiscard]] std::set<std::string> parse_outputs(std::string_view list);

}  // namespace replay::results
