#include "scheduler/base/terminal/abilities.hpp"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace replay::terminal {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

Colours colours_by_environment() {
  if (!environment("NO_COLOR").empty()) return Colours::kNone;
  const std::string_view term = environment("TERM");
  if (term.find("mono") != std::string_view::npos || term.starts_with("vt")) return Colours::kNone;
  const bool has_many = !environment("COLORTERM").empty() || term.find("256color") != std::string_view::npos ||
                        term.find("direct") != std::string_view::npos;
  return has_many ? Colours::k256 : Colours::kEight;
}

// As setlocale(LC_CTYPE, "") would choose: the first of the three that is set.
bool locale_is_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return ::strcasestr(value, "utf-8") != nullptr || ::strcasestr(value, "utf8") != nullptr;
  }
  return false;
}

}  // namespace

Abilities abilities_of(int descriptor) {
  const std::string_view term = environment("TERM");
  return {::isatty(descriptor) == 1 && !term.empty() && term != "dumb", colours_by_environment(), locale_is_utf8()};
}

Size size_of(int descriptor) {
  Size size;
  winsize asked{};
  if (::ioctl(descriptor, TIOCGWINSZ, &asked) != 0) return size;
  if (asked.ws_col > 0) size.columns = asked.ws_col;
  if (asked.ws_row > 0) size.rows = asked.ws_row;
  return size;
}

}  // namespace replay::terminal
