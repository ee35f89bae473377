// The paper's validation experiment as a page: its Table 1 beside ours, errors, gains, and where runs part. Numbers come
// from the cells that have been run; the others are listed as missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/validate/paper_experiment.hpp"
#include "scheduler/validate/paper_seeds.hpp"
#include "scheduler/validate/result.hpp"

namespace replay::validate {

struct ValidationPage {
  std::string command;  ///< that makes the page
  std::string machine;  ///< the computer, in words
  std::string cores;    ///< "emulated:4x2x2"
  double time_scale = 1;
  std::uint64_t seed = 0;
  std::optional<TypicalSeed> typical;  ///< set if the seed was chosen so
  PaperWorkload workload;
  double aim_percent = 3;            ///< mean relative error that the project aims at
  std::vector<CellResult> results;   ///< of the cells that have been run
  std::vector<std::string> missing;  ///< cells without one
  std::vector<SeedMeans> seeds;
};

/// Markdown. The same content is the same bytes. REQUIRES: at least one result.
[[nodiscard]] std::string to_markdown(const ValidationPage& page);

}  // namespace replay::validate
