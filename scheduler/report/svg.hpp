// Writes a drawing as SVG, element by element. Coordinates are pixels from the upper left corner, rounded to
// hundredths, so that the same drawing is the same bytes everywhere. It uses the reader's fonts: nothing is loaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace replay::report {

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 12;
  Anchor anchor = Anchor::kStart;
  bool is_bold = false;
  bool is_upright = false;  ///< turned by 90 degrees, to be read from below
  std::string_view colour = "#222222";
};

struct Stroke {
  std::string_view colour = "#222222";
  double width = 1;
  std::string_view dashes{};  ///< "4 3"; empty: a full line
};

struct Point {
  double x = 0, y = 0;
};

class Svg {
 public:
  Svg(double width, double height);

  /// A filled rectangle; `tip` is shown by browsers when the pointer rests on it.
  void rectangle(double x, double y, double width, double height, std::string_view fill, std::string_view tip = {});
  void line(Point from, Point to, const Stroke& stroke);
  void path(const std::vector<Point>& points, const Stroke& stroke);
  void circle(Point centre, double radius, std::string_view fill);
  void text(double x, double y, std::string_view words, const TextStyle& style = {});
  /// Diagonal lines on white, to tell areas apart without colour: give the result to rectangle() as its fill.
  [[nodiscard]] std::string hatch(std::string_view colour);

  /// The whole drawing. `title` is what screen readers and window titles say.
  [[nodiscard]] std::string finish(std::string_view title) const;

 private:
  double width_, height_;
  std::string definitions_, body_;
  int hatches_ = 0;
};

/// With &, <, > and quotation marks as entities, control characters as '?' and what is no UTF-8 as '?'.
[[nodiscard]] std::string escaped(std::string_view text);

/// A page that holds nothing but the drawing.
[[nodiscard]] std::string as_html(std::string_view svg, std::string_view title);

}  // namespace replay::report
