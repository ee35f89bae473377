#include "scheduler/report/draw/svg_canvas.hpp"

#include <fmt/format.h>

#include <iterator>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/report/draw/markup.hpp"

namespace replay::report {
namespace {

void add_points(std::string& path, std::span<const Point> points) {
  for (std::size_t i = 0; i < points.size(); ++i)
    fmt::format_to(std::back_inserter(path), "{}{} {}", i == 0 ? "M" : "L", rounded(points[i].x), rounded(points[i].y));
}

std::string dashes_of(const Dashes& dashes) {
  std::string text;
  for (const unsigned length : dashes)
    if (length > 0) add_item(text, " ", "{}", length);
  return text.empty() ? text : fmt::format(" stroke-dasharray=\"{}\"", text);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char32_t character : characters_of(text)) {
    switch (character) {
      case U'&': result += "&amp;"; break;
      case U'<': result += "&lt;"; break;
      case U'>': result += "&gt;"; break;
      case U'"': result += "&quot;"; break;
      default: result += to_utf8({&character, 1});
    }
  }
  return result;
}

std::string as_html(std::string_view svg, std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title>\n"
      "<style>body{{margin:0;background:#ffffff}}svg{{display:block;margin:auto;max-width:100%;height:auto}}</style></"
      "head>\n"
      "<body>\n{}</body>\n</html>\n",
      escaped(title), svg);
}

SvgCanvas::SvgCanvas(double width, double height, std::string_view unit) : Canvas(width, height), unit_(unit) {
  Canvas::fill(Box{0, 0, width, height}, kWhite);  // a viewer's own background may be dark
}

void SvgCanvas::fill(std::span<const Box> boxes, Colour colour) {
  if (boxes.empty()) return;
  auto out = std::back_inserter(body_);
  if (boxes.size() == 1) {
    const Box& box = boxes.front();
    const double x = rounded(box.x), y = rounded(box.y);
    fmt::format_to(out, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x, y,
                   rounded(box.right() - x), rounded(box.bottom() - y), to_text(colour));
    return;
  }
  fmt::format_to(out, "<path fill=\"{}\" d=\"", to_text(colour));
  for (const Box& box : boxes) {  // to rounded edges, so that neighbours touch
    const double x = rounded(box.x), y = rounded(box.y), right = rounded(box.right());
    fmt::format_to(out, "M{} {}H{}V{}H{}z", x, y, right, rounded(box.bottom()), x);
  }
  body_ += "\"/>\n";
}

void SvgCanvas::fill(std::span<const Point> polygon, Colour colour) {
  std::string path;
  add_points(path, polygon);
  body_ += fmt::format("<path fill=\"{}\" d=\"{}z\"/>\n", to_text(colour), path);
}

void SvgCanvas::fill_circle(Point centre, double radius, Colour colour) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", rounded(centre.x), rounded(centre.y),
                       rounded(radius), to_text(colour));
}

void SvgCanvas::stroke(std::span<const Polyline> lines, const Stroke& stroke) {
  std::string path;
  for (const Polyline& line : lines)
    if (line.size() > 1) add_points(path, line);
  if (path.empty()) return;
  body_ += fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} d=\"{}\"/>\n", to_text(stroke.colour),
                       rounded(stroke.width), dashes_of(stroke.dashes), path);
}

void SvgCanvas::text(Point at, std::string_view words, const TextStyle& style) {
  const double width = width_of(words, style.size);
  const double before = style.anchor == Anchor::kStart ? 0 : style.anchor == Anchor::kMiddle ? width / 2 : width;
  const Point start = style.is_upright ? Point{at.x, at.y + before} : Point{at.x - before, at.y};
  auto out = std::back_inserter(body_);
  fmt::format_to(out, "<g aria-label=\"{}\" fill=\"{}\" transform=\"translate({} {}){} scale({:.6g})\">",
                 escaped(words), to_text(style.colour), rounded(start.x), rounded(start.y),
                 style.is_upright ? " rotate(-90)" : "", style.size / Font::kUnits);
  double x = 0;
  for (const char32_t character : characters_of(words)) {
    const Glyph& glyph = font().glyph(character);
    if (!glyph.outline.empty()) {
      used_.try_emplace(character, glyph.outline);
      fmt::format_to(out, "<use xlink:href=\"#c{:x}\"", static_cast<std::uint32_t>(character));
      if (x > 0) fmt::format_to(out, " x=\"{}\"", x);
      body_ += "/>";
    }
    x += glyph.advance;
  }
  body_ += "</g>\n";
}

void SvgCanvas::begin_tip(std::string_view words) { body_ += fmt::format("<g><title>{}</title>\n", escaped(words)); }

void SvgCanvas::end_tip() { body_ += "</g>\n"; }

std::string SvgCanvas::finish(std::string_view title) {
  std::string definitions;
  for (const auto& [character, outline] : used_)
    definitions += fmt::format("<path id=\"c{:x}\" d=\"{}\"/>\n", static_cast<std::uint32_t>(character), outline);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{0}{2}\" "
      "height=\"{1}{2}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{3}</title>\n<defs>\n{4}</defs>\n{5}</svg>\n",
      number_text(width()), number_text(height()), unit_, escaped(title), definitions, body_);
}

}  // namespace replay::report
