// The bytes of the font's file, which cmake/EmbedFont.cmake puts into the program.
#pragma once

#include <string_view>

namespace replay::report {

[[nodiscard]] std::string_view font_file();

}  // namespace replay::report
