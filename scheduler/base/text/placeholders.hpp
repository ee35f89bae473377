// Placeholders in a text that a number or a word replaces: {seed} in a trace's name, {n} in a job's command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace replay {

/// `text` with every `placeholder` replaced by `value`, from left to right; what `value` contains is not replaced again.
/// REQUIRES: placeholder is not empty.
[[nodiscard]] std::string filled_in(std::string text, std::string_view placeholder, std::string_view value);

/// `text` with every "{seed}" replaced by the number.
[[nodiscard]] std::string with_seed(std::string text, std::uint64_t seed);
[[nodiscard]] bool mentions_seed(std::string_view text);

}  // namespace replay
