// Each pass reads columns from one layout and writes them in the next: there is no pass that only copies.
#include "benchmarks/mpi/ft/ft_slabs.hpp"

#include <mpi.h>

#include <algorithm>

namespace replay::bench {
namespace {

std::size_t size_of(const Block& block) { return static_cast<std::size_t>(block.size()); }

std::vector<Block> blocks_of(std::size_t items, int ranks) {
  std::vector<Block> blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) blocks.push_back(block_of(static_cast<std::int64_t>(items), rank, ranks));
  return blocks;
}

}  // namespace

SlabField::SlabField(const Grid& grid, const World& world)
    : grid_(grid),
      me_(static_cast<std::size_t>(world.rank)),
      z_blocks_(blocks_of(grid.nz, world.size)),
      y_blocks_(blocks_of(grid.ny, world.size)),
      forward_(grid, Direction::kForward),
      inverse_(grid, Direction::kInverse) {
  const std::size_t spectrum_points = size_of(rows()) * grid.nz * grid.nx;
  space_.resize(std::max(slab_points(), spectrum_points));
  moving_.resize(space_.size());
  spectrum_.resize(spectrum_points);
}

std::size_t SlabField::row_of_rank(std::size_t rank, std::size_t row) const {
  const Block& planes = z_blocks_[rank];
  return (static_cast<std::size_t>(planes.begin) * size_of(rows()) + row * size_of(planes)) * grid_.nx;
}

void SlabField::transform_rows(ColumnFft& fft, Complex* plane) const {
  const std::size_t nx = grid_.nx;
  for (std::size_t y = 0; y < grid_.ny; y += kColumns) {
    Complex* const rows = plane + y * nx;
    for (std::size_t x = 0; x < nx; ++x) {
      double* const in = fft.input(x);
      for (std::size_t i = 0; i < kColumns; ++i) {
        in[i] = rows[i * nx + x].real();
        in[i + kColumns] = rows[i * nx + x].imag();
      }
    }
    fft.run();
    for (std::size_t x = 0; x < nx; ++x) {
      const double* const out = fft.output(x);
      for (std::size_t i = 0; i < kColumns; ++i) rows[i * nx + x] = Complex{out[i], out[i + kColumns]};
    }
  }
}

void SlabField::forward() {
  const auto [nx, ny, nz] = grid_;
  const std::size_t own_planes = size_of(planes());
  auto& [along_x, along_y, along_z] = forward_;
  for (std::size_t z = 0; z < own_planes; ++z) {
    Complex* const plane = space_.data() + z * ny * nx;
    transform_rows(along_x, plane);
    for (std::size_t x = 0; x < nx; x += kColumns) {
      for (std::size_t y = 0; y < ny; ++y) along_y.load(y, plane + y * nx + x);
      along_y.run();
      for (std::size_t y = 0; y < ny; ++y) along_y.store(y, moving_.data() + (y * own_planes + z) * nx + x);
    }
  }
  exchange(moving_, y_blocks_, space_, z_blocks_);
  const std::vector<Complex>& arrived = z_blocks_.size() == 1 ? moving_ : space_;
  for (std::size_t row = 0; row < size_of(rows()); ++row) {
    Complex* const spectrum = spectrum_.data() + row * nz * nx;
    for (std::size_t x = 0; x < nx; x += kColumns) {
      std::size_t z = 0;
      for (std::size_t rank = 0; rank < z_blocks_.size(); ++rank) {
        const Complex* part = arrived.data() + row_of_rank(rank, row) + x;
        for (std::size_t i = 0; i < size_of(z_blocks_[rank]); ++i, part += nx) along_z.load(z++, part);
      }
      along_z.run();
      for (z = 0; z < nz; ++z) along_z.store(z, spectrum + z * nx + x);
    }
  }
}

void SlabField::inverse(const SeparableFactors& factors) {
  const auto [nx, ny, nz] = grid_;
  const std::size_t own_planes = size_of(planes());
  auto& [along_x, along_y, along_z] = inverse_;
  std::vector<Complex>& leaving = z_blocks_.size() == 1 ? moving_ : space_;
  for (std::size_t row = 0; row < size_of(rows()); ++row) {
    Complex* const spectrum = spectrum_.data() + row * nz * nx;
    const double factor_y = factors.y[static_cast<std::size_t>(rows().begin) + row];
    for (std::size_t x = 0; x < nx; x += kColumns) {
      for (std::size_t z = 0; z < nz; ++z) {
        const double factor_yz = factor_y * factors.z[z];
        Complex* const values = spectrum + z * nx + x;
        for (std::size_t i = 0; i < kColumns; ++i) values[i] *= factor_yz * factors.x[x + i];
        along_z.load(z, values);
      }
      along_z.run();
      std::size_t z = 0;
      for (std::size_t rank = 0; rank < z_blocks_.size(); ++rank) {
        Complex* part = leaving.data() + row_of_rank(rank, row) + x;
        for (std::size_t i = 0; i < size_of(z_blocks_[rank]); ++i, part += nx) along_z.store(z++, part);
      }
    }
  }
  exchange(space_, z_blocks_, moving_, y_blocks_);
  for (std::size_t z = 0; z < own_planes; ++z) {
    Complex* const plane = space_.data() + z * ny * nx;
    for (std::size_t x = 0; x < nx; x += kColumns) {
      for (std::size_t y = 0; y < ny; ++y) along_y.load(y, moving_.data() + (y * own_planes + z) * nx + x);
      along_y.run();
      for (std::size_t y = 0; y < ny; ++y) along_y.store(y, plane + y * nx + x);
    }
    transform_rows(along_x, plane);
  }
}

// Rank r gets what belongs to its block of `from_blocks`, of the other direction all that this rank has; from rank s
// come the planes or rows of its block of `to_blocks`. On one rank both layouts are the same: callers use one buffer.
void SlabField::exchange(const std::vector<Complex>& from, const std::vector<Block>& from_blocks,
                         std::vector<Complex>& to, const std::vector<Block>& to_blocks) const {
  const std::size_t ranks = from_blocks.size();
  if (ranks == 1) return;
  std::vector<int> send_counts;
  std::vector<int> send_offsets;
  std::vector<int> receive_counts;
  std::vector<int> receive_offsets;
  const auto points = [this](std::int64_t planes, std::int64_t rows) {
    return static_cast<int>(planes * rows * static_cast<std::int64_t>(grid_.nx));
  };
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    send_counts.push_back(points(from_blocks[rank].size(), to_blocks[me_].size()));
    send_offsets.push_back(points(from_blocks[rank].begin, to_blocks[me_].size()));
    receive_counts.push_back(points(to_blocks[rank].size(), from_blocks[me_].size()));
    receive_offsets.push_back(points(to_blocks[rank].begin, from_blocks[me_].size()));
  }
  MPI_Alltoallv(from.data(), send_counts.data(), send_offsets.data(), MPI_C_DOUBLE_COMPLEX, to.data(),
                receive_counts.data(), receive_offsets.data(), MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
}

}  // namespace replay::bench
