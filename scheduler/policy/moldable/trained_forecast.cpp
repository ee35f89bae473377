#include "scheduler/policy/moldable/trained_forecast.hpp"

#include <algorithm>
#include <utility>

namespace replay {
namespace {

constexpr double kMicroseconds = 1e6;  // of a second

TrainedClass means_of(const SeenJobs& seen) {
  TrainedClass means;
  means.submitted = seen.submitted;
  means.jobs = static_cast<std::int64_t>(seen.jobs);
  means.downey_jobs = static_cast<std::int64_t>(seen.downey_jobs);
  if (seen.jobs > 0) {
    means.optimum = seen.optimum / seen.jobs;
    means.at_optimum_s = seen.at_optimum / seen.jobs / kMicroseconds;
    means.least = seen.least / seen.jobs;
    means.most = seen.most / seen.jobs;
  }
  if (seen.downey_jobs > 0) {
    means.downey_a = seen.downey_a / seen.downey_jobs;
    means.downey_sigma = seen.downey_sigma / seen.downey_jobs;
  }
  return means;
}

SeenJobs sums_of(const TrainedClass& means) {
  const auto jobs = static_cast<double>(means.jobs), downey_jobs = static_cast<double>(means.downey_jobs);
  return {.submitted = means.submitted,
          .jobs = jobs,
          .optimum = means.optimum * jobs,
          .at_optimum = means.at_optimum_s * kMicroseconds * jobs,
          .least = means.least * jobs,
          .most = means.most * jobs,
          .downey_jobs = downey_jobs,
          .downey_a = means.downey_a * downey_jobs,
          .downey_sigma = means.downey_sigma * downey_jobs};
}

}  // namespace

TrainedForecast learned_from(const Workload& workload, Training training) {
  const Duration zero = workload.zero_time_of_day;
  Instant last{};
  for (const TracedJob& traced : workload.jobs) last = std::max(last, traced.job.submitted);
  Forecast forecast{training.machine};
  training.jobs = 0;
  for (const TracedJob& traced : workload.jobs) {
    if (traced.job.submitted == last) continue;
    const ClassedJob job = classed(traced.job, training.machine, Aging::kOff);
    forecast.add(seen_job(job, training.machine), zero + traced.job.submitted.time_since_epoch());
    ++training.jobs;
  }
  forecast.watch(zero, zero + last.time_since_epoch());

  TrainedForecast trained{.training = std::move(training)};
  for (std::size_t c = 0; c < kJobClasses; ++c) trained.classes[c] = means_of(forecast.seen(static_cast<JobClass>(c)));
  for (std::size_t slot = 0; slot < kForecastSlots; ++slot) trained.watched[slot] = forecast.watched(slot);
  return trained;
}

Forecast forecast_of(const TrainedForecast& trained) {
  std::array<SeenJobs, kJobClasses> seen;
  std::ranges::transform(trained.classes, seen.begin(), sums_of);
  return {trained.training.machine, seen, trained.watched};
}

}  // namespace replay
