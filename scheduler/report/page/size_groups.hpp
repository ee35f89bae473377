// The groups of jobs by size for which distributions are shown: serial, and up to 8, 64, 512 processes and more.
#pragma once

#include <cstddef>
#include <string_view>

#include "scheduler/model/units.hpp"

namespace replay::report {

inline constexpr std::size_t kSizeGroups = 5;

/// Below kSizeGroups; it grows with the size.
[[nodiscard]] std::size_t size_group(ProcessCount processes);
/// "9 to 64 processes".
[[nodiscard]] std::string_view size_group_name(std::size_t group);

}  // namespace replay::report
