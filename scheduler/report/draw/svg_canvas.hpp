// Writes a drawing as SVG. Text is drawn as outlines of the font, each character defined once in the file: viewers and
// editors that do not load fonts from an SVG show it alike. The words stand beside them for screen readers.
#pragma once

#include <map>
#include <string>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::report {

class SvgCanvas final : public Canvas {
 public:
  /// `unit` of the size in the file: "pt" on paper, "" for the pixels of a page.
  SvgCanvas(double width, double height, std::string_view unit = "pt");

  using Canvas::fill;
  void fill(std::span<const Box> boxes, Colour colour) override;
  void fill(std::span<const Point> polygon, Colour colour) override;
  void fill_circle(Point centre, double radius, Colour colour) override;
  void stroke(std::span<const Polyline> lines, const Stroke& stroke) override;
  void text(Point at, std::string_view words, const TextStyle& style) override;
  void begin_tip(std::string_view words) override;
  void end_tip() override;
  [[nodiscard]] std::string finish(std::string_view title) override;

 private:
  std::string unit_;
  std::string body_;
  std::map<char32_t, std::string> used_;  // outlines by character
};

}  // namespace replay::report
