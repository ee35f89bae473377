// Start and end of a program, and agreement of its ranks. Arguments are read after MPI_Init: a rank that exits before
// it leaves the others waiting in the start-up exchange for ever.
#include "benchmarks/mpi/common/common.hpp"

#include <mpi.h>

#include <cstdio>
#include <exception>

#include "benchmarks/mpi/common/options.hpp"

namespace replay::bench {

Block block_of(std::int64_t items, int rank, int size) { return {items * rank / size, items * (rank + 1) / size}; }

bool holds_everywhere(bool here) {
  int mine = here ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

double sum_over_ranks(double here) {
  double sum = 0;
  MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int run(int argc, char** argv, int (*body)(const World&, int, char**)) {
  MPI_Init(&argc, &argv);
  World world{};
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  int code = kBroken;
  try {
    code = body(world, argc, argv);
  } catch (const UsageError& error) {
    if (world.is_root()) std::fprintf(stderr, "%s\n", error.what());
    code = kWrongUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", world.rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, kBroken);
  }
  std::fflush(stdout);
  MPI_Finalize();
  return code;
}

}  // namespace replay::bench
