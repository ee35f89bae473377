#include "scheduler/report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace replay::report {
namespace {

// "12.5", not "12.50": hundredths are enough for a screen and for paper.
std::string number(double value) {
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

std::string stroke_attributes(const Stroke& stroke) {
  std::string text = fmt::format(R"(stroke="{}" stroke-width="{}")", stroke.colour, number(stroke.width));
  if (!stroke.dashes.empty()) text += fmt::format(R"( stroke-dasharray="{}")", stroke.dashes);
  return text;
}

// Bytes of the UTF-8 character at the start of `text`; 0 if it is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) >= 0xF5 || (byte(0) >= 0x80 && byte(0) < 0xC2) || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  return length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view one = text.substr(0, std::max<std::size_t>(length, 1));
    if (one == "&")
      result += "&amp;";
    else if (one == "<")
      result += "&lt;";
    else if (one == ">")
      result += "&gt;";
    else if (one == "\"")
      result += "&quot;";
    else if (length == 0 || static_cast<unsigned char>(one.front()) < 0x20)
      result += '?';
    else
      result += one;
    text.remove_prefix(one.size());
  }
  return result;
}

Svg::Svg(double width, double height) : width_(width), height_(height) { rectangle(0, 0, width, height, "#ffffff"); }

void Svg::rectangle(double x, double y, double width, double height, std::string_view fill, std::string_view tip) {
  body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}")", number(x), number(y), number(width),
                       number(height), fill);
  body_ += tip.empty() ? std::string("/>\n") : fmt::format("><title>{}</title></rect>\n", escaped(tip));
}

void Svg::line(Point from, Point to, const Stroke& stroke) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", number(from.x), number(from.y),
                       number(to.x), number(to.y), stroke_attributes(stroke));
}

void Svg::path(const std::vector<Point>& points, const Stroke& stroke) {
  std::string steps;
  for (const Point& point : points)
    steps += fmt::format("{}{} {}", steps.empty() ? "M" : " L", number(point.x), number(point.y));
  body_ += fmt::format("<path d=\"{}\" fill=\"none\" {}/>\n", steps, stroke_attributes(stroke));
}

void Svg::circle(Point centre, double radius, std::string_view fill) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", number(centre.x), number(centre.y),
                       number(radius), fill);
}

void Svg::text(double x, double y, std::string_view words, const TextStyle& style) {
  constexpr std::string_view kAnchors[] = {"start", "middle", "end"};
  body_ += fmt::format(R"(<text x="{}" y="{}" font-size="{}" text-anchor="{}" fill="{}")", number(x), number(y),
                       number(style.size), kAnchors[static_cast<std::size_t>(style.anchor)], style.colour);
  if (style.is_bold) body_ += R"( font-weight="bold")";
  if (style.is_upright) body_ += fmt::format(" transform=\"rotate(-90 {} {})\"", number(x), number(y));
  body_ += fmt::format(">{}</text>\n", escaped(words));
}

std::string Svg::hatch(std::string_view colour) {
  const std::string name = fmt::format("hatch{}", ++hatches_);
  definitions_ += fmt::format(
      "<pattern id=\"{}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
      "<rect width=\"5\" height=\"5\" fill=\"#ffffff\"/><rect width=\"2.5\" height=\"5\" fill=\"{}\"/></pattern>\n",
      name, colour);
  return fmt::format("url(#{})", name);
}

std::string Svg::finish(std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"Helvetica, Arial, 'DejaVu Sans', "
      "sans-serif\">\n<title>{2}</title>\n<defs>\n{3}</defs>\n{4}</svg>\n",
      number(width_), number(height_), escaped(title), definitions_, body_);
}

std::string as_html(std::string_view svg, std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title>\n"
      "<style>body{{margin:0;background:#ffffff}}svg{{display:block;margin:auto;max-width:100%;height:auto}}</style></"
      "head>\n"
      "<body>\n{}</body>\n</html>\n",
      escaped(title), svg);
}

}  // namespace replay::report
