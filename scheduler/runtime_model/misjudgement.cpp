#include "scheduler/runtime_model/misjudgement.hpp"

#include <cmath>

#include "scheduler/base/mix_bits.hpp"

namespace replay {
namespace {

// Two draws of one job must not be the same.
constexpr std::uint64_t kCurves = 0x63757276, kSlowdowns = 0x736c6f77;

float power_of(JobId job, double error, std::uint64_t seed) {
  const double u = unit_interval(mix_bits(mix_bits(seed) ^ static_cast<std::uint64_t>(job)));
  return static_cast<float>(std::pow(1 + error, 2 * u - 1));
}

}  // namespace

void misjudge(Workload& workload, const Misjudgement& errors, std::uint64_t seed) {
  if (errors.curve_error == 0 && errors.slowdown_error == 0) return;
  workload.jobs.change_each([&](TracedJob& traced) {
    if (!traced.job.declaration) return;
    traced.truth.speedup_power = power_of(traced.job.id, errors.curve_error, seed ^ kCurves);
    traced.truth.slowdown_power = power_of(traced.job.id, errors.slowdown_error, seed ^ kSlowdowns);
  });
}

}  // namespace replay
