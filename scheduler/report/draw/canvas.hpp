// What drawings are made of: filled boxes and polygons, circles, lines, and text in one font. A figure is drawn once on a
// Canvas; SvgCanvas, PdfCanvas and TikzCanvas write it. Coordinates go right and down from the upper left corner, in points
// (1/72 inch) on paper, rounded to hundredths: the same drawing is the same bytes everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/report/draw/font.hpp"

namespace replay::report {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
};

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;

  auto operator<=>(const Colour&) const = default;
  /// 0x1f5a93 as in "#1f5a93".
  static constexpr Colour of(std::uint32_t rgb) {
    return {static_cast<std::uint8_t>(rgb >> 16U), static_cast<std::uint8_t>(rgb >> 8U),
            static_cast<std::uint8_t>(rgb)};
  }
};

inline constexpr Colour kInk = Colour::of(0x222222);
inline constexpr Colour kWhite = Colour::of(0xffffff);

enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 8;
  Anchor anchor = Anchor::kStart;
  bool is_upright = false;  ///< turned by 90 degrees, to be read from below
  Colour colour = kInk;
};

/// Lengths of dash, gap, dash, gap; a full line if the first is 0, two lengths if the third is.
using Dashes = std::array<std::uint8_t, 4>;

struct Stroke {
  Colour colour = kInk;
  double width = 0.5;
  Dashes dashes{};
};

using Polyline = std::vector<Point>;

class Canvas {
 public:
  Canvas(double width, double height) : width_(width), height_(height) {}
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  virtual ~Canvas() = default;

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] const Font& font() const { return font_; }

  /// All in one colour, as one element of the file: merge what looks alike.
  virtual void fill(std::span<const Box> boxes, Colour colour) = 0;
  /// REQUIRES: at least three points.
  virtual void fill(std::span<const Point> polygon, Colour colour) = 0;
  virtual void fill_circle(Point centre, double radius, Colour colour) = 0;
  /// Lines of one point or none are left out.
  virtual void stroke(std::span<const Polyline> lines, const Stroke& stroke) = 0;
  /// `at` is on the base line. UTF-8; control characters and what is no UTF-8 become '?'.
  virtual void text(Point at, std::string_view words, const TextStyle& style) = 0;
  /// What is drawn between the two calls shows `words` in a browser when the pointer rests on it. Not nested.
  virtual void begin_tip(std::string_view words) { static_cast<void>(words); }
  virtual void end_tip() {}

  /// The whole file. `title` is what screen readers and window titles say. Called once, last.
  [[nodiscard]] virtual std::string finish(std::string_view title) = 0;

  void fill(const Box& box, Colour colour) { fill(std::span(&box, 1), colour); }
  void line(Point from, Point to, const Stroke& with);
  /// The outline of a box.
  void frame(const Box& box, const Stroke& with);
  [[nodiscard]] double width_of(std::string_view words, double size) const { return font_.width(words, size); }

 private:
  double width_, height_;
  Font font_;
};

/// In hundredths, the last step before a coordinate is written: 12.5, never -0.
[[nodiscard]] double rounded(double value);
/// The same as text, "12.5" and not "12.50". Throws the INVARIANT if the value is no number.
[[nodiscard]] std::string number_text(double value);
/// "#1f5a93".
[[nodiscard]] std::string to_text(Colour colour);

}  // namespace replay::report
