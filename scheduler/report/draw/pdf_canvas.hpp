// Writes a drawing as a PDF of one page, by libharu. The characters in use are embedded as a subset of the font, and the text can be
// searched and copied. The file has no date and no name of a machine.
#pragma once

#include <memory>
#include <string>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::report {

class PdfCanvas final : public Canvas {
 public:
  PdfCanvas(double width, double height);
  ~PdfCanvas() override;

  using Canvas::fill;
  void fill(std::span<const Box> boxes, Colour colour) override;
  void fill(std::span<const Point> polygon, Colour colour) override;
  void fill_circle(Point centre, double radius, Colour colour) override;
  void stroke(std::span<const Polyline> lines, const Stroke& stroke) override;
  void text(Point at, std::string_view words, const TextStyle& style) override;
  [[nodiscard]] std::string finish(std::string_view title) override;

 private:
  struct Document;
  [[nodiscard]] float up(double y) const;  // PDF's y goes up from the lower left corner

  std::unique_ptr<Document> document_;
};

}  // namespace replay::report
