// A study's result as one self-contained page: no other file, no script, no external font.
#pragma once

#include <string>

#include "scheduler/study/result.hpp"

namespace replay::study {

/// HTML with the figures as SVG in it. The same result is the same bytes.
[[nodiscard]] std::string to_html(const Result& result);
/// The panels of a figure, two in a row.
[[nodiscard]] std::string to_svg(const Figure& figure);

}  // namespace replay::study
