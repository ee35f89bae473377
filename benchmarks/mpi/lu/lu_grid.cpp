#include "benchmarks/mpi/lu/lu_grid.hpp"

#include <mpi.h>

namespace replay::bench::lu {

Shape shape_of(int ranks) {
  int rows = 1;
  while (rows * rows < ranks || ranks % rows != 0) ++rows;
  return {ranks / rows, rows};
}

Grid::Grid(int points, const World& world) : points_(points), shape_(shape_of(world.size)) {
  const int column = world.rank % shape_.columns;
  const int row = world.rank / shape_.columns;
  const int inside = points - 2;
  const Block i = block_of(inside, column, shape_.columns);
  const Block j = block_of(inside, row, shape_.rows);
  begin_i_ = static_cast<int>(i.begin) + 1;  // point 0 is on the boundary
  begin_j_ = static_cast<int>(j.begin) + 1;
  own_i_ = static_cast<int>(i.size());
  own_j_ = static_cast<int>(j.size());
  fewest_i_ = inside / shape_.columns;
  fewest_j_ = inside / shape_.rows;
  west_ = column > 0 ? world.rank - 1 : MPI_PROC_NULL;
  east_ = column + 1 < shape_.columns ? world.rank + 1 : MPI_PROC_NULL;
  south_ = row > 0 ? world.rank - shape_.columns : MPI_PROC_NULL;
  north_ = row + 1 < shape_.rows ? world.rank + shape_.columns : MPI_PROC_NULL;
}

}  // namespace replay::bench::lu
