// "Did you mean": the known name nearest to a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace replay {

/// The element of `known` with the smallest edit distance to `name`, first on ties; empty if none is near: more than a
/// third of the longer name's letters differ, and `name` is not its first word. Dashes in front do not count.
[[nodiscard]] std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// "; did you mean 'easy'?" or, with nothing near, "; known: a, b, c".
[[nodiscard]] std::string suggestion(std::string_view name, std::span<const std::string_view> known);

}  // namespace replay
