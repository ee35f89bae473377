#include "scheduler/base/text/placeholders.hpp"

#include <fmt/format.h>

#include <utility>

namespace replay {
namespace {

constexpr std::string_view kSeed = "{seed}";

}  // namespace

std::string filled_in(std::string text, std::string_view placeholder, std::string_view value) {
  for (std::size_t at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + value.size()))
    text.replace(at, placeholder.size(), value);
  return text;
}

std::string with_seed(std::string text, std::uint64_t seed) {
  return filled_in(std::move(text), kSeed, fmt::to_string(seed));
}

bool mentions_seed(std::string_view text) { return text.find(kSeed) != std::string_view::npos; }

}  // namespace replay
