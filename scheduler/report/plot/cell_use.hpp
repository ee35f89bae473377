// How much of the cells of a coarse Gantt picture is in use, in four shades: for cells in which no job has the most of it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "scheduler/report/page/levels.hpp"
#include "scheduler/report/page/stretch_rows.hpp"

namespace replay::report {

/// Shade i is of cells with a use above i quarters and up to (i + 1) quarters.
inline constexpr std::size_t kUseShades = 4;
using ShadedRows = std::array<std::vector<StretchRow>, kUseShades>;

/// The cells of `merged`, rectangles of whole cells that picture_of() made of `rows`; neighbours of one shade are one row.
/// O(cells + cells that the rows touch).
[[nodiscard]] ShadedRows shaded_by_use(std::span<const StretchRow> merged, std::span<const StretchRow> rows,
                                       const Frame& frame);

}  // namespace replay::report
