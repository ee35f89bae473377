// What the terminal at a descriptor can show, by the rules that its users know: TERM and COLORTERM, NO_COLOR
// (no-color.org), the character set of the locale.
#pragma once

#include "scheduler/base/terminal/painter.hpp"

namespace replay::terminal {

struct Abilities {
  bool has_pictures = false;  ///< a terminal, and one with a cursor that can be moved: not a pipe, not TERM=dumb
  Colours colours = Colours::kNone;
  bool has_utf8 = false;

  bool operator==(const Abilities&) const = default;
};

/// Reads the environment.
[[nodiscard]] Abilities abilities_of(int descriptor);

struct Size {
  int columns = 80;
  int rows = 24;
  bool operator==(const Size&) const = default;
};
/// 80x24 where the terminal does not say.
[[nodiscard]] Size size_of(int descriptor);

}  // namespace replay::terminal
