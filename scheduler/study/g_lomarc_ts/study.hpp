// G-LOMARC-TS: jobs of the Lublin-Feitelson model on nodes of four cores, under space sharing, under matched pairs and
// under groups with their simpler variants, each in the time slices of Scojo-PECT. Source: Zeng and Sodan 2009, section 5:
// Figures 6 to 9.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/study/findings.hpp"
#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/result.hpp"
#include "scheduler/study/seeded.hpp"
#include "scheduler/study/simulation.hpp"

namespace replay::study {

inline constexpr SeededOptions kGlomarcOptions{.seeds = glomarc_paper::kSeeds, .jobs = glomarc_paper::kJobs};

/// Section 5.1. SSP: space sharing only; CSTWS, CST: pairs, the first and the best match; GLTS: groups, the whole
/// algorithm; FBO: matches in the first block only; NS: blocks are not sorted; NH: neither sorting nor blocks, the first
/// group.
inline constexpr std::array<std::string_view, 7> kGlomarcVariants{"SSP", "CSTWS", "CST", "GLTS", "FBO", "NS", "NH"};
/// The groups of jobs that the paper compares.
inline constexpr std::array<std::string_view, 3> kGlomarcCompared{"medium", "long", "all"};
/// The names of cells: variants with the parameters of Table 6 are "W1/GLTS"; a run of Figure 8, where NH has no blocks
/// and is run once; one of Figure 9; one that pays overhead only where the class changes, not at every slice.
[[nodiscard]] std::string glomarc_block_cell(std::string_view variant, int block);
[[nodiscard]] std::string glomarc_slack_cell(double slack);
[[nodiscard]] std::string glomarc_changes_cell(std::string_view variant);
/// Block sizes of Figure 8 and slack factors of Figure 9 that GLTS ran with.
[[nodiscard]] std::vector<int> glomarc_block_sizes(const Findings& found);
[[nodiscard]] std::vector<double> glomarc_slack_factors(const Findings& found);

[[nodiscard]] std::vector<Cell> glomarc_cells(const SeededOptions& options);
/// Figures as of GlomarcRecord; "W1/workload" has those of facts_of().
[[nodiscard]] Findings run_glomarc_study(const SeededOptions& options, const std::vector<Cell>& cells,
                                         const Surroundings& surroundings);

/// The page.
[[nodiscard]] Result glomarc_result(const Findings& found, const SeededOptions& options);
/// The statements of the paper's text, and whether they hold.
[[nodiscard]] std::vector<Check> glomarc_checks(const Findings& found);

[[nodiscard]] Result reproduce_glomarc(const SeededOptions& options, const Surroundings& surroundings);

}  // namespace replay::study
