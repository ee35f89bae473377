// Tests of the multigrid of mg: its operators against the 27 weights that define them, whole cubes against the same
// cubes cut in slabs, and the levels for any number of ranks.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "benchmarks/mpi/common/nas_random.hpp"
#include "benchmarks/mpi/mg/mg_problem.hpp"
#include "benchmarks/mpi/mg/mg_slab.hpp"

namespace replay::bench {
namespace {

using Weights = std::array<double, 4>;  // by the number of directions in which a neighbour differs

/// A periodic cube without slabs or ghosts.
struct Cube {
  std::int64_t n;
  std::vector<double> values;

  explicit Cube(std::int64_t edge) : n(edge), values(static_cast<std::size_t>(edge * edge * edge)) {}
  double& at(std::int64_t x, std::int64_t y, std::int64_t z) {
    const auto wrap = [this](std::int64_t i) { return (i + n) % n; };
    return values[static_cast<std::size_t>((wrap(z) * n + wrap(y)) * n + wrap(x))];
  }
  double weighted(const Weights& weights, std::int64_t x, std::int64_t y, std::int64_t z) {
    double sum = 0;
    for (int dz = -1; dz <= 1; ++dz) {
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int differing = std::abs(dx) + std::abs(dy) + std::abs(dz);
          sum += weights[static_cast<std::size_t>(differing)] * at(x + dx, y + dy, z + dz);
        }
      }
    }
    return sum;
  }
};

Cube random_cube(std::int64_t n, std::uint64_t seed) {
  Cube cube{n};
  NasRandom random{seed, kNasMultiplier};
  for (double& value : cube.values) value = random.next() - 0.5;
  return cube;
}

/// The planes `planes` of `cube`, with ghost planes filled.
Slab cut(Cube& cube, Block planes) {
  Slab slab{static_cast<int>(cube.n), planes};
  for (std::int64_t z = planes.begin - 1; z <= planes.end; ++z) {
    for (std::int64_t y = 0; y < cube.n; ++y) {
      for (std::int64_t x = 0; x < cube.n; ++x) slab.row(y, z)[x] = cube.at(x, y, z);
    }
  }
  return slab;
}

template <typename Expected>
void expect_planes(const Slab& slab, Block planes, Expected expected) {
  for (std::int64_t z = planes.begin; z < planes.end; ++z) {
    for (std::int64_t y = 0; y < slab.n(); ++y) {
      for (std::int64_t x = 0; x < slab.n(); ++x) {
        ASSERT_NEAR(slab.row(y, z)[x], expected(x, y, z), 1e-14)
            << "n " << slab.n() << ": " << x << ' ' << y << ' ' << z;
      }
    }
  }
}

const std::vector<Block> kCuts = {{0, 8}, {0, 3}, {3, 8}, {2, 3}, {7, 8}, {4, 6}};

TEST(MgOperators, ResidualIsTheRightSideLessTheLaplacian) {
  Cube u = random_cube(8, 1);
  Cube v = random_cube(8, 3);
  const Weights laplacian{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
  const auto expected = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return v.at(x, y, z) - u.weighted(laplacian, x, y, z);
  };
  for (const Block planes : kCuts) {
    Slab right = cut(v, planes);
    Slab r{8, planes};
    residual(cut(u, planes), right, r);
    expect_planes(r, planes, expected);
    residual(cut(u, planes), right, right);  // in place
    expect_planes(right, planes, expected);
  }
}

TEST(MgOperators, SmoothingAddsTheWeightedResidual) {
  Cube u = random_cube(8, 1);
  Cube r = random_cube(8, 3);
  for (const Block planes : kCuts) {
    Slab solution = cut(u, planes);
    smooth({-3.0 / 17, 1.0 / 33, -1.0 / 61}, cut(r, planes), solution);
    expect_planes(solution, planes, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      return u.at(x, y, z) + r.weighted({-3.0 / 17, 1.0 / 33, -1.0 / 61, 0}, x, y, z);
    });
  }
}

TEST(MgOperators, RestrictionIsTheWeightedMeanAroundTheFinePoint) {
  Cube fine = random_cube(8, 1);
  for (const Block planes : kCuts) {
    const Block coarse_planes{planes.begin / 2, planes.end / 2};
    Slab coarse{4, coarse_planes};
    restrict_to(cut(fine, planes), coarse);
    expect_planes(coarse, coarse_planes, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      return fine.weighted({0.5, 0.25, 0.125, 0.0625}, 2 * x + 1, 2 * y + 1, 2 * z + 1);
    });
  }
}

TEST(MgOperators, InterpolationAddsTheMeanOfTheCoarseNeighboursOnGhostPlanesToo) {
  Cube coarse = random_cube(4, 1);
  Cube fine = random_cube(8, 3);
  for (const Block planes : kCuts) {
    Slab solution = cut(fine, planes);
    interpolate(cut(coarse, {planes.begin / 2, planes.end / 2}), solution);
    expect_planes(solution, {planes.begin - 1, planes.end + 1}, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      // The fine point 2 j + 1 lies on j, and 2 j half way from j - 1 to j.
      double sum = 0;
      for (const std::int64_t i : {x - 1, x}) {
        for (const std::int64_t j : {y - 1, y}) {
          for (const std::int64_t k : {z - 1, z}) sum += coarse.at(i >> 1, j >> 1, k >> 1) / 8;
        }
      }
      return fine.at(x, y, z) + sum;
    });
  }
}

TEST(MgOperators, WorkOnTheSmallestCubeWhereBothNeighboursAreOne) {
  Cube u = random_cube(2, 1);
  Cube v = random_cube(2, 3);
  Slab right = cut(v, {0, 2});
  Slab solution{2, {0, 2}};
  for (std::int64_t z = 0; z < 2; ++z) {
    for (std::int64_t y = 0; y < 2; ++y) {
      for (std::int64_t x = 0; x < 2; ++x) solution.row(y, z)[x] = u.at(x, y, z);
    }
  }
  solution.close_period();
  residual(solution, right, right);
  expect_planes(right, {0, 2}, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return v.at(x, y, z) - u.weighted({-8.0 / 3, 0, 1.0 / 6, 1.0 / 12}, x, y, z);
  });
}

TEST(MgExtremes, SlabsFindTheSamePointsAsTheWholeCube) {
  const Extremes whole = find_extremes(32, {0, 32});
  Extremes joined;
  for (int rank = 0; rank < 5; ++rank) {
    const Extremes part = find_extremes(32, block_of(32, rank, 5));
    for (const RandomPoint& point : part.smallest) joined.add(point);
    for (const RandomPoint& point : part.largest) joined.add(point);
  }
  for (std::size_t i = 0; i < Extremes::kCount; ++i) {
    EXPECT_EQ(joined.smallest[i].index, whole.smallest[i].index);
    EXPECT_EQ(joined.largest[i].index, whole.largest[i].index);
    EXPECT_LT(whole.smallest[i].value, 0.01);
    EXPECT_GT(whole.largest[i].value, 0.99);
  }
}

TEST(MgExtremes, FewerPointsThanPlacesLeavePlacesEmpty) {
  const Extremes extremes = find_extremes(2, {1, 2});
  EXPECT_EQ(extremes.largest[3].index >= 4, true);
  EXPECT_EQ(extremes.largest[4].index, -1);
}

TEST(MgLevels, PartsOfALevelCoverItOnceAndFollowTheFinePlanes) {
  for (const int ranks : {1, 2, 3, 5, 6, 7, 16, 31, 64}) {
    const std::vector<Level> levels = make_levels(128, ranks);
    ASSERT_EQ(levels.size(), 7U);
    EXPECT_FALSE(levels.back().is_gathered);
    for (std::size_t k = 0; k < levels.size(); ++k) {
      const Level& level = levels[k];
      EXPECT_EQ(level.n, 2 << k);
      std::int64_t next = 0;
      for (std::size_t rank = 0; rank < level.parts.size(); ++rank) {
        EXPECT_EQ(level.parts[rank].begin, next);
        next = level.parts[rank].end;
        if (!level.is_gathered) {
          EXPECT_GT(level.parts[rank].size(), 0) << "an empty slab cannot be a neighbour";
        }
        for (std::int64_t z = level.parts[rank].begin; k + 1 < levels.size() && z < next; ++z) {
          const Block fine = levels[k + 1].parts[rank];
          EXPECT_TRUE(fine.begin <= 2 * z + 1 && 2 * z + 1 < fine.end) << ranks << " ranks, plane " << z;
        }
      }
      EXPECT_EQ(next, level.n);
      if (k > 0 && level.is_gathered) {
        EXPECT_TRUE(levels[k - 1].is_gathered);
      }
    }
  }
}

TEST(MgLevels, OneRankGathersNothing) {
  for (const Level& level : make_levels(32, 1)) EXPECT_FALSE(level.is_gathered) << level.n;
}

}  // namespace
}  // namespace replay::bench
