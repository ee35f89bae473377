#include "scheduler/model/job_sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/model/units.hpp"

namespace replay {
namespace {

constexpr double kLongest = 9.2e18;  // microseconds that fit into a Duration
constexpr ProcessCount kNoLimit = std::numeric_limits<ProcessCount>::max();

// The smallest size of at least `least` that the job offers, if there is one. REQUIRES: has_choice_of_size(job).
std::optional<ProcessCount> smallest_size(const Job& job, ProcessCount least) {
  const auto& sizes = job.declaration->sizes;
  const ProcessCount from = std::max(least, job.declaration->least.value_or(1));
  if (sizes.empty()) return from <= most_size(job) ? std::optional{from} : std::nullopt;
  const auto found = std::ranges::lower_bound(sizes, from);
  return found != sizes.end() && *found <= most_size(job) ? std::optional{*found} : std::nullopt;
}

// Whether the curve never falls up to any size, as Downey's never does.
bool never_falls(const SpeedupCurve& curve) {
  const auto* points = std::get_if<ThreePointSpeedup>(&curve.law());
  if (points == nullptr) return true;
  const auto& [half, full, twice] = points->efficiency;
  return half <= 2 * full && full <= 2 * twice;
}

}  // namespace

ProcessCount least_size(const Job& job) {
  if (!has_choice_of_size(job)) return job.processes;
  const auto& sizes = job.declaration->sizes;
  return std::max(job.declaration->least.value_or(1), sizes.empty() ? ProcessCount{1} : sizes.front());
}

ProcessCount most_size(const Job& job) {
  if (!has_choice_of_size(job)) return job.processes;
  const auto& sizes = job.declaration->sizes;
  return std::min(job.declaration->most.value_or(kNoLimit), sizes.empty() ? kNoLimit : sizes.back());
}

std::optional<ProcessCount> largest_size(const Job& job, ProcessCount most) {
  const ProcessCount least = least_size(job), limit = std::min(most, most_size(job));
  if (limit < least) return std::nullopt;
  if (!has_choice_of_size(job) || job.declaration->sizes.empty()) return limit;
  const auto& sizes = job.declaration->sizes;
  const auto above = std::ranges::upper_bound(sizes, limit);
  return above != sizes.begin() && *(above - 1) >= least ? std::optional{*(above - 1)} : std::nullopt;
}

std::string sizes_text(const Job& job) {
  if (!has_choice_of_size(job)) return fmt::format("{}", job.processes);
  if (!job.declaration->sizes.empty()) return sizes_text(job.declaration->sizes);
  if (most_size(job) == kNoLimit) return fmt::format("{} or more", least_size(job));
  return fmt::format("{}..{}", least_size(job), most_size(job));
}

std::optional<ProcessCount> fastest_size(const Job& job, ProcessCount most) {
  std::optional<ProcessCount> best = largest_size(job, most);
  if (!best || !has_choice_of_size(job)) return best;
  const SpeedupCurve& curve = *job.declaration->speedup;
  if (const auto useful = curve.largest_useful(); useful && *useful < *best)
    if (const auto enough = smallest_size(job, *useful)) best = std::min(*best, *enough);
  // Sizes below that are as fast; on a curve that falls, or nearly flat, also faster ones.
  Duration least = estimate_at(job, *best);
  for (auto size = largest_size(job, *best - 1); size; size = largest_size(job, *size - 1)) {
    const Duration time = estimate_at(job, *size);
    if (time > least && never_falls(curve)) break;
    if (time <= least) best = size, least = time;
  }
  return best;
}

ProcessCount size_near(const Job& job, double wish, ProcessCount most) {
  if (!has_choice_of_size(job)) return job.processes;
  const double rounded = std::round(wish);
  const ProcessCount limit = rounded < most ? static_cast<ProcessCount>(rounded) : most;
  if (const auto below = largest_size(job, limit)) return *below;
  const auto least = smallest_size(job, 1);
  return least && *least <= most ? *least : job.processes;
}

ProcessCount optimum_size(const Job& job, CoreCount machine) {
  if (!has_choice_of_size(job)) return job.processes;
  const SpeedupCurve& curve = *job.declaration->speedup;
  if (const auto* points = std::get_if<ThreePointSpeedup>(&curve.law())) return points->optimum;
  if (std::holds_alternative<DowneySpeedup>(curve.law())) {
    const ProcessCount most = processes_on(job, machine);
    return size_near(job, curve.working_set(most), most);
  }
  return job.processes;
}

double speed_at(ProcessCount submitted, const Declaration* declaration, ProcessCount size, double power) {
  if (size == submitted || declaration == nullptr || !declaration->speedup) return 1;
  const double ratio = declaration->speedup->runtime_ratio(size, submitted);  // S(size) / S(submitted)
  if (power == 1) return ratio;
  const double linear = static_cast<double>(size) / submitted;
  return std::clamp(std::pow(ratio, power), std::min(1.0, linear), std::max(1.0, linear));
}

Duration time_at(Duration time, ProcessCount submitted, const Declaration* declaration, ProcessCount size,
                 double power) {
  const double speed = speed_at(submitted, declaration, size, power);
  if (speed == 1) return time;
  const double exact = static_cast<double>(time.count()) / speed;
  return exact < kLongest ? rounded_up(exact, exact) : Duration::max();
}

std::string_view to_text(JobClass job_class) {
  switch (job_class) {
    case JobClass::kShort: return "short";
    case JobClass::kMedium: return "medium";
    case JobClass::kLong: return "long";
  }
  return "?";
}

}  // namespace replay
