// A complex field on a grid, cut into slabs, and its three-dimensional Fourier transforms. In space a rank owns some
// planes of z, whole in x and y, so it transforms along x and y alone; the spectrum is cut along y, so that z is whole
// there. Between the two lies one MPI_Alltoallv in which everything but the part that stays on its rank moves. Buffers
// are laid out so that MPI takes each rank's part as it lies: packing and unpacking are what the transforms along y
// and z do anyway when they read and write columns. Blocks may be uneven; any number of ranks up to the planes of z.
#pragma once

#include <span>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/ft/fft.hpp"

namespace replay::bench {

/// Points of a grid in each direction; x varies fastest.
struct Grid {
  std::size_t nx;
  std::size_t ny;
  std::size_t nz;

  std::size_t points() const { return nx * ny * nz; }
};

/// Real factors of a spectrum: that of wave number (i, j, k) is x[i] * y[j] * z[k].
struct SeparableFactors {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;
};

/// One field in space and its spectrum, three slabs in all. Calls of forward() and inverse() are collective.
class SlabField {
 public:
  /// REQUIRES: all sizes of the grid are powers of two, nx and ny from 8 up; at most min(ny, nz) ranks.
  SlabField(const Grid& grid, const World& world);

  /// This rank's planes of z, and rows of the spectrum's y.
  Block planes() const { return z_blocks_[me_]; }
  Block rows() const { return y_blocks_[me_]; }

  /// The field in space on planes(), laid out [z][y][x].
  std::span<Complex> space() { return {space_.data(), slab_points()}; }

  /// The field's value at a point of planes().
  const Complex& at(std::size_t x, std::size_t y, std::size_t z) const {
    return space_[((z - static_cast<std::size_t>(planes().begin)) * grid_.ny + y) * grid_.nx + x];
  }

  /// Field to spectrum. The field is lost.
  void forward();

  /// Multiplies the spectrum by `factors`, and sets the field to its transform, not scaled.
  void inverse(const SeparableFactors& factors);

 private:
  static constexpr std::size_t kColumns = ColumnFft::kColumns;

  struct Transforms {
    ColumnFft x;
    ColumnFft y;
    ColumnFft z;

    Transforms(const Grid& grid, Direction direction)
        : x(grid.nx, direction), y(grid.ny, direction), z(grid.nz, direction) {}
  };

  std::size_t slab_points() const { return static_cast<std::size_t>(planes().size()) * grid_.ny * grid_.nx; }
  /// Where the planes that rank `rank` has of row `row` (of this rank) start, in a buffer cut by ranks' planes.
  std::size_t row_of_rank(std::size_t rank, std::size_t row) const;
  void transform_rows(ColumnFft& fft, Complex* plane) const;
  void exchange(const std::vector<Complex>& from, const std::vector<Block>& from_blocks, std::vector<Complex>& to,
                const std::vector<Block>& to_blocks) const;

  Grid grid_;
  std::size_t me_;
  std::vector<Block> z_blocks_;  // of all ranks
  std::vector<Block> y_blocks_;
  Transforms forward_;
  Transforms inverse_;
  // `space_` holds the field; in between it and `moving_` hold it cut by ranks, as columns [y][z][x] where z is cut and
  // as parts [rank][y][z][x] where y is.
  std::vector<Complex> space_;
  std::vector<Complex> moving_;
  std::vector<Complex> spectrum_;  // [y][z][x]
};

}  // namespace replay::bench
