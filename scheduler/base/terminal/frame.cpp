#include "scheduler/base/terminal/frame.hpp"

#include <boost/nowide/utf/utf.hpp>
#include <iterator>

namespace replay::terminal {
namespace {

using TextUtf8 = boost::nowide::utf::utf_traits<char>;

// Latin, Greek and Cyrillic letters, marks of print, box and block characters: one column everywhere. Combining
// characters (U+0300, U+0483) are not among them.
constexpr bool is_one_column(char32_t code) {
  return (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0x300 && code != 0xad) ||
         (code >= 0x370 && code < 0x483) || (code >= 0x48a && code < 0x530) || (code >= 0x2010 && code <= 0x2027) ||
         (code >= 0x2030 && code <= 0x205e) || (code >= 0x2190 && code <= 0x21ff) ||
         (code >= 0x2500 && code <= 0x259f) || code == 0xfffd;
}

// Takes the next character off `text`, which is not empty.
char32_t take_glyph(std::string_view& text) {
  const char* at = text.data();
  const boost::nowide::utf::code_point code = TextUtf8::decode(at, text.data() + text.size());
  if (!boost::nowide::utf::is_valid_codepoint(code)) {
    text.remove_prefix(1);
    return U'?';
  }
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  return is_one_column(code) ? static_cast<char32_t>(code) : U'?';
}

}  // namespace

Frame::Frame(int columns, int rows)
    : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

int Frame::put(int row, int column, std::string_view text, Style style) {
  while (!text.empty()) column = put(row, column, take_glyph(text), style);
  return column;
}

int Frame::put(int row, int column, char32_t glyph, Style style) {
  if (has(row, column)) cells_[index(row, column)] = {glyph, style};
  return column + 1;
}

void Frame::to_ascii() {
  for (Cell& cell : cells_)
    if (cell.glyph >= 0x7f) cell.glyph = U'?';
}

std::string Frame::to_text() const {
  std::string text;
  for (int row = 0; row < rows_; ++row) {
    int end = columns_;
    while (end > 0 && at(row, end - 1).glyph == U' ') --end;
    for (int column = 0; column < end; ++column) append_utf8(text, at(row, column).glyph);
    text += '\n';
  }
  return text;
}

int width_of(std::string_view text) {
  int width = 0;
  for (; !text.empty(); ++width) take_glyph(text);
  return width;
}

void append_utf8(std::string& out, char32_t glyph) { TextUtf8::encode(glyph, std::back_inserter(out)); }

}  // namespace replay::terminal
