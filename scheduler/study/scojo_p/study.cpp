#include "scheduler/study/scojo_p/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scheduler/base/error.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"

namespace replay::study {
namespace {

using namespace scojo;

// Every policy text of the study stands here.
constexpr ScojoPolicy kPolicies[] = {
    {kTraditional, "priority-easy:aging=top"},
    {kTraditionalOne, "priority-easy:aging=one"},
    {kScojoP, "scojo-p:predict=past"},
    {kUnpredicted, "scojo-p:predict=off"},
    {kCirne, "cirne-berman:base=easy:max=full"},
    {kCirneOpt, "cirne-berman:base=easy:max=opt"},
    {kCirneConservative, "cirne-berman:base=conservative:max=opt"},
    {kGreedy, "greedy-moldable:order=arrival"},
    {kGreedyClass, "greedy-moldable:order=class"},
    {kOldScojo, "scojo"},
};
constexpr std::string_view kIdealPolicy = "scojo-p:predict=past:ideal=";
constexpr std::array<double, 5> kIdealLoads{0.6, 0.7, 0.8, scojo_p_paper::kIdealLoad, 1.0};

std::string policy_text(const std::string& key) {
  for (const double ideal : kIdealLoads)
    if (key == scojo_ideal_key(ideal) && key != kScojoP) return fmt::format("{}{}", kIdealPolicy, ideal);
  const auto* found = std::ranges::find(kPolicies, key, &ScojoPolicy::key);
  INVARIANT(found != std::end(kPolicies), "no policy '{}'", key);
  return std::string{found->policy};
}

// The longest are trials of every size for each job, on long queues and with Downey's many sizes.
int rank(const ScojoRun& run) {
  const bool tries = run.policy == kCirne || run.policy == kCirneOpt;
  const bool is_heavy = run.workload.starts_with("W2") || run.workload.find("Downey") != std::string::npos;
  return (tries ? 0 : 2) + (is_heavy ? 0 : 1);
}

ScojoFigures simulate_run(const ScojoRun& run, std::uint64_t seed, std::uint64_t jobs,
                          const Surroundings& surroundings) {
  const ScojoWorkload workload = make_scojo_workload(scojo_workload_kind(run.workload), seed, jobs);
  ScojoRecord record;
  simulate_one(workload.workload, policy_text(run.policy),
               {.machine = Machine::pool(scojo_p_paper::kProcessors), .runtime_model = "speedup"}, surroundings,
               record.observers());
  return record.figures(workload);
}

ScojoWorkloadFacts facts_of(std::string_view key, const SeededOptions& options) {
  ScojoWorkloadFacts facts;
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const ScojoWorkload workload = make_scojo_workload(scojo_workload_kind(key), seed, options.jobs);
    facts.offered_load.push_back(workload.offered_load());
    for (std::size_t g = 0; g < kScojoGroups; ++g) {
      facts.share[g].push_back(workload.share(g));
      facts.mean_optimum[g].push_back(workload.mean_optimum(g));
    }
  }
  return facts;
}

}  // namespace

std::span<const ScojoPolicy> scojo_policies() { return kPolicies; }
std::span<const double> scojo_ideal_loads() { return kIdealLoads; }

std::string scojo_ideal_key(double ideal) {
  return ideal == scojo_p_paper::kIdealLoad ? std::string{kScojoP} : fmt::format("{}, ideal {}", kScojoP, ideal);
}

std::vector<ScojoRun> scojo_runs(bool quick) {
  std::vector<ScojoRun> runs;
  const auto add = [&runs](std::string_view workload, std::initializer_list<std::string_view> policies) {
    for (const std::string_view policy : policies) runs.push_back({std::string{workload}, std::string{policy}});
  };
  for (const std::string_view workload : {kW1, kW2}) {
    add(workload, {kTraditional, kTraditionalOne, kScojoP, kUnpredicted, kCirne, kCirneOpt, kCirneConservative, kGreedy,
                   kGreedyClass});
    for (const double ideal : kIdealLoads)
      if (!quick && ideal != scojo_p_paper::kIdealLoad) add(workload, {scojo_ideal_key(ideal)});
  }
  for (const std::string_view workload : {kW1Eighty, kW2Eighty})
    add(workload, {kScojoP, kUnpredicted, kCirne, kCirneOpt, kGreedyClass, kOldScojo});
  for (const std::string_view workload : {kW1Malleable, kW2Malleable}) add(workload, {kOldScojo});
  if (!quick) {
    add(kDowney, {kTraditional, kScojoP, kUnpredicted, kCirne, kCirneOpt});
    add(kDowneyRaised, {kScojoP});
  }
  return runs;
}

ScojoOutcome run_scojo_study(const SeededOptions& options, const std::vector<ScojoRun>& runs,
                             const Surroundings& surroundings) {
  ScojoOutcome outcome{.options = options};
  for (const ScojoRun& run : runs)
    if (!outcome.workloads.contains(run.workload)) outcome.workloads[run.workload] = facts_of(run.workload, options);
  outcome.runs = run_seeds<ScojoFigures>(
      "scojo-p", runs, rank, options, surroundings,
      [&](const ScojoRun& run, std::uint64_t seed) { return simulate_run(run, seed, options.jobs, surroundings); });
  return outcome;
}

Result reproduce_scojo(const SeededOptions& options, const Surroundings& surroundings) {
  return scojo_result(run_scojo_study(options, scojo_runs(options.quick), surroundings));
}

}  // namespace replay::study
