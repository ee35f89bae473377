#include "scheduler/study/g_lomarc_ts/study.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::study {
namespace {

namespace paper = glomarc_paper;

struct VariantNames {
  GlomarcVariant variant;
  std::string_view name, parameter;
};
constexpr std::array<VariantNames, kGlomarcVariants> kNames{{{GlomarcVariant::kSsp, "SSP", "ssp"},
                                                             {GlomarcVariant::kCstws, "CSTWS", "cstws"},
                                                             {GlomarcVariant::kCst, "CST", "cst"},
                                                             {GlomarcVariant::kGlts, "GLTS", "glts"},
                                                             {GlomarcVariant::kFbo, "FBO", "fbo"},
                                                             {GlomarcVariant::kNs, "NS", "ns"},
                                                             {GlomarcVariant::kNh, "NH", "nh"}}};
constexpr auto kVariants = [] {
  std::array<GlomarcVariant, kGlomarcVariants> variants{};
  std::ranges::transform(kNames, variants.begin(), &VariantNames::variant);
  return variants;
}();
constexpr std::array<int, 8> kBlockSizes{4, 8, 12, 16, 20, 24, 28, 32};
constexpr std::array<int, 4> kQuickBlockSizes{4, 12, 16, 32};
constexpr std::array<double, 7> kSlackFactors{1, 1.25, 1.5, 1.75, 2, 2.5, 3};
constexpr std::array<double, 3> kQuickSlackFactors{1, 1.5, 3};

const VariantNames& names_of(GlomarcVariant variant) {
  const auto* const found = std::ranges::find(kNames, variant, &VariantNames::variant);
  INVARIANT(found != kNames.end(), "no variant {}", static_cast<int>(variant));
  return *found;
}

GlomarcFigures simulate_run(const GlomarcRun& run, std::uint64_t seed, std::uint64_t jobs,
                            const Surroundings& surroundings) {
  const GlomarcWorkload workload = make_glomarc_workload(run.load, seed, jobs);
  GlomarcRecord record;
  simulate_one(
      workload.workload, policy_text(run.policy),
      {.machine = Machine::cluster(paper::kNodes, paper::kCpusPerNode, paper::kCoresPerCpu), .runtime_model = "pairs"},
      surroundings, record.observers());
  return record.figures(workload);
}

// Matching on the long queues of W2 takes longest.
int rank(const GlomarcRun& run) {
  return (run.load == GlomarcLoad::kW2 ? 0 : 2) + (run.policy.variant == GlomarcVariant::kSsp ? 1 : 0);
}

}  // namespace

std::span<const GlomarcVariant> glomarc_variants() { return kVariants; }
std::string_view to_text(GlomarcVariant variant) { return names_of(variant).name; }

std::string policy_text(const GlomarcPolicy& policy) {
  std::string inner = fmt::format("g-lomarc-ts:variant={}", names_of(policy.variant).parameter);
  if (policy.block != paper::kBlockSize) inner += fmt::format(":block-size={}", policy.block);
  if (policy.slack != paper::kSlackFactor) inner += fmt::format(":f-slack={}", policy.slack);
  return fmt::format("scojo-pect:inner={{{}}}{}", inner, policy.pays_for_changes_only ? ":overhead-at=switch" : "");
}

std::span<const int> glomarc_block_sizes(bool quick) {
  if (quick) return kQuickBlockSizes;
  return kBlockSizes;
}

std::span<const double> glomarc_slack_factors(bool quick) {
  if (quick) return kQuickSlackFactors;
  return kSlackFactors;
}

std::vector<GlomarcRun> glomarc_runs(bool quick) {
  std::vector<GlomarcRun> runs;
  const auto add = [&runs](const GlomarcRun& run) {
    if (std::ranges::find(runs, run) == runs.end()) runs.push_back(run);
  };
  for (const GlomarcLoad load : {GlomarcLoad::kW1, GlomarcLoad::kW2})
    for (const GlomarcVariant variant : kVariants) add({load, {.variant = variant}});
  for (const int block : glomarc_block_sizes(quick))
    for (const GlomarcVariant variant : {GlomarcVariant::kGlts, GlomarcVariant::kFbo, GlomarcVariant::kNs})
      add({GlomarcLoad::kW2, {.variant = variant, .block = block}});
  for (const double slack : glomarc_slack_factors(quick)) add({GlomarcLoad::kW1, {.slack = slack}});
  for (const GlomarcVariant variant : {GlomarcVariant::kSsp, GlomarcVariant::kGlts})
    add({GlomarcLoad::kW1, {.variant = variant, .pays_for_changes_only = true}});
  return runs;
}

GlomarcOutcome run_glomarc_study(const SeededOptions& options, const std::vector<GlomarcRun>& runs,
                                 const Surroundings& surroundings) {
  GlomarcOutcome outcome{.options = options};
  for (const GlomarcRun& run : runs) {
    auto& facts = outcome.workloads[run.load];
    for (std::uint64_t seed = facts.size() + 1; seed <= options.seeds; ++seed)
      facts.push_back(facts_of(make_glomarc_workload(run.load, seed, options.jobs)));
  }
  outcome.runs = run_seeds<GlomarcFigures>(
      "g-lomarc-ts", runs, rank, options, surroundings,
      [&](const GlomarcRun& run, std::uint64_t seed) { return simulate_run(run, seed, options.jobs, surroundings); });
  return outcome;
}

Result reproduce_glomarc(const SeededOptions& options, const Surroundings& surroundings) {
  return glomarc_result(run_glomarc_study(options, glomarc_runs(options.quick), surroundings));
}

}  // namespace replay::study
