// Writes a drawing as a tikzpicture, which needs the package tikz alone. Text is set in the document's own font, in the size of
// the drawing; \input the file where the figure is to stand.
#pragma once

#include <map>
#include <string>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::report {

class TikzCanvas final : public Canvas {
 public:
  using Canvas::Canvas;

  using Canvas::fill;
  void fill(std::span<const Box> boxes, Colour colour) override;
  void fill(std::span<const Point> polygon, Colour colour) override;
  void fill_circle(Point centre, double radius, Colour colour) override;
  void stroke(std::span<const Polyline> lines, const Stroke& stroke) override;
  void text(Point at, std::string_view words, const TextStyle& style) override;
  [[nodiscard]] std::string finish(std::string_view title) override;

 private:
  [[nodiscard]] const std::string& name_of(Colour colour);

  std::string body_;
  std::map<Colour, std::string> colours_;
};

/// With what TeX reads as commands as text.
[[nodiscard]] std::string tex_escaped(std::string_view text);

}  // namespace replay::report
