#include "scheduler/metrics/estimate_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace replay::metrics {

std::string mean_text(const Estimate& estimate, int decimals, double scale) {
  if (!std::isfinite(estimate.mean)) return "-";
  const std::string mean = fmt::format("{:.{}f}", estimate.mean * scale, decimals);
  return std::isfinite(estimate.half_width) ? fmt::format("{} +- {:.{}f}", mean, estimate.half_width * scale, decimals)
                                            : mean;
}

std::string difference_text(const Estimate& estimate, int decimals) {
  if (!std::isfinite(estimate.mean)) return "-";
  const std::string mean = fmt::format("{:+.{}f}", estimate.mean, decimals);
  return std::isfinite(estimate.half_width)
             ? fmt::format("{} [{:+.{}f}, {:+.{}f}]", mean, estimate.low(), decimals, estimate.high(), decimals)
             : mean;
}

}  // namespace replay::metrics
