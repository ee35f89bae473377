#include "scheduler/policy/moldable/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "scheduler/model/job_sizes.hpp"

namespace replay {
namespace {

constexpr Duration kDay = kForecastSlot * kForecastSlots;

std::size_t slot_of(Duration since_midnight) {
  const std::int64_t slot = since_midnight / kForecastSlot % static_cast<std::int64_t>(kForecastSlots);
  return static_cast<std::size_t>(slot < 0 ? slot + static_cast<std::int64_t>(kForecastSlots) : slot);
}

/// Calls visit(slot, begin, end) for each part of [from, to) that lies in one slot.
template <class Visit>
void for_each_part(Duration from, Duration to, Visit visit) {
  while (from < to) {
    const Duration next = std::min(to, (from / kForecastSlot + 1) * kForecastSlot);
    visit(slot_of(from), from, next);
    from = next;
  }
}

/// The speedup at `times` the optimum size over that at the optimum, of three points with their usual efficiencies.
double three_point_gain(double times) {
  const auto [half, whole, twice] = ThreePointSpeedup{}.efficiency;
  const double at_half = half / 2, at_twice = 2 * twice;
  const double speedup =
      times <= 1 ? at_half + (whole - at_half) * (times - 0.5) / 0.5 : whole + (at_twice - whole) * (times - 1);
  return speedup / whole;
}

/// The sum of min(time, left), min(time, left - 1 day), ..., of so many days. REQUIRES: days >= 1, left >= days - 1 days.
double sum_of_least(double time, double left, double days) {
  if (days == 1) return std::min(time, left);
  constexpr auto kOneDay = static_cast<double>(kDay.count());
  const double whole = left < time ? 0 : std::min(days, std::floor((left - time) / kOneDay) + 1);
  const double cut = days - whole;
  return whole * time + cut * (left - whole * kOneDay) - kOneDay * cut * (cut - 1) / 2;
}

}  // namespace

struct Forecast::Expected {
  double size;
  double time;  // us
};

SeenJob seen_job(const ClassedJob& classed, CoreCount machine) {
  const Job& job = *classed.job;
  const ProcessCount full = processes_on(job, machine);
  SeenJob seen{.own = classed.own,
               .optimum = classed.optimum,
               .at_optimum = classed.at_optimum,
               .least = std::min(size_near(job, 0, full), full),  // of a list the least within bounds
               .most = largest_size(job, full).value_or(job.processes),
               .downey = {}};
  if (!has_choice_of_size(job)) return seen;
  if (const auto* const curve = std::get_if<DowneySpeedup>(&job.declaration->speedup->law()))
    seen.downey = DowneySpeedup{std::min<double>(curve->a, machine), curve->sigma};
  return seen;
}

void Forecast::add(const SeenJob& job, Duration since_midnight) {
  SeenJobs& seen = classes_[static_cast<std::size_t>(job.own)];
  ++seen.submitted[slot_of(since_midnight)];
  ++seen.jobs;
  seen.optimum += job.optimum;
  seen.at_optimum += static_cast<double>(job.at_optimum.count());
  seen.least += job.least;
  seen.most += job.most;
  if (!job.downey) return;
  ++seen.downey_jobs;
  seen.downey_a += job.downey->a;
  seen.downey_sigma += job.downey->sigma;
}

void Forecast::watch(Duration from, Duration to) {
  const std::int64_t days = (to - from) / kDay;
  for (Duration& watched : watched_) watched += days * kForecastSlot;
  for_each_part(from + days * kDay, to,
                [this](std::size_t slot, Duration begin, Duration end) { watched_[slot] += end - begin; });
}

// With Downey's curve in the class its mean is that of the class; else three points about the mean optimum.
Forecast::Expected Forecast::sized(const SeenJobs& seen, double modifier) const {
  const double optimum = seen.optimum / seen.jobs, time = seen.at_optimum / seen.jobs;
  if (seen.downey_jobs > 0) {
    const SpeedupCurve curve{DowneySpeedup{seen.downey_a / seen.downey_jobs, seen.downey_sigma / seen.downey_jobs}};
    const double size = std::clamp(modifier * optimum, seen.least / seen.jobs, seen.most / seen.jobs);
    return {size, time * curve.runtime_ratio(optimum, size)};
  }
  const double size = std::clamp(modifier * optimum, optimum / 2, std::min<double>(2 * optimum, machine_));
  return {size, time / three_point_gain(size / optimum)};
}

// Whole days bring the same jobs at the same times of the day, so that one sum stands for all of them.
double Forecast::expected_work(Duration now, Duration length, double modifier) const {
  std::array<Expected, kJobClasses> job{};
  for (std::size_t c = 0; c < kJobClasses; ++c)
    if (classes_[c].jobs > 0) job[c] = sized(classes_[c], modifier);
  double work = 0;
  const auto add_parts = [&](Duration from, Duration to, double days) {
    for_each_part(from, to, [&](std::size_t slot, Duration begin, Duration end) {
      if (watched_[slot] == Duration::zero()) return;
      const auto part = static_cast<double>((end - begin).count());
      const double left = static_cast<double>((now + length - begin).count()) - part / 2;
      for (std::size_t c = 0; c < kJobClasses; ++c) {
        if (classes_[c].submitted[slot] == 0) continue;
        const auto submitted = static_cast<double>(classes_[c].submitted[slot]);
        const double arrivals = submitted * part / static_cast<double>(watched_[slot].count());
        work += arrivals * sum_of_least(job[c].time, left, days) * job[c].size;
      }
    });
  };
  const std::int64_t days = length / kDay;
  if (days > 0) add_parts(now, now + kDay, static_cast<double>(days));
  add_parts(now + days * kDay, now + length, 1);
  return work;
}

}  // namespace replay
