// run.json: what is needed to repeat a run and to judge its conditions. docs/formats/run-json.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/results/input_file.hpp"

namespace replay::results {

/// The contents of run.json: enough to repeat the run and to judge its conditions.
struct RunInfo {
  std::string command;
  std::vector<std::string> words;                             ///< of the command that makes this run alone
  std::string working_folder;                                 ///< where it was given: relative paths begin here
  std::vector<std::pair<std::string, std::string>> versions;  ///< program, compiler, mpich, ...
  std::string body;                                           ///< sim or live
  std::string machine;
  std::vector<std::string> hosts{};  ///< by node; empty: they have no names
  std::string policy;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the policy, defaults too
  std::string runtime_model;
  std::uint64_t seed = 0;
  double time_scale = 1;
  std::vector<std::pair<std::string, std::string>> settings;  ///< how jobs were run for real; empty for a simulation
  std::vector<InputFile> inputs;
  std::optional<std::size_t> jobs{};  ///< of the trace, as it was read; not given: it was not known
  std::string started;                ///< wall clock, ISO 8601
  std::string ended;                  ///< empty: the run is not over, or was killed
  bool interrupted = false;
  std::string lost;                       ///< why the executor was lost; empty: it was not
  std::string fault;                      ///< what the policy did that ended the run; empty: nothing
  std::string broken_off;                 ///< why no further job was started; empty: all were
  std::vector<std::string> unwritten;     ///< files that could not be written, each with the reason
  std::optional<bool> disturbed = false;  ///< others used the machine before or after; nothing: not known
  double load_before = -1;                ///< share of CPU time that others used; -1: not measured
  double load_after = -1;
  std::vector<std::string> notes;
  std::optional<CoreCount> stated_cores{};  ///< history::stated_cores(); not given: those of the machine
};
[[nodiscard]] nlohmann::ordered_json to_json(const RunInfo& info);

}  // namespace replay::results
