#include "scheduler/policy/moldable/load_factor.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "scheduler/model/job_sizes.hpp"

namespace replay {
namespace {

constexpr int kHalvings = 40;

}  // namespace

ProcessCount AdaptableSizes::at(double factor) const {
  const double wish = std::round(factor * optimum);
  const ProcessCount size = wish < most ? std::max(static_cast<ProcessCount>(wish), least) : most;
  if (only.empty()) return size;
  const auto above = std::ranges::upper_bound(only, size);
  return above == only.begin() ? only.front() : *(above - 1);
}

std::optional<AdaptableSizes> adaptable_sizes(const Job& job, ProcessCount optimum, CoreCount machine) {
  const auto most = largest_size(job, processes_on(job, machine));
  if (!has_choice_of_size(job) || !most) return std::nullopt;
  AdaptableSizes sizes{.optimum = optimum, .least = least_size(job), .most = *most};
  if (const auto& offered = job.declaration->sizes; !offered.empty()) {
    const auto begin = std::ranges::lower_bound(offered, sizes.least);
    sizes.only = std::span{begin, std::ranges::upper_bound(offered, *most)};
    sizes.least = sizes.only.front();
  }
  return sizes;
}

double load_factor(const MachineLoad& load) {
  if (load.needed <= load.machine && 10 * load.needed >= 9 * std::int64_t{load.machine}) return 1;
  const bool is_high = load.needed > load.machine;
  double low = 1;
  double high = 1;
  for (const AdaptableSizes& job : load.adaptable) {
    if (is_high) low = std::min(low, static_cast<double>(job.least) / job.optimum);
    if (!is_high) high = std::max(high, static_cast<double>(job.most) / job.optimum);
  }
  const auto all_fit = [&load](double factor) {
    std::int64_t sum = load.fixed;
    for (const AdaptableSizes& job : load.adaptable) sum += job.at(factor);
    return sum <= load.machine;
  };
  if (all_fit(high)) return high;
  if (!all_fit(low)) return low;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (all_fit(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace replay
