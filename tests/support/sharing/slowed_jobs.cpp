#include "tests/support/sharing/slowed_jobs.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "scheduler/model/contention.hpp"
#include "tests/support/random.hpp"

namespace replay::test {
namespace {

double slowdown_of(Random& random, const SlowdownDistribution& distribution) {
  return distribution.quantile(static_cast<double>(random.below(1000)) / 1000);
}

// Most are medium: from some minutes to three hours.
std::chrono::seconds time_of(Random& random) {
  switch (random.below(6)) {
    case 0: return std::chrono::seconds{1 + random.below(600)};
    case 1:
    case 2: return std::chrono::seconds{10'000 + random.below(20'000)};
    default: return std::chrono::seconds{601 + random.below(10'200)};
  }
}

}  // namespace

std::vector<TracedJob> slowed_jobs(std::uint64_t seed, int jobs, CoreCount widest, bool exact) {
  Random random{seed};
  std::vector<TracedJob> all;
  Instant now{};
  for (int i = 1; i <= jobs; ++i) {
    if (random.below(4) != 0) now += std::chrono::seconds{random.below(4000)};
    TracedJob traced;
    traced.job.id = static_cast<JobId>(i);
    traced.job.submitted = now;
    traced.job.processes = random.below(3) == 0
                               ? ProcessCount{1}
                               : static_cast<ProcessCount>(1 + random.below(static_cast<std::uint64_t>(widest)));
    traced.truth.runtime = time_of(random);
    traced.job.estimate = traced.truth.runtime;
    if (!exact && random.below(2) == 0) traced.job.estimate *= 1 + static_cast<std::int64_t>(random.below(4));
    Declaration declared;
    declared.same_cpu_slowdown = slowdown_of(random, kSameCpuSlowdowns);
    declared.same_node_slowdown = slowdown_of(random, kSameNodeSlowdowns);
    declared.pair_key = seed * 100'000 + static_cast<std::uint64_t>(i);
    traced.job.declaration = std::make_shared<const Declaration>(declared);
    all.push_back(traced);
  }
  return all;
}

}  // namespace replay::test
