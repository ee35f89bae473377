// The look of the page of a run: HTML, style and script, embedded when the program is built (cmake/EmbedPage.cmake).
#pragma once

#include <string_view>

namespace replay::report {

struct PageAssets {
  std::string_view head;    ///< to the script, with @TITLE@, @CONNECT@ and @DATA@, each once
  std::string_view script;  ///< of the page, and of the libraries in it
  std::string_view tail;    ///< behind the script
};
extern const PageAssets kPageAssets;

}  // namespace replay::report
