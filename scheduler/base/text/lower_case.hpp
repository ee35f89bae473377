// The letters A to Z as a to z, whatever the locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace replay {

[[nodiscard]] constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

[[nodiscard]] inline std::string lower_case(std::string text) {
  for (char& c : text) c = lower_case(c);
  return text;
}

[[nodiscard]] inline bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](char c) { return lower_case(c); }, [](char c) { return lower_case(c); });
}

}  // namespace replay
