// Plain text for the terminal: tables with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace replay {

/// Each column as wide as its widest cell; the first to the left, the others to the right. A line per row.
/// REQUIRES: at least one row, and all as long as the first.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace replay
