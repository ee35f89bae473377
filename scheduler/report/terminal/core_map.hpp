// The map of cores on a text screen: a cell for each core with the letter of its job, or, folded, a cell for each
// package or node with the job that has most of it and the share of it that is busy. Letters and signs say everything;
// colours only repeat it. A map that is taller than its room is scrolled.
//
//   cores     A the job has the core   A2 with two processes   AB jobs A and B share it   . idle   x idle, its node is closed
//   folded    A▅ job A has most of the node, and so much of it is busy   A▅+ beside other jobs
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/base/terminal/frame.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/report/terminal/watched_run.hpp"

namespace replay::report {

/// What one cell stands for.
enum class Fold : std::uint8_t {
  kAuto,  ///< the finest of the others that needs no scrolling
  kCores,
  kPackages,
  kNodes
};

[[nodiscard]] std::string_view name_of(Fold fold);
/// The next one that makes a difference on this machine, in a circle: a machine without packages cannot be folded to
/// them.
[[nodiscard]] Fold next_fold(const Machine& machine, Fold fold);

/// How a map is laid out. Cells stand in blocks: a block is a node, with places for as many cells as the largest one has, or
/// ten folded nodes.
struct MapPlan {
  Fold level = Fold::kCores;  ///< never kAuto
  int cell_columns = 1;       ///< 1: the letter; 2: and a sign; 3: and a blank
  int cells = 0;              ///< those that smaller nodes leave blank too
  int cells_per_block = 1;
  int cells_per_group = 0;  ///< a blank stands behind so many cells of a block; 0: nowhere
  int cells_per_row = 1;    ///< of one block
  int blocks_per_row = 1;   ///< 1 if a block takes several rows
  int label_columns = 0;    ///< the number, or the host, in front of a block, and a blank
  int rows = 0;             ///< of the whole map

  [[nodiscard]] int block_columns() const;
};

/// The plan for a screen so wide, with room for so many rows; it may need more, which are to be scrolled. O(columns).
/// Nodes that are not folded are named by their hosts, if there are any.
[[nodiscard]] MapPlan plan_map(const Machine& machine, Fold fold, int columns, int room,
                               std::span<const std::string> hosts = {});

/// "16 nodes of 2 x 2 cores, folded to packages".
[[nodiscard]] std::string map_title(const Machine& machine, const MapPlan& plan);

/// Draws rows `scroll` to `scroll` + `room` - 1 of the map from row `top` of the frame on. O(cores).
void draw_map(terminal::Frame& frame, int top, int room, int scroll, const WatchedRun& run, const MapPlan& plan,
              bool utf8);

/// What the letter of the job looks like.
[[nodiscard]] terminal::Style style_of(const WatchedJob& job);

}  // namespace replay::report
