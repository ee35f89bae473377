// Plain text for the terminal: tables with aligned columns, and nouns with their number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

/// Each column as wide as its widest cell; the first to the left, the others to the right. A line per row.
/// REQUIRES: at least one row, and all as long as the first.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// "1 job", "2 jobs".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view thing);

}  // namespace replay
