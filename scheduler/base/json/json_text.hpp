// JSON values as text of a message, and numbers as JSON.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace replay {

/// The value as JSON, cut to 40 bytes. Lists and objects are only named, because dump() recurses and a file may nest
/// them arbitrarily deep.
template <class Json>
[[nodiscard]] std::string short_text(const Json& value) {
  constexpr std::size_t kMost = 40;
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

/// JSON has no NaN and no infinity.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace replay
