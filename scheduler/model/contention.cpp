#include "scheduler/model/contention.hpp"

#include <cstddef>

#include "scheduler/base/mix_bits.hpp"

namespace replay {
namespace {

constexpr double kFirstBin = 0.9;
constexpr double kBinWidth = 0.1;

}  // namespace

double SlowdownDistribution::quantile(double u) const {
  double left = u * 100;
  std::size_t bin = 0;
  while (left >= percent[bin]) left -= percent[bin++];  // the percentages sum to 100 and u < 1
  return kFirstBin + kBinWidth * (static_cast<double>(bin) + left / percent[bin]);
}

double co_scheduling_slowdown(std::uint64_t job, std::uint64_t beside) {
  return kCoSchedulingSlowdowns.quantile(unit_interval(mix_bits(mix_bits(job) ^ beside)));
}

}  // namespace replay
