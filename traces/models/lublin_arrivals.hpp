// The arrivals of one kind of job, after Lublin and Feitelson: gaps with a gamma-distributed logarithm, measured on a
// clock that runs with the daily cycle, 48 half hours of which each lasts as long as its weight says; or, for
// comparison, a Poisson process of the same mean gap and without a daily cycle.
#pragma once

#include <array>
#include <cstdint>

#include "traces/models/gamma.hpp"
#include "traces/models/lublin_parameters.hpp"

namespace replay {

enum class ArrivalProcess : std::uint8_t { kLublin, kPoisson };

inline constexpr int kDayBuckets = 48;
inline constexpr std::int64_t kBucketSeconds = 1800;
inline constexpr double kMostLogGap = 13;  ///< larger draws are repeated: no gap above e^13 = 442,413 s

/// The weights of the half hours from midnight on; their mean is 1.
[[nodiscard]] std::array<double, kDayBuckets> bucket_weights(double anum, double bnum);

/// Mean gap in seconds: that of e^g with g from gamma(aarr * arar, barr), below the limit.
[[nodiscard]] double mean_gap(const LublinParameters& parameters);

class LublinArrivals {
 public:
  struct Options {
    ArrivalProcess process = ArrivalProcess::kLublin;
    GammaMethod method = GammaMethod::kMarsagliaTsang;
    int start_hour = 0;  ///< of the day at time zero
    /// On the gaps, on the clock of the daily cycle: a day keeps its 24 hours. With exactly 1 each step drops the
    /// fraction of a second, as the authors' program does; otherwise it is carried on.
    double gap_factor = 1;
  };
  LublinArrivals(const LublinParameters& parameters, const Options& options);

  /// The next arrival, in whole seconds from zero. Throws UsageError where no gap below the limit is found.
  std::int64_t next(UniformSource& source);

 private:
  [[nodiscard]] double gap(UniformSource& source) const;
  [[nodiscard]] double pass_buckets(double gap_seconds);

  GammaDistribution log_gap_;
  Options options_;
  double mean_gap_ = 0;  // of the Poisson process
  std::array<double, kDayBuckets> weights_;
  std::size_t bucket_;
  double points_ = 0;    // of the gap so far that lie in the present bucket, in half hours of weight 1
  double reminder_ = 0;  // the share of the present bucket that has passed
  double now_ = 0;
};

}  // namespace replay
