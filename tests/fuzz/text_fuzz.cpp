// Fuzz target of the cleaning of foreign text: for any bytes the result is UTF-8 without characters that a terminal
// interprets, cleaning it again changes nothing, and a cut is never inside a character.
#include <boost/nowide/utf/utf.hpp>
#include <string>
#include <string_view>

#include "scheduler/base/text/clean_text.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {
namespace {

bool is_fit(std::string_view text, bool may_have_lines) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const auto code = boost::nowide::utf::utf_traits<char>::decode(at, end);
    if (!boost::nowide::utf::is_valid_codepoint(code)) return false;
    const bool is_line_character = may_have_lines && (code == '\n' || code == '\t');
    if (!is_line_character && (code < 0x20 || (code >= 0x7f && code < 0xa0))) return false;
  }
  return true;
}

}  // namespace

void text(std::string_view bytes) {
  const std::string line = clean_line(bytes), lines = clean_lines(bytes), shown = visible_text(bytes);
  check(is_fit(line, false) && is_fit(lines, true) && is_fit(shown, false));
  check(clean_line(line) == line && clean_lines(lines) == lines && visible_text(line).size() >= line.size());
  for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{5}, bytes.size() / 2}) {
    const std::string cut = clean_line(bytes, most);
    check(is_fit(cut, false) && cut.size() <= most + 3 && is_fit(visible_text(bytes, most), false));
    check(cut_text(bytes, most).size() <= most && end_of_text(bytes, most).size() <= most);
    check(is_fit(cut_text(line, most), false) && is_fit(end_of_text(line, most), false));
  }
}

}  // namespace replay::fuzz
