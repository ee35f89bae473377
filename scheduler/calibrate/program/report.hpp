// The report of `replay run`: a table with a row per phase and a legend of its columns, or all of it as JSON. Made from
// the history of the run alone.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "scheduler/calibrate/program/run.hpp"

namespace replay::calibrate {

/// What the user asked for.
struct ProgramSettings {
  std::vector<std::string> command;
  bool with_vmlib = true;
  std::vector<std::int32_t> core_of_rank;   ///< as its node numbers them
  std::vector<std::int32_t> shrunk_to;      ///< core of each rank; empty: cannot be shrunk
  std::vector<std::string> host_of_rank{};  ///< empty: all are on this machine
  Computing computing = Computing::kOnCores;
};

/// "expanded on 2 cores", "shrunk to 1 core, 2 ranks on it"; with "suspended" before it.
[[nodiscard]] std::string phase_name(const PhaseKind& kind);

/// Lines, each ended. With more than kMostRows phases, those of a kind are one row.
inline constexpr std::size_t kMostRows = 16;
[[nodiscard]] std::string report_text(const ProgramSettings& settings, const ProgramHistory& history);

[[nodiscard]] nlohmann::ordered_json report_json(const ProgramSettings& settings, const ProgramHistory& history);

}  // namespace replay::calibrate
