// Names that the system makes up.
#pragma once

#include <string>

namespace replay {

/// `start` and the place in which mkdtemp() and mkstemp() put six characters of their own.
[[nodiscard]] inline std::string name_template(std::string start) { return start.append(6, 'X'); }

}  // namespace replay
