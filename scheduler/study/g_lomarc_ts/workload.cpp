#include "scheduler/study/g_lomarc_ts/workload.hpp"

#include <fmt/format.h>

#include <bit>
#include <memory>

#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/lublin_jobs.hpp"
#include "traces/declare/contention.hpp"

namespace replay::study {
namespace {

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

}  // namespace

std::string_view glomarc_class_of(Duration request) {
  if (seconds(request) <= paper::kShortUpTo) return "short";
  return seconds(request) <= paper::kMediumUpTo ? "medium" : "long";
}

GlomarcWorkload make_glomarc_workload(std::string_view load, std::uint64_t seed, std::uint64_t jobs) {
  GlomarcWorkload made;
  made.workload.jobs.reserve(jobs);
  made.facts.reserve(jobs);
  const double alpha = load == "W1" ? paper::kAlphaW1 : paper::kAlphaW2;
  for_each_lublin_job({alpha, paper::kNodes, seed, jobs}, [&](TracedJob job) {
    made.facts.push_back({.drawn = job.job.processes,
                          .runtime_s = seconds(job.truth.runtime),
                          .group = glomarc_class_of(job.job.estimate)});
    declare(job.job, Seed{seed});
    made.workload.jobs.push_back(job);
  });
  return made;
}

Figures facts_of(const GlomarcWorkload& workload) {
  Figures facts;
  for (const std::string_view group : kGlomarcGroups)
    for (const char* what : {"jobs", "work"}) facts[fmt::format("{}, {}", group, what)] = 0;
  double all = 0, work = 0, serial = 0, power_of_two = 0;
  for (const GlomarcJob& job : workload.facts) {
    const double of_job = job.drawn * job.runtime_s;
    for_each_group_of(job.group, [&](std::string_view group) {
      ++facts[fmt::format("{}, jobs", group)];
      facts[fmt::format("{}, work", group)] += of_job;
    });
    ++all, work += of_job;
    if (job.drawn == 1)
      ++serial;
    else if (std::has_single_bit(static_cast<std::uint32_t>(job.drawn)))
      ++power_of_two;
  }
  for (auto& [name, value] : facts) value *= 100 / (name.ends_with("jobs") ? all : work);
  const auto& jobs = workload.workload.jobs;
  const double span = seconds(jobs.back().job.submitted - jobs.front().job.submitted);
  facts["offered load"] = work / (paper::kNodes * span) * 100;
  facts["serial"] = serial / all * 100;
  facts["power of two"] = power_of_two / all * 100;
  return facts;
}

}  // namespace replay::study
