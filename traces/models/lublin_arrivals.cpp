#include "traces/models/lublin_arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/base/error.hpp"
#include "traces/models/portable_math.hpp"
#include "traces/models/quadrature.hpp"

namespace replay {
namespace {

constexpr int kFirstBucket = 11;  // 05:00 in the program's count from 1, where its day begins
constexpr int kMostGapRedraws = 100'000;

}  // namespace

// The program takes differences of the gamma distribution function. Only their proportions matter, so the density is
// integrated without its constant, relative to its largest value, which keeps it from under- and overflow.
std::array<double, kDayBuckets> bucket_weights(double anum, double bnum) {
  double peak = -std::numeric_limits<double>::infinity();
  for (int i = kFirstBucket; i < kFirstBucket + kDayBuckets; ++i)
    peak = std::max(peak, gamma_log_density(anum, bnum, i));
  std::array<double, kDayBuckets> weights{};
  double sum = 0;
  for (int i = kFirstBucket; i < kFirstBucket + kDayBuckets; ++i) {
    double& weight = weights[static_cast<std::size_t>((i - 1) % kDayBuckets)];
    weight = integrate(i - 0.5, i + 0.5, 8,
                       [&](double x) { return portable::exp(gamma_log_density(anum, bnum, x) - peak); });
    sum += weight;
  }
  for (double& weight : weights) weight *= kDayBuckets / sum;
  return weights;
}

double mean_gap(const LublinParameters& parameters) {
  const double shape = parameters.aarr * parameters.arar;
  const double mode = std::clamp((shape - 1) * parameters.barr, 1e-3, kMostLogGap);
  const double peak = gamma_log_density(shape, parameters.barr, mode);
  // x = limit * u^4: smooth at 0 for small shapes too.
  const auto moment = [&](bool of_gap) {
    return integrate(0, 1, 400, [&](double u) {
      const double x = kMostLogGap * u * u * u * u;
      return u * u * u * portable::exp(gamma_log_density(shape, parameters.barr, x) - peak + (of_gap ? x : 0));
    });
  };
  return moment(true) / moment(false);
}

LublinArrivals::LublinArrivals(const LublinParameters& parameters, const Options& options)
    : log_gap_(parameters.aarr * parameters.arar, parameters.barr, options.method),
      options_(options),
      weights_(bucket_weights(parameters.anum, parameters.bnum)),
      bucket_(static_cast<std::size_t>(2 * options.start_hour)) {
  if (options_.process == ArrivalProcess::kPoisson) mean_gap_ = mean_gap(parameters);
}

std::int64_t LublinArrivals::next(UniformSource& source) {
  const double length = gap(source) * options_.gap_factor;
  now_ += options_.process == ArrivalProcess::kPoisson ? length : pass_buckets(length);
  if (now_ > static_cast<double>(std::numeric_limits<std::int64_t>::max()) / 2) now_ = 1e18;
  const double whole = std::floor(now_);
  if (options_.gap_factor == 1 && options_.process == ArrivalProcess::kLublin) now_ = whole;
  return static_cast<std::int64_t>(whole);
}

double LublinArrivals::gap(UniformSource& source) const {
  if (options_.process == ArrivalProcess::kPoisson) return mean_gap_ * draw_exponential(source);
  for (int i = 0; i < kMostGapRedraws; ++i)
    if (const double g = log_gap_.draw(source); g <= kMostLogGap) return portable::exp(g);
  throw UsageError("aarr, barr, arar: expected gaps that e^13 s can hold, found none in 100,000 draws");
}

// How long the gap lasts by the wall clock. `points` and `reminder` are the program's names.
double LublinArrivals::pass_buckets(double gap_seconds) {
  points_ += gap_seconds / static_cast<double>(kBucketSeconds);
  double passed = 0;
  if (constexpr double kManyDays = 100.0 * kDayBuckets; points_ > kManyDays) {
    const double days = std::floor(points_ / kDayBuckets);
    points_ -= days * kDayBuckets;
    passed += days * static_cast<double>(kDayBuckets * kBucketSeconds);
  }
  while (points_ > weights_[bucket_]) {
    points_ -= weights_[bucket_];
    bucket_ = (bucket_ + 1) % kDayBuckets;
    passed += static_cast<double>(kBucketSeconds);
  }
  const double reminder = weights_[bucket_] > 0 ? points_ / weights_[bucket_] : 0;
  passed += static_cast<double>(kBucketSeconds) * (reminder - reminder_);
  reminder_ = reminder;
  return passed;
}

}  // namespace replay
