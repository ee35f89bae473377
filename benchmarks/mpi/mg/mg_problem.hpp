// The problem of NAS MG and its division among the ranks: the right-hand side, +1 at the ten largest and -1 at the ten
// smallest of n^3 random numbers, and the levels of the multigrid. Slabs are cut on the finest level; a coarse plane is
// on the rank that has the fine plane it lies on, so restriction needs no message but ghost planes. Below a level on
// which some rank would own nothing, and for cubes of 8^3 and less, all ranks hold all planes and do the same work: one
// Allgatherv takes the place of three exchanges on each of these levels, and no rank without planes has to be served.
// Source: Bailey et al. 1994, RNR-94-007; the random numbers: NAS Parallel Benchmarks 2 and later.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"

namespace replay::bench {

/// One of the random numbers, and the point (index % n, index / n % n, index / n^2) that it is for.
struct RandomPoint {
  double value;
  std::int64_t index;
};

/// The ten smallest, from the smallest up, and the ten largest, from the largest down.
struct Extremes {
  static constexpr std::size_t kCount = 10;
  std::array<RandomPoint, kCount> smallest;
  std::array<RandomPoint, kCount> largest;

  Extremes();
  void add(const RandomPoint& point);
};

/// The extremes of the random numbers on planes `planes` of a cube of edge `n`. O(points). Places for which there is no
/// point, as there are fewer than ten, have index -1.
Extremes find_extremes(int n, Block planes);

/// A level of the multigrid on `n`^3 points.
struct Level {
  int n;
  std::vector<Block> parts;  // of the planes of z, by rank; may be empty where the level is gathered
  bool is_gathered;          // all ranks hold all planes

  /// The planes that `rank` holds.
  Block planes(int rank) const { return is_gathered ? Block{0, n} : parts[static_cast<std::size_t>(rank)]; }
};

/// All levels from edge 2 to edge `n`, the finest last. REQUIRES: n is a power of two; ranks <= n.
std::vector<Level> make_levels(int n, int ranks);

}  // namespace replay::bench
