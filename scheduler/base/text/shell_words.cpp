#include "scheduler/base/text/shell_words.hpp"

#include <algorithm>
#include <utility>

#include "scheduler/base/text/split.hpp"

namespace replay {
namespace {

bool is_plain(char c) {
  constexpr std::string_view kSpecial = "'\"\\$&;|<>*?(){}#~`!";
  const auto code = static_cast<unsigned char>(c);
  return code > ' ' && code != 0x7f && kSpecial.find(c) == std::string_view::npos;
}

}  // namespace

ShellWords split_words(std::string_view line) {
  ShellWords result;
  bool in_word = false;
  char quote = 0;
  const auto add = [&](std::string_view text) {
    if (!std::exchange(in_word, true)) result.words.emplace_back();
    result.words.back() += text;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size())
      add(line.substr(++i, 1));
    else if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      add({}), quote = c;
    else if (quote == 0 && (c == ' ' || c == '\t'))
      in_word = false;
    else
      add(line.substr(i, 1));
  }
  result.open_quote = quote;
  return result;
}

std::string quoted_word(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string{word};
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  return quoted + "'";
}

std::string command_line_of(std::span<const std::string> words) { return joined(words, " ", quoted_word); }

}  // namespace replay
