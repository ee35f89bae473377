// Counts and sizes in text: nouns in the singular or plural, as the number beside them asks.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "scheduler/base/whole_number.hpp"

namespace replay {

/// "job" for 1, otherwise "jobs".
[[nodiscard]] std::string noun_for(WholeNumber auto count, std::string_view noun) {
  return fmt::format("{}{}", noun, count == 1 ? "" : "s");
}

/// "1 job", "2 jobs".
[[nodiscard]] std::string counted(WholeNumber auto count, std::string_view noun) {
  return fmt::format("{} {}", count, noun_for(count, noun));
}
/// "1 process", "2 processes".
[[nodiscard]] std::string counted(WholeNumber auto count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

/// "512 bytes", "8.2 MiB", "153 MiB": two digits or three.
[[nodiscard]] inline std::string size_text(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} bytes", bytes);
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, bytes < 10 ? 1 : 0, kUnits[unit]);
}

}  // namespace replay
