#include "scheduler/model/declaration.hpp"

#include <fmt/ranges.h>

#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay {

std::string sizes_text(const std::vector<ProcessCount>& sizes) { return fmt::format("{}", fmt::join(sizes, "|")); }

std::optional<std::vector<ProcessCount>> parse_sizes(std::string_view text) {
  std::vector<ProcessCount> sizes;
  for (const std::string_view part : split(text, '|')) {
    const auto next = parse_number<ProcessCount>(part);
    if (!next || *next < 1 || (!sizes.empty() && *next <= sizes.back())) return std::nullopt;
    sizes.push_back(*next);
  }
  return sizes;
}

}  // namespace replay
