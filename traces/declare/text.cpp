#include "traces/declare/text.hpp"

#include <charconv>
#include <cmath>

namespace replay {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<KeyValue> parse_key_value(std::string_view text) {
  const std::size_t cut = text.find('=');
  if (cut == std::string_view::npos) return std::nullopt;
  return KeyValue{text.substr(0, cut), text.substr(cut + 1)};
}

}  // namespace replay
