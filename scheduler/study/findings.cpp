#include "scheduler/study/findings.hpp"

#include <algorithm>
#include <cmath>

#include "scheduler/base/error.hpp"
#include "scheduler/metrics/summary.hpp"

namespace replay::study {
namespace {

double percent_less(double ours, double theirs) { return (1 - ours / theirs) * 100; }

}  // namespace

double mean_of(const std::vector<double>& values) {
  metrics::CompensatedSum sum;
  for (const double value : values) sum.add(value);
  return sum.total() / static_cast<double>(values.size());
}

double geometric_mean_of(const std::vector<double>& values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

void Findings::add(const std::string& cell, std::uint64_t seed, const Figures& figures) {
  seeds_ = std::max(seeds_, seed);
  for (const auto& [figure, value] : figures) {
    std::vector<double>& values = cells_[cell][figure];
    values.resize(std::max<std::size_t>(values.size(), seed), kNoValue);
    values[seed - 1] = value;
  }
}

void Findings::add_alias(const std::string& alias, std::string_view cell) {
  if (const auto found = cells_.find(cell); found != cells_.end()) cells_[alias] = found->second;
}

const std::vector<double>& Findings::by_seed(std::string_view path) const {
  static const std::vector<double> kNone;
  const std::size_t slash = path.rfind('/');
  const auto cell = cells_.find(path.substr(0, slash));
  if (cell == cells_.end()) return kNone;
  const auto figure = cell->second.find(path.substr(slash + 1));
  INVARIANT(figure != cell->second.end(), "no figure {}", path);
  return figure->second;
}

double Findings::less(std::string_view cell, std::string_view base, std::string_view figure) const {
  return percent_less(mean("{}/{}", cell, figure), mean("{}/{}", base, figure));
}

std::vector<double> Findings::less_by_seed(std::string_view cell, std::string_view base,
                                           std::string_view figure) const {
  std::vector<double> gains = by_seed(fmt::format("{}/{}", cell, figure));
  const std::vector<double>& theirs = by_seed(fmt::format("{}/{}", base, figure));
  gains.resize(std::min(gains.size(), theirs.size()));
  std::ranges::transform(gains, theirs, gains.begin(), percent_less);
  return gains;
}

}  // namespace replay::study
