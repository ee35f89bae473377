#include "scheduler/report/draw/canvas.hpp"

#include <fmt/format.h>

#include <cmath>

#include "scheduler/base/error.hpp"

namespace replay::report {

void Canvas::line(Point from, Point to, const Stroke& with) {
  const Polyline one{from, to};
  stroke(std::span(&one, 1), with);
}

void Canvas::frame(const Box& box, const Stroke& with) {
  const Polyline around{
      {box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()}, {box.x, box.bottom()}, {box.x, box.y}};
  stroke(std::span(&around, 1), with);
}

double rounded(double value) {
  INVARIANT(std::isfinite(value), "a coordinate of a drawing is {}", value);
  const double hundredths = std::round(value * 100) / 100;
  return hundredths == 0 ? 0.0 : hundredths;
}

std::string number_text(double value) { return fmt::format("{}", rounded(value)); }

std::string to_text(Colour colour) { return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue); }

}  // namespace replay::report
