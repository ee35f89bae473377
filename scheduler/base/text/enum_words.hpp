// Enumerators by their words. For enumerations that count from zero, with a to_text() that is "?" beyond the last.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace replay {

/// The enumerator whose to_text() is `word`.
template <class Enum>
[[nodiscard]] std::optional<Enum> enum_of(std::string_view word) {
  for (int number = 0;; ++number) {
    const std::string_view one = to_text(Enum(number));
    if (one == "?") return std::nullopt;
    if (one == word) return Enum(number);
  }
}

/// How many enumerators there are, and the last of them. REQUIRES: its to_text() is constexpr.
template <class Enum>
[[nodiscard]] constexpr std::size_t enum_count() {
  std::size_t count = 0;
  while (to_text(Enum(count)) != "?") ++count;
  return count;
}
template <class Enum>
inline constexpr Enum kLastOf = Enum(enum_count<Enum>() - 1);

/// All words in their order, joined by ", ".
template <class Enum>
[[nodiscard]] std::string enum_words() {
  std::string words{to_text(Enum{})};
  for (int number = 1; to_text(Enum(number)) != "?"; ++number) words.append(", ").append(to_text(Enum(number)));
  return words;
}

}  // namespace replay
