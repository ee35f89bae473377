#include "scheduler/calibrate/repeats.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/percentile.hpp"

namespace replay::calibrate {
namespace {

// The first of the narrowest windows of half the values: of more than half of them, so that the median is among them.
std::span<const double> shortest_half(std::span<const double> sorted) {
  const std::size_t half = std::min(sorted.size(), std::max(kLeastReadings, sorted.size() / 2 + 1));
  std::size_t best = 0;
  const auto width = [&](std::size_t begin) { return sorted[begin + half - 1] - sorted[begin]; };
  for (std::size_t begin = 1; begin + half <= sorted.size(); ++begin)
    if (width(begin) < width(best)) best = begin;
  return sorted.subspan(best, half);
}

}  // namespace

Figure figure_of(std::span<const Reading> readings) {
  INVARIANT(!readings.empty(), "a figure of nothing");
  const auto quiet = std::ranges::count(readings, false, &Reading::disturbed);
  const bool leave_out = static_cast<std::size_t>(quiet) >= kLeastReadings;
  std::vector<double> values;
  for (const Reading& reading : readings)
    if (!leave_out || !reading.disturbed) values.push_back(reading.value);
  Figure figure;
  figure.value = percentile(values, 0.5);
  std::ranges::sort(values);
  const std::span<const double> counted = shortest_half(values);
  const double range = counted.back() - counted.front();
  figure.spread = figure.value != 0 ? range / std::abs(figure.value) : 0;
  figure.runs = static_cast<int>(counted.size());
  figure.disturbed = !leave_out && static_cast<std::size_t>(quiet) < readings.size();
  return figure;
}

bool is_settled(const Figure& figure, const Tolerance& tolerance) {
  if (figure.disturbed || figure.runs < static_cast<int>(kLeastReadings)) return false;
  return figure.spread <= tolerance.spread || figure.spread * std::abs(figure.value) <= tolerance.absolute;
}

}  // namespace replay::calibrate
