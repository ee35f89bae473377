// Speedup curves: how much faster a job gets with more processors. One value, written "linear", "downey:a=10:sigma=0.5"
// or "three-point:n=8:e=0.8/0.65/0.4", so that a curve can be a field of a table beside a trace.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "scheduler/model/units.hpp"

namespace replay {

/// n processors are n times as fast as one.
struct LinearSpeedup {
  bool operator==(const LinearSpeedup&) const = default;
};

/// Downey 1997, "A model for speedup of parallel programs": average parallelism and its variance.
struct DowneySpeedup {
  double a = 1;      ///< A, the average parallelism and the greatest speedup; >= 1
  double sigma = 0;  ///< coefficient of variance of the parallelism; >= 0, 0: linear up to A
  bool operator==(const DowneySpeedup&) const = default;
};

/// SCOJO-P, section 5.2: efficiencies at N/2, N and 2N processors, N the optimum size; the speedup is linear between
/// them. Below N/2 the efficiency is constant, beyond 2N the speedup is. The points lie at real abscissae: sizes are
/// clamped, the curve is not (N = 1 has its first point at half a processor).
struct ThreePointSpeedup {
  ProcessCount optimum = 1;                          ///< N; >= 1
  std::array<double, 3> efficiency{0.8, 0.65, 0.4};  ///< at N/2, N, 2N; 0..1 exclusive of 0
  bool operator==(const ThreePointSpeedup&) const = default;
};

class SpeedupCurve {
 public:
  using Law = std::variant<LinearSpeedup, DowneySpeedup, ThreePointSpeedup>;

  SpeedupCurve() = default;
  SpeedupCurve(Law law) : law_(law) {}  // NOLINT(google-explicit-constructor): a law is a curve

  /// S(n) > 0: run time on one processor over run time on n, as the law states it (three points do not give S(1) = 1,
  /// so use runtime_ratio() to move a job from size to size). REQUIRES: n >= 1.
  [[nodiscard]] double speedup(double n) const;
  /// T(to) / T(from): how the run time changes with the size. REQUIRES: both >= 1.
  [[nodiscard]] double runtime_ratio(double from, double to) const { return speedup(from) / speedup(to); }
  /// The smallest size beyond which the speedup does not grow: ceil(2A - 1) or ceil(A + A sigma - sigma) for Downey, 2N
  /// for three points, nothing where there is no such size or it exceeds 2^31 - 1.
  [[nodiscard]] std::optional<ProcessCount> largest_useful() const;
  /// N_PWS, the processor working set (SCOJO-P, section 4.6): the size of 1..most at which run time over efficiency is
  /// least, that is n / S(n)^2; the first one of several. O(1). REQUIRES: most >= 1.
  [[nodiscard]] ProcessCount working_set(ProcessCount most) const;

  [[nodiscard]] const Law& law() const { return law_; }
  bool operator==(const SpeedupCurve&) const = default;

 private:
  Law law_;
};

/// The curve as text; parse_speedup() reads it back exactly.
[[nodiscard]] std::string to_text(const SpeedupCurve& curve);
/// Nothing if `text` is no curve or a parameter is out of range.
[[nodiscard]] std::optional<SpeedupCurve> parse_speedup(std::string_view text);

}  // namespace replay
