// SCOJO-P: jobs of the Lublin-Feitelson model, moldable with speedup curves, under the traditional scheduler, SCOJO-P,
// Cirne-Berman, the greedy baseline and the original SCOJO. Source: Barsanti and Sodan 2006, section 5: Figures 4 to 14.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/study/findings.hpp"
#include "scheduler/study/result.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/seeded.hpp"
#include "scheduler/study/simulation.hpp"

namespace replay::study {

inline constexpr SeededOptions kScojoOptions{.seeds = scojo_p_paper::kSeeds, .jobs = scojo_p_paper::kJobs};

/// Names of the policies, in the order of the tables.
[[nodiscard]] std::vector<std::string_view> scojo_policies();
/// Ideal loads that SCOJO-P is tried with on W1 and W2, and its name with one.
[[nodiscard]] std::span<const double> scojo_ideal_loads();
[[nodiscard]] std::string scojo_ideal_name(double ideal);

[[nodiscard]] std::vector<Cell> scojo_cells(const SeededOptions& options);
/// Figures as of ScojoRecord; "W1/workload" has those of facts_of(). Means are geometric: a seed whose load is too high must
/// not outweigh the others.
[[nodiscard]] Findings run_scojo_study(const SeededOptions& options, const std::vector<Cell>& cells,
                                       const Surroundings& surroundings);
/// The traditional scheduler starts all jobs at the submitted size, so a workload's share of moldable jobs is nothing to
/// it, and it is run once: finds these runs for all shares.
void add_rigid_runs(Findings& found);

/// The page.
[[nodiscard]] Result scojo_result(const Findings& found, const SeededOptions& options);
/// The statements of the paper's text, and whether they hold.
[[nodiscard]] std::vector<Check> scojo_checks(const Findings& found);

[[nodiscard]] Result reproduce_scojo(const SeededOptions& options, const Surroundings& surroundings);

}  // namespace replay::study
