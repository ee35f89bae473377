// Cleaning of text of foreign origin (from a program, a policy, a trace or another machine), so that it can be kept in
// a result and printed on a terminal. It is cleaned once, where it comes in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace replay {

/// Most bytes of a reason or a note that a result keeps. A path may have as many.
inline constexpr std::size_t kLongestReason = 4096;

/// One line of valid UTF-8. Terminal escape sequences are taken out, line ends and tabs become blanks, all other
/// control characters and those that turn the direction of writing are dropped, and each byte that is not UTF-8 becomes
/// U+FFFD. A text of more than `most` bytes is cut in front of a character, and "..." follows. O(text).
[[nodiscard]] std::string clean_line(std::string_view text, std::size_t most = std::string_view::npos);

/// The same for text of several lines: line ends (LF) and tabs stay.
[[nodiscard]] std::string clean_lines(std::string_view text);

/// Removes nothing: characters that a terminal would act on or not show become \x1b, \xff or \u{202e}. For text that a
/// reader has to judge, such as a command before it is run. Cut as clean_line() does.
[[nodiscard]] std::string visible_text(std::string_view text, std::size_t most = std::string_view::npos);

/// The longest beginning of `text` of up to `most` bytes that does not end inside a UTF-8 character.
[[nodiscard]] std::string_view cut_text(std::string_view text, std::size_t most);
/// The longest end of `text` of up to `most` bytes that does not begin inside one.
[[nodiscard]] std::string_view end_of_text(std::string_view text, std::size_t most);

}  // namespace replay
