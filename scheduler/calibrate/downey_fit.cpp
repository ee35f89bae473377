#include "scheduler/calibrate/downey_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace replay::calibrate {
namespace {

constexpr double kMostSigma = 8;
constexpr double kMostTimesLargest = 64;  // upper bound of A, over the largest measured size
constexpr int kSteps = 80;                // of the grid that finds the valley
constexpr double kAsGood = 1e-7;          // residuals that differ by less are equal
constexpr int kRounds = 60;               // of the golden section, each 0.62 times as wide as the one before

struct Lowest {
  double x = 0;
  double value = 0;
};

// The least value of f on [from, to]: the best point of a grid, then the golden section between its neighbours. Of
// equally good points the smallest, so that A is no larger than the measured speedups require.
template <typename Function>
Lowest lowest(double from, double to, Function f) {
  const double step = (to - from) / kSteps;
  Lowest best{from, f(from)};
  for (int i = 1; i <= kSteps; ++i)
    if (const double value = f(from + step * i); value < best.value - kAsGood) best = {from + step * i, value};
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double left = std::max(from, best.x - step);
  double right = std::min(to, best.x + step);
  for (int round = 0; round < kRounds; ++round) {
    const double a = right - golden * (right - left);
    const double b = left + golden * (right - left);
    const Lowest at_a{a, f(a)}, at_b{b, f(b)};
    for (const Lowest& found : {at_a, at_b})
      if (found.value < best.value - kAsGood) best = found;
    (at_a.value <= at_b.value ? right : left) = at_a.value <= at_b.value ? b : a;
  }
  return best;
}

class Search {
 public:
  explicit Search(std::span<const SpeedupPoint> points)
      : points_(points), most_log_a_(std::log(kMostTimesLargest * points.back().processes)) {
    for (const SpeedupPoint& point : points) largest_ = std::max(largest_, point.speedup);
  }

  DowneyFit run() const {
    if (points_.size() < 3) return at(1);
    const Lowest sigma = lowest(0, kMostSigma, [this](double s) { return best_a(s).value; });
    return at(sigma.x);
  }

 private:
  [[nodiscard]] DowneyFit at(double sigma) const {
    const Lowest log_a = best_a(sigma);
    return {{std::exp(log_a.x), sigma}, log_a.value};
  }
  // Searches over log A: the curve changes with ratios of A. Also tries A = the largest speedup, where the valley ends
  // without variance (sigma 0).
  [[nodiscard]] Lowest best_a(double sigma) const {
    const double end = std::log(largest_);
    const Lowest at_end{end, residual(end, sigma)};
    const Lowest found = lowest(0, most_log_a_, [this, sigma](double log_a) { return residual(log_a, sigma); });
    return at_end.value <= found.value ? at_end : found;
  }
  [[nodiscard]] double residual(double log_a, double sigma) const {
    const SpeedupCurve curve{DowneySpeedup{std::exp(log_a), sigma}};
    double sum = 0;
    for (const SpeedupPoint& point : points_) {
      const double error = curve.speedup(point.processes) / point.speedup - 1;
      sum += error * error;
    }
    return std::sqrt(sum / static_cast<double>(points_.size()));
  }

  std::span<const SpeedupPoint> points_;
  double most_log_a_;
  double largest_ = 1;
};

}  // namespace

std::optional<DowneyFit> fit_downey(std::span<const SpeedupPoint> points) {
  if (points.size() < 2) return std::nullopt;
  return Search{points}.run();
}

void fit_speedups(Profile& profile) {
  std::map<std::pair<std::string, std::string>, std::map<ProcessCount, double>> seconds;
  for (const ProfileEntry& entry : profile.entries)
    seconds[{entry.benchmark, entry.problem_class}][entry.processes] = entry.runtime_s.value;
  profile.speedups.clear();
  for (const auto& [name, by_size] : seconds) {
    if (!by_size.contains(1)) continue;
    ProfileSpeedup speedup;
    speedup.benchmark = name.first;
    speedup.problem_class = name.second;
    for (const auto& [processes, s] : by_size) speedup.points.push_back({processes, by_size.at(1) / s});
    const auto fit = fit_downey(speedup.points);
    if (!fit) continue;
    speedup.fit = SpeedupCurve{fit->curve};
    speedup.residual = fit->residual;
    profile.speedups.push_back(std::move(speedup));
  }
}

}  // namespace replay::calibrate
