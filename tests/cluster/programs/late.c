/* Rank 0 sleeps before a barrier in which the others wait. Argument: milliseconds. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  const long ms = argc > 1 ? atol(argv[1]) : 100;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&length, NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
