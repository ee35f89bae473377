// Text inside of SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace replay::report {

/// With &, <, > and quotation marks as entities, control characters as '?' and what is no UTF-8 as '?'.
[[nodiscard]] std::string escaped(std::string_view text);

/// A page that holds nothing but the drawing.
[[nodiscard]] std::string as_html(std::string_view svg, std::string_view title);

}  // namespace replay::report
