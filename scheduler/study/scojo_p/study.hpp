// SCOJO-P: jobs of the Lublin-Feitelson model, moldable with speedup curves, under the traditional scheduler, SCOJO-P,
// Cirne-Berman, the greedy baseline and the original SCOJO. Source: Barsanti and Sodan 2006, section 5: Figures 4 to 14.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/study/result.hpp"
#include "scheduler/study/scojo_p/figures.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/scojo_p/workload.hpp"
#include "scheduler/study/seeded.hpp"
#include "scheduler/study/simulation.hpp"

namespace replay::study {

// Names of the workloads and policies, as they stand in the tables.
namespace scojo {

inline constexpr std::string_view kW1 = "W1", kW2 = "W2", kW1Eighty = "W1 80 %", kW2Eighty = "W2 80 %",
                                  kW1Malleable = "W1 malleable", kW2Malleable = "W2 malleable", kDowney = "W1 Downey",
                                  kDowneyRaised = "W1 Downey, E >= 0.9";

inline constexpr std::string_view kTraditional = "traditional", kTraditionalOne = "traditional, aging=one",
                                  kScojoP = "SCOJO-P", kUnpredicted = "SCOJO-P, no prediction", kCirne = "Cirne-Berman",
                                  kCirneOpt = "Cirne-Berman, up to N_opt",
                                  kCirneConservative = "Cirne-Berman, conservative", kGreedy = "greedy",
                                  kGreedyClass = "greedy by class", kOldScojo = "SCOJO";

}  // namespace scojo

inline constexpr SeededOptions kScojoOptions{.seeds = scojo_p_paper::kSeeds, .jobs = scojo_p_paper::kJobs};

struct ScojoPolicy {
  std::string_view key;     ///< in tables
  std::string_view policy;  ///< as written
};
[[nodiscard]] std::span<const ScojoPolicy> scojo_policies();
/// Ideal loads that SCOJO-P is tried with on W1 and W2.
[[nodiscard]] std::span<const double> scojo_ideal_loads();
[[nodiscard]] std::string scojo_ideal_key(double ideal);

/// A workload under a policy, both by their keys.
struct ScojoRun {
  std::string workload, policy;
  auto operator<=>(const ScojoRun&) const = default;
};
[[nodiscard]] std::vector<ScojoRun> scojo_runs(bool quick);

/// What a workload is, by seed.
struct ScojoWorkloadFacts {
  std::vector<double> offered_load;
  std::array<std::vector<double>, kScojoGroups> share, mean_optimum;
};

struct ScojoOutcome {
  SeededOptions options;
  std::map<std::string, ScojoWorkloadFacts> workloads{};
  SeededRuns<ScojoRun, ScojoFigures> runs{};
};
/// The workloads are those that the runs need. Throws UsageError for an unknown policy.
[[nodiscard]] ScojoOutcome run_scojo_study(const SeededOptions& options, const std::vector<ScojoRun>& runs,
                                           const Surroundings& surroundings);

/// The page.
[[nodiscard]] Result scojo_result(const ScojoOutcome& outcome);

[[nodiscard]] Result reproduce_scojo(const SeededOptions& options, const Surroundings& surroundings);

}  // namespace replay::study
