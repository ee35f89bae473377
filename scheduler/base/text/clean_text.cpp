#include "scheduler/base/text/clean_text.hpp"

#include <fmt/format.h>

#include <boost/nowide/utf/utf.hpp>

namespace replay {
namespace {

using Utf8 = boost::nowide::utf::utf_traits<char>;
using CodePoint = boost::nowide::utf::code_point;

constexpr CodePoint kEscape = 0x1b;
constexpr CodePoint kBell = 0x07;
constexpr CodePoint kStringEnd = 0x9c;                     // ST, as one character
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  CodePoint code;         // illegal: a byte that is not UTF-8
  std::string_view text;  // its bytes

  [[nodiscard]] bool is_valid() const { return code != boost::nowide::utf::illegal; }
};

// REQUIRES: `text` is not empty.
Character first_of(std::string_view text) {
  const char* at = text.data();
  const CodePoint code = Utf8::decode(at, text.data() + text.size());
  if (!boost::nowide::utf::is_valid_codepoint(code)) return {boost::nowide::utf::illegal, text.substr(0, 1)};
  return {code, text.substr(0, static_cast<std::size_t>(at - text.data()))};
}

bool is_control(CodePoint code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }
bool is_line_end(CodePoint code) { return code == '\n' || code == 0x2028 || code == 0x2029; }
// Overrides and isolates: text with them is displayed in another order than that of its bytes.
bool turns_direction(CodePoint code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}
bool has_no_width(CodePoint code) {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x2060 && code <= 0x2064) || code == 0xfeff ||
         (code >= 0xe0000 && code <= 0xe007f);
}

// The second character of ESC and its one-character form (C1) mean the same: ESC [ is U+009B.
std::size_t sequence_length(std::string_view text, std::size_t begin, CodePoint kind);

// How many bytes at the start of `text` are an escape sequence (ECMA-48 5.4, 5.6, 8.3); 0 if it begins with none. One
// that does not end is only as long as its introducer, so that it cannot hide what follows.
std::size_t escape_length(std::string_view text) {
  const Character first = first_of(text);
  const std::size_t one = first.text.size();
  if (first.code >= 0x80 && first.code < 0xa0) return sequence_length(text, one, first.code - 0x40);
  if (first.code != kEscape) return 0;
  if (text.size() == one) return one;
  const auto second = static_cast<unsigned char>(text[one]);
  if (second >= 0x40 && second < 0x60) return sequence_length(text, one + 1, second);
  std::size_t end = one;
  while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x2f) ++end;
  return end < text.size() && text[end] >= 0x30 && text[end] <= 0x7e ? end + 1 : one;
}

std::size_t sequence_length(std::string_view text, std::size_t begin, CodePoint kind) {
  std::size_t end = begin;
  if (kind == '[') {
    while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3f) ++end;
    return end < text.size() && text[end] >= 0x40 && text[end] <= 0x7e ? end + 1 : begin;
  }
  const bool is_string = kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_';
  if (!is_string) return begin;
  while (end < text.size()) {
    const Character next = first_of(text.substr(end));
    if (next.code == kBell || next.code == kStringEnd) return end + next.text.size();
    if (next.code == kEscape && text.substr(end + 1).starts_with('\\')) return end + 2;
    if (next.is_valid() && is_control(next.code))
      return begin;  // another sequence begins: each byte is looked at twice at most
    end += next.text.size();
  }
  return begin;
}

// Appends to `result` what a reader may see of `next`.
void append_clean(std::string& result, const Character& next, bool keeps_lines) {
  if (!next.is_valid())
    result += kReplacement;
  else if (keeps_lines && (next.code == '\n' || next.code == '\t'))
    result += next.text;
  else if (is_line_end(next.code) || next.code == '\t' || next.code == '\r')
    result += ' ';
  else if (!is_control(next.code) && !turns_direction(next.code))
    result += next.text;
}

std::string cleaned(std::string_view text, bool keeps_lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t length = escape_length(text); length > 0) {
      text.remove_prefix(length);
      continue;
    }
    if (keeps_lines && text.starts_with("\r\n")) text.remove_prefix(1);
    const Character next = first_of(text);
    append_clean(result, next, keeps_lines);
    text.remove_prefix(next.text.size());
  }
  return result;
}

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(cut_text(text, most).size());
  return text + "...";
}

}  // namespace

std::string clean_line(std::string_view text, std::size_t most) { return shortened(cleaned(text, false), most); }

std::string clean_lines(std::string_view text) { return cleaned(text, true); }

std::string visible_text(std::string_view text, std::size_t most) {
  const std::string_view part = cut_text(text, most);
  std::string result;
  for (std::string_view rest = part; !rest.empty();) {
    const Character next = first_of(rest);
    rest.remove_prefix(next.text.size());
    if (!next.is_valid() || next.code < 0x20 || next.code == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(next.text.front()));
    else if (is_control(next.code) || is_line_end(next.code) || turns_direction(next.code) || has_no_width(next.code))
      result += fmt::format("\\u{{{:x}}}", next.code);
    else
      result += next.text;
  }
  return part.size() < text.size() ? result + "..." : result;
}

std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr std::size_t kLongest = Utf8::max_width;
  std::size_t end = most;
  while (end > 0 && most - end < kLongest && Utf8::is_trail(text[end])) --end;
  return text.substr(0, Utf8::is_trail(text[end]) ? most : end);  // trail bytes without a lead byte are no character
}

std::string_view end_of_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::string_view end = text.substr(text.size() - most);
  for (int i = 1; i < Utf8::max_width && !end.empty() && Utf8::is_trail(end.front()); ++i) end.remove_prefix(1);
  return end;
}

}  // namespace replay
