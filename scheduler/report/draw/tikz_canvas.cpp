#include "scheduler/report/draw/tikz_canvas.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replay::report {
namespace {

// TeX reads a line at a time, and a buffer holds one.
constexpr std::size_t kStepsInALine = 8;
// TeX holds a path as a whole, and some ten thousand boxes are more than its memory.
constexpr std::size_t kPartsInAPath = 256;

std::string corner(Point point) { return fmt::format("({},{})", rounded(point.x), rounded(point.y)); }

void add_line(std::string& to, std::span<const Point> points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    to += i == 0 ? " " : "--";
    to += corner(points[i]);
    if (i % kStepsInALine == kStepsInALine - 1) to += '\n';
  }
}

std::string dash_pattern(const Dashes& dashes) {
  std::string text;
  for (std::size_t i = 0; i < dashes.size() && dashes[i] > 0; ++i)
    text += fmt::format(" {} {}bp", i % 2 == 0 ? "on" : "off", static_cast<unsigned>(dashes[i]));
  return text.empty() ? text : ",dash pattern=" + text.substr(1);
}

}  // namespace

std::string tex_escaped(std::string_view text) {
  std::string result;
  for (const char32_t character : characters_of(text)) {
    switch (character) {
      case U'\\': result += "\\textbackslash{}"; break;
      case U'~': result += "\\textasciitilde{}"; break;
      case U'^': result += "\\textasciicircum{}"; break;
      case U'<': result += "\\textless{}"; break;
      case U'>': result += "\\textgreater{}"; break;
      case U'"': result += "\\textquotedbl{}"; break;
      case U'|': result += "\\textbar{}"; break;
      case U'#':
      case U'$':
      case U'%':
      case U'&':
      case U'_':
      case U'{':
      case U'}': result += '\\'; [[fallthrough]];
      default: result += to_utf8({&character, 1});
    }
  }
  return result;
}

const std::string& TikzCanvas::name_of(Colour colour) {
  const auto [found, is_new] = colours_.try_emplace(colour);
  if (is_new) found->second = fmt::format("replay{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
  return found->second;
}

void TikzCanvas::fill(std::span<const Box> boxes, Colour colour) {
  for (; !boxes.empty(); boxes = boxes.subspan(std::min(boxes.size(), kPartsInAPath))) {
    body_ += fmt::format("\\fill[{}]", name_of(colour));
    for (std::size_t i = 0; i < std::min(boxes.size(), kPartsInAPath); ++i) {
      const Box& box = boxes[i];
      body_ += fmt::format(" {} rectangle {}", corner({box.x, box.y}), corner({box.right(), box.bottom()}));
      if (i % kStepsInALine == kStepsInALine - 1) body_ += '\n';
    }
    body_ += ";\n";
  }
}

void TikzCanvas::fill(std::span<const Point> polygon, Colour colour) {
  body_ += fmt::format("\\fill[{}]", name_of(colour));
  add_line(body_, polygon);
  body_ += "--cycle;\n";
}

void TikzCanvas::fill_circle(Point centre, double radius, Colour colour) {
  body_ += fmt::format("\\fill[{}] {} circle[radius={}bp];\n", name_of(colour), corner(centre), rounded(radius));
}

void TikzCanvas::stroke(std::span<const Polyline> lines, const Stroke& stroke) {
  for (; !lines.empty(); lines = lines.subspan(std::min(lines.size(), kPartsInAPath))) {
    const auto part = lines.first(std::min(lines.size(), kPartsInAPath));
    std::string path;
    for (const Polyline& line : part) {
      if (line.size() < 2) continue;
      add_line(path, line);
      if (part.size() > 1) path += '\n';
    }
    if (path.empty()) continue;
    body_ += fmt::format("\\draw[{},line width={}bp{}]{};\n", name_of(stroke.colour), rounded(stroke.width),
                         dash_pattern(stroke.dashes), path);
  }
}

void TikzCanvas::text(Point at, std::string_view words, const TextStyle& style) {
  constexpr std::string_view kAnchors[] = {"base west", "base", "base east"};
  // Rotated text turns about its anchor.
  body_ += fmt::format("\\node[{},anchor={},font=\\fontsize{{{}bp}}{{{}bp}}\\selectfont{}] at {} {{{}}};\n",
                       name_of(style.colour), kAnchors[static_cast<std::size_t>(style.anchor)], rounded(style.size),
                       rounded(style.size * 1.2), style.is_upright ? ",rotate=90" : "", corner(at), tex_escaped(words));
}

std::string TikzCanvas::finish(std::string_view title) {
  std::string head = fmt::format("% {}\n", to_utf8(characters_of(title)));
  head += "% Needs \\usepackage{tikz}; with pdfTeX also \\usepackage[T1]{fontenc}.\n\\begingroup%\n";
  for (const auto& [colour, name] : colours_)
    head += fmt::format("\\definecolor{{{}}}{{RGB}}{{{},{},{}}}%\n", name, colour.red, colour.green, colour.blue);
  head += "\\begin{tikzpicture}[x=1bp,y=-1bp,every node/.style={inner sep=0pt,outer sep=0pt}]\n";
  head += fmt::format("\\useasboundingbox {} rectangle {};\n", corner({0, 0}), corner({width(), height()}));
  return head + body_ + "\\end{tikzpicture}%\n\\endgroup\n";
}

}  // namespace replay::report
