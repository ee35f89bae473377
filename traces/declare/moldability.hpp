// The moldability of jobs after Cirne and Berman, "A model for moldable supercomputer jobs" (IPDPS 2001), with the
// constants of Cirne's own simulator: Downey's two parameters and the sizes a job can run at. All logarithms are to
// base 2.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/speedup.hpp"
#include "scheduler/model/units.hpp"
#include "traces/models/random.hpp"

namespace replay {

/// Log-uniform: P(X <= x) = a log2 x + b. A draw takes one uniform number.
struct LogUniform {
  double a, b;
  [[nodiscard]] double draw(UniformSource& source) const;
};

inline constexpr LogUniform kSmallestSize{0.0692, 0.6279};
inline constexpr LogUniform kRequestCount{0.1918, 0.1876};
inline constexpr double kSigmaMean = 1.209, kSigmaDeviation = 1.132;

struct Moldability {
  ProcessCount smallest = 1;  ///< c_min as drawn; may exceed the largest useful size
  DowneySpeedup curve{};      ///< A depends on c_min
};
/// Draws c_min, sigma (times `sigma_factor`) and A, in this order.
[[nodiscard]] Moldability draw_moldability(UniformSource& source, double sigma_factor = 1);

/// c_min <= c_max within a machine.
struct SizeRange {
  ProcessCount least = 1, most = 1;
};
[[nodiscard]] SizeRange size_range(const Moldability& job, ProcessCount full);

/// How many sizes a job is requested with: 2..19.
[[nodiscard]] int draw_request_count(UniformSource& source);

/// Which sizes a program can run at.
enum class SizeConstraint : std::uint8_t { kNone, kRigid, kPowerOfTwo, kSquare, kEven, kMultipleOfFour };

/// The answers of the survey: rigid 2 %, power of two 10 %, square 2 %, even 8 %, multiple of four 8 %, none 70 %.
[[nodiscard]] SizeConstraint draw_surveyed_constraint(UniformSource& source);

/// The sizes of a range that a constraint allows, ascending, counted from 0. Takes no memory: ranges can be wide.
class AllowedSizes {
 public:
  AllowedSizes(SizeRange range, SizeConstraint constraint);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// REQUIRES: 0 <= index < count().
  [[nodiscard]] ProcessCount at(std::int64_t index) const;

 private:
  SizeConstraint constraint_;
  std::int64_t first_ = 0;  // of the sequence 0, 1, 2.. that the constraint makes sizes of
  std::int64_t count_ = 0;
};

/// The sizes of a job that has size `logged` in the log: `requests` of the allowed ones at random (all, if there are
/// fewer), and `logged` in place of one of them. Ascending, each once.
[[nodiscard]] std::vector<ProcessCount> draw_sizes(UniformSource& source, const AllowedSizes& allowed, int requests,
                                                   ProcessCount logged);

}  // namespace replay
