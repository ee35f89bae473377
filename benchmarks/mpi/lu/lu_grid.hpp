// LU's grid: each rank's part of it, and the layout in memory. The grid is a cube of n^3 points. Its outermost points
// keep their values; the (n - 2)^3 points inside are cut into columns along i and rows along j, and every rank has all
// k of its part. Parts differ by at most one column or row. Around its own points a rank holds two more on each of the
// four sides: copies of its neighbours' or the fixed points of the boundary. Along k one point more at each end makes
// two. What lies outside of the whole grid is read, but has no effect, and neither have the corners of the frame.
#pragma once

#include <cstddef>

#include "benchmarks/mpi/common/common.hpp"

namespace replay::bench::lu {

/// Ranks along i and along j: as near to a square as the number of ranks allows, more along j, as rows along i are what
/// is computed in one go. O(sqrt(ranks)). REQUIRES: ranks >= 1.
struct Shape {
  int columns;
  int rows;
};
Shape shape_of(int ranks);

/// Points that are kept around a rank's own on each side, as the fourth difference reaches that far.
inline constexpr int kFrame = 2;

/// One rank's part of the grid.
class Grid {
 public:
  /// REQUIRES: a rank has at least one point along i and along j: shape_of(world.size) fits into (points - 2)^2.
  Grid(int points, const World& world);

  int points() const { return points_; }  // n, along each direction of the whole grid
  Shape shape() const { return shape_; }
  int own_i() const { return own_i_; }  // own points along i, without the frame
  int own_j() const { return own_j_; }

  /// Numbers, from 0 to n - 1 in the whole grid, of own point i or j; also for points of the frame (-2, -1, own, ...).
  int global_i(int i) const { return begin_i_ + i; }
  int global_j(int j) const { return begin_j_ + j; }

  /// Where point (i, j, k) lies in each array. i and j count own points and may lie in the frame; k is -1 to n.
  std::ptrdiff_t at(int i, int j, int k) const { return ((k + 1) * wide_j() + j + kFrame) * wide_i() + i + kFrame; }
  /// From a point to the next one along j or k; along i it is 1.
  std::ptrdiff_t row() const { return wide_i(); }
  std::ptrdiff_t plane() const { return wide_i() * wide_j(); }
  /// Points with the frame.
  std::ptrdiff_t volume() const { return plane() * (points_ + 2); }

  /// Ranks beside this one; MPI_PROC_NULL at the boundary.
  int west() const { return west_; }  // smaller i
  int east() const { return east_; }
  int south() const { return south_; }  // smaller j
  int north() const { return north_; }
  /// The fewest points that any rank has along i and along j.
  int fewest_i() const { return fewest_i_; }
  int fewest_j() const { return fewest_j_; }

 private:
  std::ptrdiff_t wide_i() const { return own_i_ + 2 * kFrame; }
  std::ptrdiff_t wide_j() const { return own_j_ + 2 * kFrame; }

  int points_;
  Shape shape_;
  int begin_i_;
  int begin_j_;
  int own_i_;
  int own_j_;
  int fewest_i_;
  int fewest_j_;
  int west_;
  int east_;
  int south_;
  int north_;
};

}  // namespace replay::bench::lu
