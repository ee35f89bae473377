#include "scheduler/report/draw/canvas_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/report/draw/pdf_canvas.hpp"
#include "scheduler/report/draw/svg_canvas.hpp"
#include "scheduler/report/draw/tikz_canvas.hpp"

namespace replay::report {

void expect_drawing_name(std::string_view option, const std::string& path, std::string_view other) {
  constexpr std::string_view kEndings[] = {".svg", ".pdf", ".tikz", ".tex"};
  if (std::ranges::none_of(kEndings, [&path](std::string_view ending) { return path.ends_with(ending); }))
    throw UsageError(fmt::format("{}: expected a name that ends in .svg, .pdf, .tikz{} or .tex, found '{}'", option,
                                 other.empty() ? "" : fmt::format(", {}", other), path));
}

std::unique_ptr<Canvas> canvas_for(const std::string& path, double width, double height, std::string_view svg_unit) {
  if (path.ends_with(".pdf")) return std::make_unique<PdfCanvas>(width, height);
  if (path.ends_with(".svg")) return std::make_unique<SvgCanvas>(width, height, svg_unit);
  return std::make_unique<TikzCanvas>(width, height);
}

}  // namespace replay::report
