// Turns frames into the bytes that make a terminal show them: only what differs from the frame before, with cursor
// movements and colours of ECMA-48 as every terminal of today has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/base/terminal/frame.hpp"

namespace replay::terminal {

enum class Colours : std::uint8_t {
  kNone,   ///< no colour and no other attribute
  kEight,  ///< the eight colours of ECMA-48
  k256     ///< the palette of xterm: its light colours under black text, readable on dark and on light screens
};

/// A screen of its own: what was there before comes back with kLeave. The cursor is hidden, and no line wraps.
inline constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// The same without another screen, where the program has it already.
inline constexpr std::string_view kHideCursor = "\x1b[?25l\x1b[?7l";
inline constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

class Painter {
 public:
  explicit Painter(Colours colours) : colours_(colours) {}

  /// The bytes that turn the frame before into this one: none if they are equal, everything if there is none or the
  /// size is another one. O(cells).
  [[nodiscard]] std::string paint(const Frame& frame);
  /// Something else may have been drawn: the next frame is painted from an empty screen.
  void forget() { before_.reset(); }

 private:
  Colours colours_;
  std::optional<Frame> before_;
};

}  // namespace replay::terminal
