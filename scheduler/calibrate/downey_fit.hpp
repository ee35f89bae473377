// The Downey curve that lies nearest to measured speedups: least squares of the relative error over A and sigma. A and
// sigma make up for each other along a narrow valley, so they are searched one inside the other: for each sigma the best A,
// and of these the best sigma. No derivatives, as the curve's pieces have joints. Source of the curve: Downey 1997.
#pragma once

#include <optional>
#include <span>

#include "scheduler/model/speedup.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay::calibrate {

struct DowneyFit {
  DowneySpeedup curve;
  double residual = 0;  ///< root of the mean squared relative error at the points
};

/// As long as all sizes lie on the curve's first piece, S(n) = n / (alpha n + 1 - alpha), only alpha is determined: sigma /
/// (A (sigma + 1)), or sigma / 2A below sigma 1. Of the curves that are as good, it is one with small sigma.
/// With fewer than three sizes A and sigma cannot be told apart: sigma is 1 then. A is at most 64 times the largest size.
/// Nothing with fewer than two sizes.
[[nodiscard]] std::optional<DowneyFit> fit_downey(std::span<const SpeedupPoint> points);

/// Speedups of all benchmarks of the profile that were measured with one process and others, each with its fit; replaces
/// what the profile has.
void fit_speedups(Profile& profile);

}  // namespace replay::calibrate
