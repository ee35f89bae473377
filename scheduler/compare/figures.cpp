#include "scheduler/compare/figures.hpp"

#include <cmath>
#include <limits>

namespace replay::compare {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] double value() const { return count_ == 0 ? kNone : sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

Figures mean_figures(const metrics::JobTable& run, const metrics::JobTable& expanded) {
  Mean wait, response, slowdown;
  for (const metrics::JobRow& row : run.rows()) {
    if (!row.ran()) continue;
    wait.add(seconds(row.wait()));
    response.add(seconds(row.response()));
    const metrics::JobRow* truth = expanded.find(row.job);
    if (truth != nullptr && truth->runtime > Duration::zero())
      slowdown.add(seconds(row.response()) / seconds(truth->runtime));
  }
  return {wait.value(), response.value(), slowdown.value()};
}

double relative_error(const FigurePair& pair) {
  if (pair.real <= pair.resolution) return kNone;
  return (pair.simulated - pair.real) / pair.real;
}

MeanError mean_relative_error(std::span<const FigurePair> pairs) {
  Mean mean;
  MeanError result;
  for (const FigurePair& pair : pairs) {
    const double error = relative_error(pair);
    if (std::isnan(error)) {
      ++(pair.is_nothing() ? result.nothing : result.left_out);
      continue;
    }
    mean.add(std::abs(error));
    ++result.figures;
  }
  result.mean = mean.value();
  return result;
}

double percent_more(double first, double here) { return first == 0 ? kNone : (here - first) / first * 100; }

}  // namespace replay::compare
