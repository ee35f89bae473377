// Cuts the rectangles of a Gantt chart where jobs share cores, so that those of one core and instant stand side by side in its row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/report/page/stretch_rows.hpp"

namespace replay::report {

/// A rectangle, or the part of it in which the same jobs share its cores: lane `lane` of `lanes`, from the lowest core up.
struct GanttBox {
  StretchRow row;
  std::uint8_t lane = 0, lanes = 1;
};

/// In the order of `rows`, which must hold no suspended jobs; those of rows that share no core are whole. O(rows that may share * their cores).
[[nodiscard]] std::vector<GanttBox> shared_cores(std::span<const StretchRow> rows);

}  // namespace replay::report
