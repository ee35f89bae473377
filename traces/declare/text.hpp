// Parsers for the values of options: "every=5,user=1" and the like.
#pragma once

#include <optional>
#include <string_view>

namespace replay {

struct KeyValue {
  std::string_view key, value;
};
/// "key=value"; nothing without '='.
[[nodiscard]] std::optional<KeyValue> parse_key_value(std::string_view text);

}  // namespace replay
