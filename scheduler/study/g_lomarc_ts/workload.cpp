#include "scheduler/study/g_lomarc_ts/workload.hpp"

#include <bit>
#include <memory>

#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/lublin_jobs.hpp"
#include "traces/declare/contention.hpp"

namespace replay::study {
namespace {

using namespace glomarc;

namespace paper = glomarc_paper;

// As `trace declare --contention table4 --size-rule glomarc:cores=4`.
void declare(Job& job, Seed seed) {
  constexpr SizeRule kRule{.cores = paper::kCpusPerNode * paper::kCoresPerCpu};
  JobTraits traits;
  declare_contention(traits, number(job.id), seed);
  job.processes =
      size_on_nodes(job.processes, *traits.same_cpu_slowdown, *traits.same_node_slowdown, kRule, paper::kNodes);
  job.declaration = std::make_shared<const Declaration>(traits);
}

void add(std::array<double, kGlomarcGroups>& sums, Group group, double value) {
  sums[kAll] += value;
  sums[group] += value;
  if (group != kShort) sums[kEligible] += value;
}

}  // namespace

std::string_view to_text(GlomarcLoad load) { return load == GlomarcLoad::kW1 ? "W1" : "W2"; }

Group glomarc_class_of(Duration request) {
  if (seconds(request) <= paper::kShortUpTo) return kShort;
  return seconds(request) <= paper::kMediumUpTo ? kMedium : kLong;
}

GlomarcWorkload make_glomarc_workload(GlomarcLoad load, std::uint64_t seed, std::uint64_t jobs) {
  GlomarcWorkload made;
  made.workload.jobs.reserve(jobs);
  made.facts.reserve(jobs);
  const double alpha = load == GlomarcLoad::kW1 ? paper::kAlphaW1 : paper::kAlphaW2;
  for_each_lublin_job({alpha, paper::kNodes, seed, jobs}, [&](TracedJob job) {
    made.facts.push_back({.drawn = job.job.processes,
                          .runtime_s = seconds(job.truth.runtime),
                          .group = glomarc_class_of(job.job.estimate)});
    declare(job.job, Seed{seed});
    made.workload.jobs.push_back(job);
  });
  return made;
}

GlomarcFacts facts_of(const GlomarcWorkload& workload) {
  GlomarcFacts facts;
  double serial = 0, power_of_two = 0;
  for (const GlomarcJob& job : workload.facts) {
    add(facts.jobs, job.group, 1);
    add(facts.work, job.group, job.drawn * job.runtime_s);
    if (job.drawn == 1)
      ++serial;
    else if (std::has_single_bit(static_cast<std::uint32_t>(job.drawn)))
      ++power_of_two;
  }
  const auto& jobs = workload.workload.jobs;
  const double span = seconds(jobs.back().job.submitted - jobs.front().job.submitted);
  const double all = facts.jobs[kAll], work = facts.work[kAll];
  facts.offered_load = work / (paper::kNodes * span) * 100;
  facts.serial = serial / all * 100;
  facts.power_of_two = power_of_two / all * 100;
  for (double& share : facts.jobs) share *= 100 / all;
  for (double& share : facts.work) share *= 100 / work;
  return facts;
}

}  // namespace replay::study
