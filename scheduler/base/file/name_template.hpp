// Templates for mkstemp and mkdtemp.
#pragma once

#include <string>

namespace replay {

/// `start` and the six characters that mkdtemp() and mkstemp() replace.
[[nodiscard]] inline std::string name_template(std::string start) { return start.append(6, 'X'); }

}  // namespace replay
