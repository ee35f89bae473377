// Words of options, and what they mean.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/error.hpp"

namespace replay {

/// A word on the command line, and what it means.
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

template <class Value, std::size_t N>
[[nodiscard]] std::vector<std::string> words_of(const Choice<Value> (&choices)[N]) {
  std::vector<std::string> words;
  for (const Choice<Value>& choice : choices) words.emplace_back(choice.word);
  return words;
}

/// REQUIRES: there is one.
template <class Value, std::size_t N>
[[nodiscard]] std::string_view word_of(const Choice<Value> (&choices)[N], Value value) {
  return std::ranges::find(choices, value, &Choice<Value>::value)->word;
}

/// Throws UsageError naming the option, the words and what was found in place of them.
template <class Value, std::size_t N>
[[nodiscard]] Value value_of(std::string_view option, const Choice<Value> (&choices)[N], std::string_view word) {
  const auto found = std::ranges::find(choices, word, &Choice<Value>::word);
  if (found != std::end(choices)) return found->value;
  throw UsageError(fmt::format("{}: expected one of {}, found '{}'", option, fmt::join(words_of(choices), ","), word));
}

}  // namespace replay
