// G-LOMARC-TS: jobs of the Lublin-Feitelson model on nodes of four cores, under space sharing, under matched pairs and
// under groups with their simpler variants, each in the time slices of Scojo-PECT. Source: Zeng and Sodan 2009, section 5:
// Figures 6 to 9.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/study/g_lomarc_ts/figures.hpp"
#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/workload.hpp"
#include "scheduler/study/result.hpp"
#include "scheduler/study/simulation.hpp"

namespace replay::study {

inline constexpr SeededOptions kGlomarcOptions{.seeds = glomarc_paper::kSeeds, .jobs = glomarc_paper::kJobs};

/// Section 5.1.
enum class GlomarcVariant : std::uint8_t {
  kSsp,    ///< space sharing only
  kCstws,  ///< pairs, the first match
  kCst,    ///< pairs, the best match
  kGlts,   ///< groups, the whole algorithm
  kFbo,    ///< matches in the first block only
  kNs,     ///< blocks are not sorted
  kNh      ///< neither sorting nor blocks, the first group
};
inline constexpr std::size_t kGlomarcVariants = 7;
[[nodiscard]] std::span<const GlomarcVariant> glomarc_variants();
/// "GLTS".
[[nodiscard]] std::string_view to_text(GlomarcVariant variant);

/// A variant with what the sweeps change; the rest is Table 6.
struct GlomarcPolicy {
  GlomarcVariant variant = GlomarcVariant::kGlts;
  int block = glomarc_paper::kBlockSize;
  double slack = glomarc_paper::kSlackFactor;
  bool pays_for_changes_only = false;  ///< overhead only where the class changes, not at every slice
  auto operator<=>(const GlomarcPolicy&) const = default;
};
/// As a policy is written.
[[nodiscard]] std::string policy_text(const GlomarcPolicy& policy);

/// Block sizes of Figure 8 and slack factors of Figure 9.
[[nodiscard]] std::span<const int> glomarc_block_sizes(bool quick);
[[nodiscard]] std::span<const double> glomarc_slack_factors(bool quick);

struct GlomarcRun {
  GlomarcLoad load = GlomarcLoad::kW1;
  GlomarcPolicy policy{};
  auto operator<=>(const GlomarcRun&) const = default;
};
[[nodiscard]] std::vector<GlomarcRun> glomarc_runs(bool quick);

struct GlomarcOutcome {
  SeededOptions options;
  std::map<GlomarcLoad, std::vector<GlomarcFacts>> workloads{};  ///< by seed
  SeededRuns<GlomarcRun, GlomarcFigures> runs{};
};
/// The workloads are those that the runs need.
[[nodiscard]] GlomarcOutcome run_glomarc_study(const SeededOptions& options, const std::vector<GlomarcRun>& runs,
                                               const Surroundings& surroundings);

/// The page.
[[nodiscard]] Result glomarc_result(const GlomarcOutcome& outcome);

[[nodiscard]] Result reproduce_glomarc(const SeededOptions& options, const Surroundings& surroundings);

}  // namespace replay::study
