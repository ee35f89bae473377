// A frame is what a text screen shows: a grid of characters, each with a style. It knows no terminal and no escape
// sequence, so that a layout is a pure function and its tests compare text. Every character is one column wide: those
// whose width terminals disagree about (wide ones, combining ones, pictures) become '?', and nothing is ever put beside
// the grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace replay::terminal {

/// Colours that differ from each other and from plain text; a terminal with fewer shows some of them alike.
inline constexpr int kColours = 12;

/// What a character looks like, in the words of its purpose: a painter knows the colours.
struct Style {
  enum class Kind : std::uint8_t { kPlain, kDim, kBold, kAlert, kPatch };
  Kind kind = Kind::kPlain;
  std::uint8_t colour = 0;  ///< of a kPatch, 0 to kColours - 1: dark text on this colour
  bool operator==(const Style&) const = default;
};
inline constexpr Style kPlain{};
inline constexpr Style kDim{Style::Kind::kDim, 0};
inline constexpr Style kBold{Style::Kind::kBold, 0};
inline constexpr Style kAlert{Style::Kind::kAlert, 0};
[[nodiscard]] constexpr Style patch(int colour) {
  return {Style::Kind::kPatch, static_cast<std::uint8_t>(colour % kColours)};
}

struct Cell {
  char32_t glyph = U' ';
  Style style;
  bool operator==(const Cell&) const = default;
};

class Frame {
 public:
  Frame() = default;
  /// Blank. REQUIRES: both >= 0.
  Frame(int columns, int rows);

  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int rows() const { return rows_; }
  /// REQUIRES: in the grid.
  [[nodiscard]] const Cell& at(int row, int column) const { return cells_[index(row, column)]; }

  /// Puts UTF-8 text; what is beside the grid is dropped. Returns the column behind the text, also if that is beside
  /// the grid. O(text).
  int put(int row, int column, std::string_view text, Style style = kPlain);
  int put(int row, int column, char32_t glyph, Style style = kPlain);
  /// Turns characters beyond ASCII that a layout did not choose (names, reasons) into '?'.
  void to_ascii();

  /// The rows without styles and without blanks at their ends, each with a line end.
  [[nodiscard]] std::string to_text() const;

  bool operator==(const Frame&) const = default;

 private:
  [[nodiscard]] std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }
  [[nodiscard]] bool has(int row, int column) const {
    return row >= 0 && row < rows_ && column >= 0 && column < columns_;
  }

  int columns_ = 0;
  int rows_ = 0;
  std::vector<Cell> cells_;  // row by row
};

/// The columns that put() takes for this text.
[[nodiscard]] int width_of(std::string_view text);

/// Appends the character as UTF-8.
void append_utf8(std::string& out, char32_t glyph);

}  // namespace replay::terminal
