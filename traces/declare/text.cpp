#include "traces/declare/text.hpp"

namespace replay {

std::optional<KeyValue> parse_key_value(std::string_view text) {
  const std::size_t cut = text.find('=');
  if (cut == std::string_view::npos) return std::nullopt;
  return KeyValue{text.substr(0, cut), text.substr(cut + 1)};
}

}  // namespace replay
