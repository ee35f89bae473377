#include "tests/support/random_workload.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "tests/support/random.hpp"

namespace replay::test {
namespace {

SpeedupCurve random_curve(Random& random, ProcessCount processes, CoreCount cores) {
  switch (random.below(5)) {
    case 0: return SpeedupCurve{LinearSpeedup{}};
    case 1:
    case 2:
      return SpeedupCurve{DowneySpeedup{1 + static_cast<double>(random.between(0, 4 * cores)) / 4,
                                        random.one_of({0.0, 0.5, 1.0, 1.209, 2.5})}};
    default: {
      const std::array falling{0.9, 0.6, 0.25};
      ThreePointSpeedup points{.optimum = processes};
      if (random.one_in(4)) points.efficiency = falling;
      return SpeedupCurve{points};
    }
  }
}

Declaration random_declaration(Random& random, ProcessCount processes, CoreCount cores) {
  Declaration declared;
  if (!random.one_in(6)) declared.speedup = random_curve(random, processes, cores);
  if (random.one_in(2)) declared.least = static_cast<ProcessCount>(random.between(1, cores));
  if (random.one_in(2))
    declared.most = static_cast<ProcessCount>(random.between(declared.least.value_or(1), cores + 3));
  if (random.one_in(3))
    for (ProcessCount size = 1; size <= processes_at(cores, 2); ++size)
      if (random.one_in(3)) declared.sizes.push_back(size);
  return declared;
}

bool fits_at_a_size(const Job& job, CoreCount cores) {
  for (ProcessCount size = 1; size <= processes_at(cores, 1); ++size)
    if (offers(job, size)) return true;
  return false;
}

}  // namespace

std::vector<TracedJob> random_jobs(std::uint64_t seed, int jobs, CoreCount cores) {
  Random random{seed};
  std::vector<TracedJob> all;
  Instant now{};
  for (int i = 1; i <= jobs; ++i) {
    if (random.below(3) != 0) now += std::chrono::seconds{random.below(40)};  // ties are common
    TracedJob traced;
    traced.job.id = static_cast<JobId>(i);
    traced.job.submitted = now;
    traced.job.processes = random.below(3) == 0
                               ? ProcessCount{1}
                               : static_cast<ProcessCount>(1 + random.below(static_cast<std::uint64_t>(cores)));
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

std::vector<TracedJob> random_moldable_jobs(std::uint64_t seed, int jobs, CoreCount cores) {
  std::vector<TracedJob> all = random_jobs(seed, jobs, cores);
  Random random{seed ^ 0x6d6f6c64};  // other draws than those of random_jobs()
  for (TracedJob& traced : all) {
    Job& job = traced.job;
    if (random.one_in(4)) continue;
    job.flexibility = random.one_of({Flexibility::kRigid, Flexibility::kMoldable, Flexibility::kMoldable,
                                     Flexibility::kMoldable, Flexibility::kMalleable});
    Declaration declared = random_declaration(random, job.processes, cores);
    job.declaration = std::make_shared<const Declaration>(declared);
    if (fits_at_a_size(job, cores)) continue;
    declared.least = declared.most = std::nullopt;
    declared.sizes.clear();
    job.declaration = std::make_shared<const Declaration>(declared);
  }
  return all;
}

bool offers(const Job& job, ProcessCount size) {
  const Declaration* const declared = job.declaration.get();
  if (job.flexibility == Flexibility::kRigid || declared == nullptr || !declared->speedup) return size == job.processes;
  return size >= declared->least.value_or(1) && (!declared->most || size <= *declared->most) &&
         (declared->sizes.empty() || std::ranges::find(declared->sizes, size) != declared->sizes.end());
}

}  // namespace replay::test
