#include "benchmarks/perf/sharing.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace replay::bench {
namespace {

// As docs/workloads.md has them.
std::string workload(const TemporaryFolder& folder, const std::string& replay, std::uint64_t jobs, const char* alpha) {
  const std::string plain = (folder / "lublin.swf").string(), declared = (folder / "declared.swf").string();
  run({replay, "generate", "lublin", "--jobs", fmt::to_string(jobs), "--aarr", alpha, "--force", "-o", plain});
  run({replay, "trace", "declare", plain, "--contention", "table4", "--size-rule", "glomarc:cores=4", "--force", "-o",
       declared});
  return declared;
}

}  // namespace

void measure_sharing(const TemporaryFolder& folder, RaceRules rules, std::uint64_t most_jobs) {
  constexpr std::pair<const char*, const char*> kWorkloads[] = {{"W1", "10.33"}, {"W2", "9.83"}};
  fmt::print(
      "\n## G-LOMARC-TS in slices, 128 nodes of four cores, `--outputs none`: user CPU s of the whole process\n\n{}",
      kRaceColumns);
  rules.options = {"--machine", "128x2x2", "--runtime-model", "pairs"};
  for (const auto& [name, alpha] : kWorkloads) {
    std::vector<PolicyRunner> runners;
    for (const char* variant : {"ssp", "cst", "glts"})
      runners.push_back({fmt::format("scojo-pect:inner={{g-lomarc-ts:variant={}}}", variant)});
    runners.push_back({"g-lomarc-ts"});
    for (std::uint64_t jobs = 1'000; jobs <= most_jobs; jobs *= 10)
      race(folder, rules, workload(folder, rules.replay, jobs, alpha), fmt::format("{}, {} jobs", name, jobs), runners);
  }
}

}  // namespace replay::bench
