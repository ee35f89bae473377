#include "tests/oracle/moldable/forecast.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "tests/oracle/moldable/sizes.hpp"

namespace replay::oracle {
namespace {

using Real = long double;

constexpr Time kSlot = 1800 * kSecond;
constexpr int kSlots = 48;

int slot_of_day(const Workload& workload, Time at) {
  return static_cast<int>((workload.unix_start + at) / kSlot % kSlots);
}

// Calls visit(slot, begin, end) for each part of [from, to) that lies in one slot.
void for_each_part(const Workload& workload, Time from, Time to, const std::function<void(int, Time, Time)>& visit) {
  while (from < to) {
    const Time next = from + kSlot - (workload.unix_start + from) % kSlot;
    visit(slot_of_day(workload, from), from, std::min(next, to));
    from = next;
  }
}

struct Class {
  std::array<int, kSlots> submitted{};
  Real jobs = 0, downey_jobs = 0;
  Real optimum = 0, time = 0, least = 0, most = 0;  // sums over the jobs
  Real a = 0, sigma = 0;                            // over those with Downey's curve

  void add(const Workload& workload, const Job& job) {
    const int best = oracle::optimum(job, workload.cores());
    ++submitted.at(static_cast<std::size_t>(slot_of_day(workload, job.submit)));
    ++jobs;
    optimum += static_cast<Real>(best);
    time += static_cast<Real>(time_at_size(job, job.estimate(), best));
    const auto offered = offered_sizes(job, workload.cores());
    least += static_cast<Real>(offered.front());
    most += static_cast<Real>(offered.back());
    if (!can_choose(job) || job.curve->law != Curve::Law::kDowney) return;
    ++downey_jobs;
    a += std::min(static_cast<Real>(job.curve->a) / 100, static_cast<Real>(workload.cores()));
    sigma += static_cast<Real>(job.curve->sigma) / 100;
  }
};

Real downey(Real a, Real sigma, Real n) {
  if (sigma <= 1) {
    if (n <= a) return a * n / (a + sigma * (n - 1) / 2);
    if (n <= 2 * a - 1) return a * n / (sigma * (a - 0.5L) + n * (1 - sigma / 2));
    return a;
  }
  if (n <= a + a * sigma - sigma) return n * a * (sigma + 1) / (sigma * (n + a - 1) + a);
  return a;
}

// Between the points (1/2, 0.4), (1, 0.65) and (2, 0.8).
Real three_point(Real share_of_optimum) {
  if (share_of_optimum <= 1) return 0.4L + 0.25L * (share_of_optimum - 0.5L) / 0.5L;
  return 0.65L + 0.15L * (share_of_optimum - 1);
}

struct Typical {
  Real size;
  Real time;
};

// The job that stands for a class; its size is not rounded.
Typical typical(const Class& c, Real modifier, int cores) {
  const Real n = c.optimum / c.jobs;
  const Real time = c.time / c.jobs;
  if (c.downey_jobs > 0) {
    const Real a = c.a / c.downey_jobs;
    const Real sigma = c.sigma / c.downey_jobs;
    const Real size = std::clamp(modifier * n, c.least / c.jobs, c.most / c.jobs);
    return {size, time * downey(a, sigma, n) / downey(a, sigma, size)};
  }
  const Real size = std::clamp(modifier * n, n / 2, std::min(2 * n, static_cast<Real>(cores)));
  return {size, time * three_point(1) / three_point(size / n)};
}

}  // namespace

long double expected_work(const Workload& workload, Time now, long double modifier, Time length) {
  std::array<Class, 3> classes;
  for (const Job& job : workload.jobs)
    if (job.submit < now) classes.at(static_cast<std::size_t>(class_of(job, workload.cores()))).add(workload, job);
  std::array<Time, kSlots> watched{};
  for_each_part(workload, 0, now,
                [&](int slot, Time begin, Time end) { watched.at(static_cast<std::size_t>(slot)) += end - begin; });

  Real work = 0;
  for (const Class& c : classes) {
    if (c.jobs == 0) continue;
    const Typical job = typical(c, modifier, workload.cores());
    for_each_part(workload, now, now + length, [&](int slot, Time begin, Time end) {
      const auto s = static_cast<std::size_t>(slot);
      if (watched.at(s) == 0) return;
      const Real expected =
          static_cast<Real>(end - begin) * static_cast<Real>(c.submitted.at(s)) / static_cast<Real>(watched.at(s));
      const Real left = static_cast<Real>(now + length) - static_cast<Real>(begin + end) / 2;
      work += expected * std::min(job.time, left) * job.size;
    });
  }
  return work;
}

}  // namespace replay::oracle
