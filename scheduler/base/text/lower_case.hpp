#pragma once

#include <algorithm>
#include <string>

namespace replay {

/// The letters A to Z as a to z, whatever the locale.
[[nodiscard]] inline std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

}  // namespace replay
