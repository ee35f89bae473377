// Counts in text: nouns in the singular or plural, as the number beside them asks.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace replay {

/// "job" for 1, otherwise "jobs".
[[nodiscard]] std::string noun_for(std::integral auto count, std::string_view noun) {
  return fmt::format("{}{}", noun, count == 1 ? "" : "s");
}

/// "1 job", "2 jobs".
[[nodiscard]] std::string counted(std::integral auto count, std::string_view noun) {
  return fmt::format("{} {}", count, noun_for(count, noun));
}
/// "1 process", "2 processes".
[[nodiscard]] std::string counted(std::integral auto count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

}  // namespace replay
