// The file that a drawing goes to: its ending says which canvas writes it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::report {

/// ".svg", ".pdf", ".tikz" or ".tex". Throws UsageError for any other ending; `option` is what the message calls it, `other` an
/// ending that it names too.
void expect_drawing_name(std::string_view option, const std::string& path, std::string_view other = {});

/// For a name that expect_drawing_name() accepts; `svg_unit` as SvgCanvas takes it.
[[nodiscard]] std::unique_ptr<Canvas> canvas_for(const std::string& path, double width, double height,
                                                 std::string_view svg_unit = "pt");

}  // namespace replay::report
