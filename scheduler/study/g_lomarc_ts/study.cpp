#include "scheduler/study/g_lomarc_ts/study.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/text/lower_case.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/study/g_lomarc_ts/figures.hpp"
#include "scheduler/study/g_lomarc_ts/workload.hpp"

namespace replay::study {
namespace {

namespace paper = glomarc_paper;

const std::vector<int> kBlockSizes{4, 8, 12, 16, 20, 24, 28, 32}, kQuickBlockSizes{4, 12, 16, 32};
const std::vector<double> kSlackFactors{1, 1.25, 1.5, 1.75, 2, 2.5, 3}, kQuickSlackFactors{1, 1.5, 3};

// `more` and `outer`: parameters of the variant and of the slices.
std::string policy_text(std::string_view variant, std::string_view more, std::string_view outer) {
  return fmt::format("scojo-pect:inner={{g-lomarc-ts:variant={}{}}}{}", lower_case(std::string{variant}), more, outer);
}

// Matching on the long queues of W2 takes longest.
int rank(const Cell& cell) {
  return (cell.workload() == "W2" ? 0 : 2) + (cell.policy.find("variant=ssp") != std::string::npos ? 1 : 0);
}

}  // namespace

std::string glomarc_block_cell(std::string_view variant, int block) {
  if (variant == "NH" || block == paper::kBlockSize) return fmt::format("W2/{}", variant);
  return fmt::format("W2/{}, blocks of {}", variant, block);
}
std::string glomarc_slack_cell(double slack) {
  return slack == paper::kSlackFactor ? "W1/GLTS" : fmt::format("W1/GLTS, slack {}", slack);
}
std::string glomarc_changes_cell(std::string_view variant) {
  return fmt::format("W1/{}, where the class changes", variant);
}

std::vector<int> glomarc_block_sizes(const Findings& found) {
  std::vector<int> sizes = kBlockSizes;
  std::erase_if(sizes, [&](int block) { return !found.has(glomarc_block_cell("GLTS", block)); });
  return sizes;
}
std::vector<double> glomarc_slack_factors(const Findings& found) {
  std::vector<double> factors = kSlackFactors;
  std::erase_if(factors, [&](double slack) { return !found.has(glomarc_slack_cell(slack)); });
  return factors;
}

std::vector<Cell> glomarc_cells(const SeededOptions& options) {
  std::vector<Cell> cells;
  const auto add = [&](const std::string& name, std::string_view variant, const std::string& more = {},
                       std::string_view outer = {}) {
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed)
      cells.push_back({name, policy_text(variant, more, outer), seed});
  };
  for (const char* load : {"W1", "W2"})
    for (const std::string_view variant : kGlomarcVariants) add(fmt::format("{}/{}", load, variant), variant);
  for (const int block : options.quick ? kQuickBlockSizes : kBlockSizes)
    for (const char* variant : {"GLTS", "FBO", "NS"})
      if (block != paper::kBlockSize)
        add(glomarc_block_cell(variant, block), variant, fmt::format(":block-size={}", block));
  for (const double slack : options.quick ? kQuickSlackFactors : kSlackFactors)
    if (slack != paper::kSlackFactor) add(glomarc_slack_cell(slack), "GLTS", fmt::format(":f-slack={}", slack));
  for (const char* variant : {"SSP", "GLTS"}) add(glomarc_changes_cell(variant), variant, {}, ":overhead-at=switch");
  std::ranges::stable_sort(cells, {}, rank);
  return cells;
}

Findings run_glomarc_study(const SeededOptions& options, const std::vector<Cell>& cells,
                           const Surroundings& surroundings) {
  Findings found{glomarc_printed()};
  run_seeds<GlomarcRecord>(
      found, cells, options,
      {.machine = Machine::cluster(paper::kNodes, paper::kCpusPerNode, paper::kCoresPerCpu), .runtime_model = "pairs"},
      surroundings,
      [&](const std::string& load, std::uint64_t seed) { return make_glomarc_workload(load, seed, options.jobs); });
  return found;
}

Result reproduce_glomarc(const SeededOptions& options, const Surroundings& surroundings) {
  return glomarc_result(run_glomarc_study(options, glomarc_cells(options), surroundings), options);
}

}  // namespace replay::study
