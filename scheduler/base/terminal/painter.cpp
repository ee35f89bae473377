#include "scheduler/base/terminal/painter.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <utility>

namespace replay::terminal {
namespace {

// Going over so many unchanged characters costs no more than moving the cursor past them.
constexpr int kShortGap = 5;
// Of the palette of 256: light enough under black text, and no two neighbours alike, for red-green blindness too.
constexpr std::array<int, kColours> kPalette = {110, 180, 114, 175, 186, 146, 209, 80, 150, 216, 140, 254};
// Of the eight: yellow, cyan, green, magenta, white, blue (as background).
constexpr std::array<int, 6> kEightPalette = {43, 46, 42, 45, 47, 44};

std::string sequence_of(Style style, Colours colours) {
  switch (style.kind) {
    case Style::Kind::kPlain: return "\x1b[0m";
    case Style::Kind::kDim: return "\x1b[0;2m";
    case Style::Kind::kBold: return "\x1b[0;1m";
    case Style::Kind::kAlert: return "\x1b[0;1;7m";
    case Style::Kind::kPatch: break;
  }
  if (colours == Colours::k256) return fmt::format("\x1b[0;38;5;16;48;5;{}m", kPalette[style.colour]);
  return fmt::format("\x1b[0;30;{}m", kEightPalette[style.colour % kEightPalette.size()]);
}

// Appends characters, and sequences only where the style or the position changes.
class Pen {
 public:
  explicit Pen(Colours colours) : colours_(colours) {}

  void move_to(int row, int column) { fmt::format_to(std::back_inserter(text_), "\x1b[{};{}H", row + 1, column + 1); }
  void write(const Cell& cell) {
    use(cell.style);
    append_utf8(text_, cell.glyph);
  }
  void clear_to_end_of_line() {
    use(kPlain);
    text_ += "\x1b[K";
  }
  void clear_screen() { text_ += "\x1b[0m\x1b[2J"; }
  std::string take() {
    use(kPlain);
    return std::move(text_);
  }

 private:
  void use(Style style) {
    if (colours_ == Colours::kNone || style == style_) return;
    style_ = style;
    text_ += sequence_of(style, colours_);
  }

  Colours colours_;
  Style style_ = kPlain;
  std::string text_;
};

// The column from which on the row is blank.
int end_of_text(const Frame& frame, int row) {
  int end = frame.columns();
  while (end > 0 && frame.at(row, end - 1) == Cell{}) --end;
  return end;
}

void paint_row(Pen& pen, const Frame& frame, const Frame& before, int row) {
  const int end = end_of_text(frame, row);
  int at = -1;  // where the pen is; -1: elsewhere
  for (int column = 0; column < end; ++column) {
    if (frame.at(row, column) == before.at(row, column)) continue;
    if (at < 0 || column - at > kShortGap) {
      pen.move_to(row, column);
      at = column;
    }
    for (; at <= column; ++at) pen.write(frame.at(row, at));
  }
  if (end_of_text(before, row) <= end) return;
  if (at != end) pen.move_to(row, end);
  pen.clear_to_end_of_line();
}

}  // namespace

std::string Painter::paint(const Frame& frame) {
  Pen pen{colours_};
  if (!before_ || before_->columns() != frame.columns() || before_->rows() != frame.rows()) {
    pen.clear_screen();
    before_.emplace(frame.columns(), frame.rows());
  }
  for (int row = 0; row < frame.rows(); ++row) paint_row(pen, frame, *before_, row);
  before_ = frame;
  return pen.take();
}

}  // namespace replay::terminal
