// Tests of the transforms of ft against their definition, a sum over all elements; in one dimension and, on one rank,
// in three.
#include "benchmarks/mpi/ft/fft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "benchmarks/mpi/common/nas_random.hpp"
#include "benchmarks/mpi/ft/ft_slabs.hpp"

namespace replay::bench {
namespace {

constexpr std::size_t kColumns = ColumnFft::kColumns;

Complex next(NasRandom& random) {
  const double re = random.next() - 0.5;
  return {re, random.next() - 0.5};
}

std::vector<Complex> random_values(std::size_t count) {
  NasRandom random{314159265, kNasMultiplier};
  std::vector<Complex> values(count);
  for (Complex& value : values) value = next(random);
  return values;
}

/// exp(+- 2 pi i k / n), from k < n, as the angle of a large k would be rounded.
Complex root(std::size_t k, std::size_t n, double sign) {
  return std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

TEST(ColumnFft, EveryColumnGetsTheSumThatDefinesItsTransform) {
  for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
    const double sign = direction == Direction::kForward ? -1 : 1;
    for (std::size_t n = 2; n <= 512; n *= 2) {
      const std::vector<Complex> values = random_values(n * kColumns);
      ColumnFft fft{n, direction};
      for (std::size_t j = 0; j < n; ++j) fft.load(j, &values[j * kColumns]);
      fft.run();
      Complex found[kColumns];
      for (std::size_t k = 0; k < n; ++k) {
        fft.store(k, found);
        for (std::size_t column = 0; column < kColumns; ++column) {
          Complex sum{};
          for (std::size_t j = 0; j < n; ++j) sum += values[j * kColumns + column] * root(j * k, n, sign);
          ASSERT_NEAR(std::abs(found[column] - sum), 0, 1e-13 * static_cast<double>(n)) << n << ' ' << k;
        }
      }
    }
  }
}

TEST(ColumnFft, ASecondRunForgetsTheFirst) {
  ColumnFft fft{32, Direction::kForward};
  const std::vector<Complex> values = random_values(32 * kColumns);
  for (std::size_t j = 0; j < 32; ++j) fft.load(j, &values[j * kColumns]);
  fft.run();
  const std::vector<Complex> ones(kColumns, 1.0);
  for (std::size_t j = 0; j < 32; ++j) fft.load(j, ones.data());
  fft.run();
  Complex found[kColumns];
  for (std::size_t k = 0; k < 32; ++k) {
    fft.store(k, found);
    for (const Complex& value : found) EXPECT_EQ(value, Complex(k == 0 ? 32.0 : 0.0));
  }
}

TEST(SlabField, ForwardAndInverseScaleByTheNumberOfPoints) {
  const Grid grid{16, 8, 4};
  SlabField field{grid, World{0, 1}};
  const std::vector<Complex> values = random_values(grid.points());
  std::ranges::copy(values, field.space().begin());
  field.forward();
  field.inverse({std::vector(grid.nx, 1.0), std::vector(grid.ny, 1.0), std::vector(grid.nz, 1.0)});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double points = static_cast<double>(grid.points());
    ASSERT_NEAR(std::abs(field.space()[i] / points - values[i]), 0, 1e-15) << i;
  }
}

TEST(SlabField, FactorsMeetTheWaveNumbersOfTheirDirection) {
  // A field of two waves; the factors keep one of them.
  const Grid grid{16, 8, 32};
  SlabField field{grid, World{0, 1}};
  const auto wave = [&grid](std::size_t kx, std::size_t ky, std::size_t kz, std::size_t i) {
    return root(kx * (i % grid.nx), grid.nx, 1) * root(ky * (i / grid.nx % grid.ny), grid.ny, 1) *
           root(kz * (i / grid.nx / grid.ny), grid.nz, 1);
  };
  for (std::size_t i = 0; i < grid.points(); ++i) field.space()[i] = wave(3, 5, 17, i) + 2.0 * wave(5, 3, 18, i);
  field.forward();
  SeparableFactors factors{std::vector(grid.nx, 0.0), std::vector(grid.ny, 1.0), std::vector(grid.nz, 0.5)};
  factors.x[3] = 7;
  factors.y[3] = 0;
  factors.z[18] = 0;
  field.inverse(factors);
  const double scale = 7 * 0.5 * static_cast<double>(grid.points());
  for (std::size_t i = 0; i < grid.points(); ++i) {
    const std::size_t z = i / grid.nx / grid.ny;
    const Complex found = field.at(i % grid.nx, i / grid.nx % grid.ny, z);
    ASSERT_NEAR(std::abs(found - scale * wave(3, 5, 17, i)), 0, 1e-14 * scale) << i;
  }
}

}  // namespace
}  // namespace replay::bench
