// Coarser pictures of a Gantt chart, so that the page of a long run draws some ten thousand rectangles and not millions: time
// and cores are cut into cells, each cell shows the job that has most of it, and equal cells become one rectangle.
#pragma once

#include <span>
#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/report/page/run_data.hpp"
#include "scheduler/report/page/stretch_rows.hpp"

namespace replay::report {

/// What a picture shows.
struct Frame {
  double begin = 0, end = 0;  ///< seconds; begin < end
  CoreCount cores = 1;
  std::size_t columns = 1536;  ///< cells along the time
  bool names_merged = true;    ///< a merged cell shows the job with the largest share; else only that there are several
};

/// Cells along the cores, at most.
inline constexpr CoreCount kMostBands = 256;

[[nodiscard]] constexpr CoreCount cell_cores(CoreCount cores) { return (cores + kMostBands - 1) / kMostBands; }
[[nodiscard]] inline double cell_seconds(const Frame& frame) {
  return (frame.end - frame.begin) / static_cast<double>(frame.columns);
}

/// Rectangles of whole cells: job, flags and processes are those of the stretch with the largest share of the cell, with kMerged
/// and the share of the cell that is used if it has less than half of it. A cell of which less than a twentieth is used stays empty.
/// Suspended stretches hold no core: they are a picture of their own, behind that of the others. A core that two jobs share
/// counts twice. O(rows + cells that they touch).
[[nodiscard]] std::vector<StretchRow> picture_of(std::span<const StretchRow> rows, const Frame& frame);

/// The pictures that a chart of `rows` needs to be drawn fast at every zoom, finest first; none if the rows are few.
[[nodiscard]] std::vector<Level> levels_of(std::span<const StretchRow> rows, Frame frame);

}  // namespace replay::report
