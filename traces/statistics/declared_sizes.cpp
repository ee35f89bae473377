#include "traces/statistics/declared_sizes.hpp"

#include <algorithm>
#include <variant>

#include "scheduler/model/job_sizes.hpp"

namespace replay {
void DeclaredSizes::add(const TracedJob& traced, CoreCount machine) {
  const Job& job = traced.job;
  machine = std::max(machine, cores_needed(job));  // it need not be known yet
  ++(job.flexibility == Flexibility::kRigid ? rigid : job.flexibility == Flexibility::kMoldable ? moldable : malleable);
  if (!job.declaration || !job.declaration->speedup) return;
  const SpeedupCurve::Law& law = job.declaration->speedup->law();
  if (const auto* const downey = std::get_if<DowneySpeedup>(&law)) {
    downey_a.add(downey->a);
    downey_sigma.add(downey->sigma);
  } else if (const auto* const points = std::get_if<ThreePointSpeedup>(&law)) {
    three_point_n.add(points->optimum);
  } else {
    ++linear;
  }
  const ProcessCount full = processes_on(job, machine);
  if (has_choice_of_size(job)) {
    least.add(least_size(job));
    most.add(std::min(most_size(job), full));
  }
  const ProcessCount best = size_near(job, optimum_size(job, machine), full);
  optimum.at(static_cast<std::size_t>(class_of(runtime_at(traced, best)))).add(best);
}

}  // namespace replay
