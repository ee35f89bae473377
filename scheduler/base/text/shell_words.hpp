// Command lines and their words: split and quoted as a POSIX shell does, but nothing is expanded.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

/// A command line taken apart.
struct ShellWords {
  std::vector<std::string> words;
  char open_quote = 0;  ///< the quote that is not closed, ' or "; 0: none
};

/// Blanks and tabs part words; 'single' and "double" quotes keep them, and a backslash keeps the next character outside
/// single quotes. Nothing else has a meaning.
[[nodiscard]] ShellWords split_words(std::string_view line);

/// `word` as a shell reads it back: plain words stay, others come in single quotes.
[[nodiscard]] std::string quoted_word(std::string_view word);
/// Quoted words with blanks between them. split_words() gives the same words again.
[[nodiscard]] std::string command_line_of(std::span<const std::string> words);

}  // namespace replay
