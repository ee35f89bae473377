// Numbers that are a whole text.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

namespace replay {

/// Decimal digits, for a signed type also '-', for a floating one also what std::from_chars() takes ("1e6", "inf").
/// Nothing if the text is no number, has anything beside it, or the type cannot hold it.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  using std::from_chars;  // other types bring their own
  const auto [end, error] = from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A number from `least` to `most`.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, Number least, Number most) {
  const auto value = parse_number<Number>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

/// A number that is neither infinite nor NaN.
[[nodiscard]] inline std::optional<double> parse_finite(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace replay
