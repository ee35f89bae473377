// Tests of how LU's grid is divided among ranks.

#include "benchmarks/mpi/lu/lu_grid.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <set>
#include <utility>
#include <vector>

namespace replay::bench::lu {
namespace {

TEST(LuShape, IsAsNearToASquareAsTheNumberOfRanksAllows) {
  const auto shape = [](int ranks) { return std::pair{shape_of(ranks).columns, shape_of(ranks).rows}; };
  EXPECT_EQ(shape(1), std::pair(1, 1));
  EXPECT_EQ(shape(2), std::pair(1, 2));
  EXPECT_EQ(shape(4), std::pair(2, 2));
  EXPECT_EQ(shape(6), std::pair(2, 3));
  EXPECT_EQ(shape(7), std::pair(1, 7));
  EXPECT_EQ(shape(12), std::pair(3, 4));
  EXPECT_EQ(shape(36), std::pair(6, 6));
}

TEST(LuGrid, EveryInnerPointHasOneOwner) {
  for (const int points : {12, 33}) {
    for (const int ranks : {1, 2, 3, 5, 6, 7, 10, 12, 100}) {
      std::set<std::pair<int, int>> owned;
      std::size_t count = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Grid grid{points, World{rank, ranks}};
        EXPECT_GE(grid.own_i(), grid.fewest_i());
        EXPECT_GE(grid.own_j(), grid.fewest_j());
        for (int j = 0; j < grid.own_j(); ++j)
          for (int i = 0; i < grid.own_i(); ++i, ++count) owned.emplace(grid.global_i(i), grid.global_j(j));
      }
      EXPECT_EQ(count, owned.size()) << points << " points on " << ranks << " ranks";
      EXPECT_EQ(owned.size(), static_cast<std::size_t>((points - 2) * (points - 2)));
      EXPECT_EQ(*owned.begin(), std::pair(1, 1));
      EXPECT_EQ(*owned.rbegin(), std::pair(points - 2, points - 2));
    }
  }
}

TEST(LuGrid, NeighboursOwnWhatLiesBesideAndKnowEachOther) {
  const int ranks = 6;
  std::vector<Grid> grids;
  grids.reserve(ranks);
  for (int rank = 0; rank < ranks; ++rank) grids.emplace_back(12, World{rank, ranks});
  for (int rank = 0; rank < ranks; ++rank) {
    const Grid& grid = grids[static_cast<std::size_t>(rank)];
    if (grid.east() == MPI_PROC_NULL) {
      EXPECT_EQ(grid.global_i(grid.own_i()), 11) << "the boundary";
    } else {
      const Grid& east = grids[static_cast<std::size_t>(grid.east())];
      EXPECT_EQ(east.west(), rank);
      EXPECT_EQ(east.global_i(0), grid.global_i(grid.own_i()));
    }
    if (grid.north() == MPI_PROC_NULL) {
      EXPECT_EQ(grid.global_j(grid.own_j()), 11) << "the boundary";
    } else {
      const Grid& north = grids[static_cast<std::size_t>(grid.north())];
      EXPECT_EQ(north.south(), rank);
      EXPECT_EQ(north.global_j(0), grid.global_j(grid.own_j()));
    }
  }
}

TEST(LuGrid, PointsOfTheFrameLieApart) {
  const Grid grid{12, World{0, 4}};
  std::set<std::ptrdiff_t> places;
  for (int k = -1; k <= 12; ++k)
    for (int j = -kFrame; j < grid.own_j() + kFrame; ++j)
      for (int i = -kFrame; i < grid.own_i() + kFrame; ++i) places.insert(grid.at(i, j, k));
  EXPECT_EQ(static_cast<std::ptrdiff_t>(places.size()), grid.volume());
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), grid.volume() - 1);
  EXPECT_EQ(grid.at(3, 2, 5) - grid.at(3, 1, 5), grid.row());
  EXPECT_EQ(grid.at(3, 2, 5) - grid.at(3, 2, 4), grid.plane());
}

}  // namespace
}  // namespace replay::bench::lu
