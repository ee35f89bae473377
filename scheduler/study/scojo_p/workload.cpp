#include "scheduler/study/scojo_p/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "scheduler/base/error.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/study/lublin_jobs.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"

namespace replay::study {
namespace {

using scojo_p_paper::kAlphaW1;
using scojo_p_paper::kAlphaW2;
using scojo_p_paper::kProcessors;

constexpr ClassShares kFourFifths{{0.8, 0.8, 0.8}}, kShortAndMedium{{0.8, 0.8, 0}}, kLong{{0, 0, 0.8}};
constexpr ScojoWorkloadKind kKinds[] = {
    {.key = "W1", .alpha = kAlphaW1},
    {.key = "W2", .alpha = kAlphaW2},
    {.key = "W1 80 %", .alpha = kAlphaW1, .moldable = kFourFifths},
    {.key = "W2 80 %", .alpha = kAlphaW2, .moldable = kFourFifths},
    {.key = "W1 malleable", .alpha = kAlphaW1, .moldable = kShortAndMedium, .malleable = kLong},
    {.key = "W2 malleable", .alpha = kAlphaW2, .moldable = kShortAndMedium, .malleable = kLong},
    {.key = "W1 Downey", .alpha = kAlphaW1, .curve = SpeedupModel::kDowney},
    {.key = "W1 Downey, E >= 0.9", .alpha = kAlphaW1, .curve = SpeedupModel::kDowney, .raises_least = true},
};

std::string_view group_of(Duration runtime) { return kScojoGroups.at(1 + static_cast<std::size_t>(class_of(runtime))); }

// Section 5.4: the largest size of at most N_opt at which the efficiency is 0.9 or more; efficiencies fall with the
// size.
void raise_least(JobTraits& traits, ProcessCount optimum) {
  constexpr double kEfficiency = 0.9;
  ProcessCount size = *traits.least;
  while (size < optimum && traits.speedup->speedup(size + 1) >= kEfficiency * (size + 1)) ++size;
  traits.least = size;
}

ScojoJob facts_of(const Job& job) {
  const ProcessCount optimum = optimum_size(job, kProcessors);
  const Duration runtime = estimate_at(job, optimum);
  return {.submitted = job.processes,
          .optimum = optimum,
          .runtime_s = seconds(runtime),
          .group = group_of(runtime),
          .has_choice = has_choice_of_size(job)};
}

}  // namespace

const ScojoWorkloadKind& scojo_workload_kind(std::string_view key) {
  const auto found = std::ranges::find(kKinds, key, &ScojoWorkloadKind::key);
  INVARIANT(found != std::end(kKinds), "no workload '{}'", key);
  return *found;
}

ScojoWorkload make_scojo_workload(const ScojoWorkloadKind& kind, std::uint64_t seed, std::uint64_t jobs) {
  const FlexibilityRule rule{.speedup = kind.curve, .moldable = kind.moldable, .malleable = kind.malleable};
  ScojoWorkload made;
  made.workload.jobs.reserve(jobs);
  made.facts.reserve(jobs);
  for_each_lublin_job({kind.alpha, kProcessors, seed, jobs}, [&](TracedJob job) {
    JobTraits traits;
    declare_flexibility(traits, {number(job.job.id), job.job.processes, job.truth.runtime}, rule, kProcessors,
                        Seed{seed});
    job.job.flexibility = *traits.flexibility;
    job.job.declaration = std::make_shared<const Declaration>(traits);
    ScojoJob facts = facts_of(job.job);
    if (kind.raises_least && traits.least && facts.group != "short") {
      raise_least(traits, facts.optimum);
      job.job.declaration = std::make_shared<const Declaration>(traits);
    }
    made.facts.push_back(facts);
    made.workload.jobs.push_back(job);
  });
  return made;
}

Figures facts_of(const ScojoWorkload& workload) {
  double work = 0;
  for (const TracedJob& job : workload.workload.jobs) work += job.job.processes * seconds(job.truth.runtime);
  const auto& jobs = workload.workload.jobs;
  Figures facts{
      {"offered load", work / (kProcessors * seconds(jobs.back().job.submitted - jobs.front().job.submitted))}};
  for (const std::string_view group : kScojoGroups) {
    double optimum = 0, count = 0;
    for (const ScojoJob& job : workload.facts)
      if (group == "all" || job.group == group) optimum += job.optimum, ++count;
    facts[fmt::format("share {}", group)] = count / static_cast<double>(workload.facts.size());
    facts[fmt::format("optimum {}", group)] = optimum / count;
  }
  return facts;
}

}  // namespace replay::study
