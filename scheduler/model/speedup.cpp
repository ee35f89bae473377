#include "scheduler/model/speedup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay {
namespace {

// Downey 1997, section 2. The middle piece has sigma (A - 1/2): with (A - 1)/2, which is in circulation, the curve
// would jump at n = A.
double downey(double a, double sigma, double n) {
  if (sigma <= 1) {
    if (n <= a) return a * n / (a + sigma * (n - 1) / 2);
    if (n <= 2 * a - 1) return a * n / (sigma * (a - 0.5) + n * (1 - sigma / 2));
    return a;
  }
  if (n <= a + a * sigma - sigma) return n * a * (sigma + 1) / (sigma * (n + a - 1) + a);
  return a;
}

double three_point(const ThreePointSpeedup& law, double n) {
  const double optimum = law.optimum;
  const std::array<double, 3> at{optimum / 2, optimum, optimum * 2};
  const auto value = [&](std::size_t i) { return law.efficiency[i] * at[i]; };
  const std::size_t piece = n <= optimum ? 0 : 1;
  const double slope = (value(piece + 1) - value(piece)) / (at[piece + 1] - at[piece]);
  // Below N/2 the efficiency is that at N/2; beyond 2N the speedup is that at 2N.
  if (n < at[0]) return law.efficiency[0] * n;
  if (n > at[2]) return value(2);
  return value(piece) + slope * (n - at[piece]);
}

// Where n / S(n)^2 can have its least value. Each piece of each curve has one turning point at most: where S grows as
// n / (c + d n), n / S^2 = (c + d n)^2 / n turns at c / d; on a straight line it has no least value inside. What lies
// between the points below therefore falls or rises all the way.
std::vector<double> turning_points(const SpeedupCurve::Law& curve) {
  if (const auto* law = std::get_if<DowneySpeedup>(&curve)) {
    const auto& [a, sigma] = *law;
    if (sigma <= 1) return {a, sigma * (a - 0.5) / (1 - sigma / 2), 2 * a - 1};
    return {(sigma * (a - 1) + a) / sigma, a + a * sigma - sigma};
  }
  if (const auto* law = std::get_if<ThreePointSpeedup>(&curve)) {
    const double optimum = law->optimum;
    return {optimum / 2, optimum, optimum * 2};
  }
  return {};
}

// Takes "KEY=VALUE" up to the next ':' off the front; nothing if it is another key.
std::optional<std::string_view> take(std::string_view& rest, std::string_view key) {
  if (!rest.starts_with(key) || rest.size() <= key.size() || rest[key.size()] != '=') return std::nullopt;
  rest.remove_prefix(key.size() + 1);
  const std::string_view value = rest.substr(0, rest.find(':'));
  if (value.size() + 1 == rest.size()) return std::nullopt;  // a ':' with nothing behind it
  rest.remove_prefix(std::min(rest.size(), value.size() + 1));
  return value;
}

std::optional<double> take_number(std::string_view& rest, std::string_view key) {
  const auto text = take(rest, key);
  return text ? parse_finite(*text) : std::nullopt;
}

std::optional<SpeedupCurve> parse_downey(std::string_view rest) {
  const auto a = take_number(rest, "a");
  const auto sigma = take_number(rest, "sigma");
  if (!a || !sigma || !rest.empty() || *a < 1 || *sigma < 0) return std::nullopt;
  return SpeedupCurve{DowneySpeedup{*a, *sigma}};
}

std::optional<SpeedupCurve> parse_three_point(std::string_view rest) {
  ThreePointSpeedup law;
  const auto optimum = take_number(rest, "n");
  if (!optimum || *optimum < 1 || *optimum > std::numeric_limits<ProcessCount>::max() ||
      std::trunc(*optimum) != *optimum)
    return std::nullopt;
  law.optimum = static_cast<ProcessCount>(*optimum);
  if (rest.empty()) return SpeedupCurve{law};
  const auto list = split(take(rest, "e").value_or(""), '/');
  if (list.size() != law.efficiency.size() || !rest.empty()) return std::nullopt;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto value = parse_finite(list[i]);
    if (!value || *value <= 0 || *value > 1) return std::nullopt;
    law.efficiency[i] = *value;
  }
  return SpeedupCurve{law};
}

}  // namespace

double SpeedupCurve::speedup(double n) const {
  if (const auto* law = std::get_if<DowneySpeedup>(&law_)) return downey(law->a, law->sigma, n);
  if (const auto* law = std::get_if<ThreePointSpeedup>(&law_)) return three_point(*law, n);
  return n;
}

std::optional<ProcessCount> SpeedupCurve::largest_useful() const {
  double size = std::numeric_limits<double>::infinity();
  if (const auto* law = std::get_if<DowneySpeedup>(&law_))
    size = std::ceil(law->sigma <= 1 ? 2 * law->a - 1 : law->a + law->a * law->sigma - law->sigma);
  else if (const auto* points = std::get_if<ThreePointSpeedup>(&law_))
    size = 2.0 * points->optimum;
  if (size > std::numeric_limits<ProcessCount>::max()) return std::nullopt;
  return static_cast<ProcessCount>(size);
}

ProcessCount SpeedupCurve::working_set(ProcessCount most) const {
  std::vector<double> candidates{1, static_cast<double>(most)};
  for (const double point : turning_points(law_))
    for (const double size : {std::floor(point), std::ceil(point)})
      if (size > 1 && size < most) candidates.push_back(size);
  std::ranges::sort(candidates);
  const auto cost = [this](double n) { return n / (speedup(n) * speedup(n)); };
  return static_cast<ProcessCount>(*std::ranges::min_element(candidates, {}, cost));
}

std::string to_text(const SpeedupCurve& curve) {
  if (const auto* law = std::get_if<DowneySpeedup>(&curve.law()))
    return fmt::format("downey:a={}:sigma={}", law->a, law->sigma);
  if (const auto* law = std::get_if<ThreePointSpeedup>(&curve.law())) {
    if (law->efficiency == ThreePointSpeedup{}.efficiency) return fmt::format("three-point:n={}", law->optimum);
    return fmt::format("three-point:n={}:e={}", law->optimum, fmt::join(law->efficiency, "/"));
  }
  return "linear";
}

std::optional<SpeedupCurve> parse_speedup(std::string_view text) {
  if (text == "linear") return SpeedupCurve{};
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(colon + 1);
  if (text.substr(0, colon) == "downey") return parse_downey(rest);
  if (text.substr(0, colon) == "three-point") return parse_three_point(rest);
  return std::nullopt;
}

}  // namespace replay
