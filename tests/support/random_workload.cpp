#include "tests/support/random_workload.hpp"

#include <algorithm>

#include "tests/support/random.hpp"

namespace replay::test {

std::vector<TracedJob> random_jobs(std::uint64_t seed, int jobs, CoreCount cores) {
  Random random{seed};
  std::vector<TracedJob> all;
  Instant now{};
  for (int i = 1; i <= jobs; ++i) {
    if (random.below(3) != 0) now += std::chrono::seconds{random.below(40)};  // ties are common
    TracedJob traced;
    traced.job.id = static_cast<JobId>(i);
    traced.job.submitted = now;
    traced.job.processes =
        random.below(3) == 0 ? 1 : static_cast<ProcessCount>(1 + random.below(static_cast<std::uint64_t>(cores)));
    traced.truth.runtime = random.below(20) == 0 ? Duration{0} : std::chrono::seconds{1 + random.below(120)};
    traced.job.estimate = std::max<Duration>(traced.truth.runtime, std::chrono::seconds{1});
    switch (random.below(4)) {
      case 0: traced.job.estimate *= 1 + static_cast<std::int64_t>(random.below(5)); break;
      case 1:
        traced.job.estimate = std::max<Duration>(traced.job.estimate / 2, std::chrono::seconds{1});
        break;  // the job overruns
      default: break;
    }
    if (random.below(6) == 0) traced.job.flexibility = Flexibility::kRigid;
    traced.truth.behaviour = {static_cast<double>(random.below(101)) / 100,
                              static_cast<double>(random.below(100)) / 100};
    traced.job.declared = traced.truth.behaviour;
    all.push_back(traced);
  }
  return all;
}

}  // namespace replay::test
