// Makes all outputs of a run again from its event log: after a killed run or a full disk, or for a run of another version.
// For a run that came to its end they have the same bytes as its own. Command, inputs and notes are not in the log and are
// taken from run.json; what is in neither is reported as missing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/results/result_files.hpp"

namespace replay::results {

/// Thrown after a stop signal: all files are as they were.
struct RemakingStopped {};

struct RemakeOptions {
  std::filesystem::path target{};  ///< folder for the outputs; empty: that of the log
  std::string outputs{};           ///< as parse_outputs() takes them
  bool force = false;              ///< replaces files that are there and come out otherwise; else they are kept
};

struct RemadeRun {
  PolicyRun run;
  std::filesystem::path target;
  std::vector<std::string> remarks;  ///< what was made, what was taken from where and what is missing; a line each
  std::vector<std::string> notes;    ///< of run.json
  std::string runtime_model;         ///< as the log names it
  bool is_complete = true;           ///< false: a file was kept that comes out otherwise
};

/// Reads the event log twice. Throws UsageError, InputError, RemakingStopped.
[[nodiscard]] RemadeRun remake_run(const std::filesystem::path& log, RemakeOptions options);

}  // namespace replay::results
