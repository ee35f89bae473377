// The exchange goes once in each of the four senses: what is sent to the east is received from the west, and so on. A
// rank with one point only passes on, as its second layer, what it has just got from the other side.
#include "benchmarks/mpi/lu/lu_field.hpp"

#include <mpi.h>

#include <algorithm>

namespace replay::bench::lu {
namespace {

constexpr int kHaloTag = 1;

/// Points [first_i, end_i) x [first_j, end_j) of all inner planes.
struct Slab {
  int first_i;
  int end_i;
  int first_j;
  int end_j;

  int points() const { return (end_i - first_i) * (end_j - first_j); }
};

void pack(const Field& field, const Grid& grid, const Slab& slab, double* out) {
  for (int m = 0; m < kQuantities; ++m) {
    for (int k = 1; k < grid.points() - 1; ++k) {
      for (int j = slab.first_j; j < slab.end_j; ++j) {
        const double* const row = field[m] + grid.at(slab.first_i, j, k);
        out = std::copy(row, row + (slab.end_i - slab.first_i), out);
      }
    }
  }
}

void unpack(Field& field, const Grid& grid, const Slab& slab, const double* in) {
  const int length = slab.end_i - slab.first_i;
  for (int m = 0; m < kQuantities; ++m) {
    for (int k = 1; k < grid.points() - 1; ++k) {
      for (int j = slab.first_j; j < slab.end_j; ++j, in += length)
        std::copy(in, in + length, field[m] + grid.at(slab.first_i, j, k));
    }
  }
}

struct Step {
  Slab given;
  int to;
  Slab taken;
  int from;
};

void exchange(Field& field, const Grid& grid, const Step& step, std::vector<double>& sent,
              std::vector<double>& received) {
  const int numbers = step.given.points() * (grid.points() - 2) * kQuantities;
  if (step.to != MPI_PROC_NULL) pack(field, grid, step.given, sent.data());
  MPI_Sendrecv(sent.data(), numbers, MPI_DOUBLE, step.to, kHaloTag, received.data(), numbers, MPI_DOUBLE, step.from,
               kHaloTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (step.from != MPI_PROC_NULL) unpack(field, grid, step.taken, received.data());
}

}  // namespace

FrameExchange::FrameExchange(const Grid& grid) : grid_(grid) {
  const auto longest = static_cast<std::size_t>(std::max(grid.own_i(), grid.own_j()));
  const auto planes = static_cast<std::size_t>(grid.points() - 2);
  sent_.resize(kFrame * longest * planes * kQuantities);
  received_.resize(sent_.size());
}

void FrameExchange::operator()(Field& field) {
  const int depth_i = std::min(kFrame, grid_.fewest_i());
  for (int layer = 0; layer < kFrame; layer += depth_i) along_i(field, layer, depth_i);
  const int depth_j = std::min(kFrame, grid_.fewest_j());
  for (int layer = 0; layer < kFrame; layer += depth_j) along_j(field, layer, depth_j);
}

/// `layer` layers lie between what is sent and the edge.
void FrameExchange::along_i(Field& field, int layer, int depth) {
  const int n = grid_.own_i();
  const int rows = grid_.own_j();
  const Step eastward{
      {n - layer - depth, n - layer, 0, rows}, grid_.east(), {-layer - depth, -layer, 0, rows}, grid_.west()};
  const Step westward{
      {layer, layer + depth, 0, rows}, grid_.west(), {n + layer, n + layer + depth, 0, rows}, grid_.east()};
  exchange(field, grid_, eastward, sent_, received_);
  exchange(field, grid_, westward, sent_, received_);
}

void FrameExchange::along_j(Field& field, int layer, int depth) {
  const int n = grid_.own_j();
  const int length = grid_.own_i();
  const Step northward{
      {0, length, n - layer - depth, n - layer}, grid_.north(), {0, length, -layer - depth, -layer}, grid_.south()};
  const Step southward{
      {0, length, layer, layer + depth}, grid_.south(), {0, length, n + layer, n + layer + depth}, grid_.north()};
  exchange(field, grid_, northward, sent_, received_);
  exchange(field, grid_, southward, sent_, received_);
}

}  // namespace replay::bench::lu
