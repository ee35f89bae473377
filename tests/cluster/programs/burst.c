/* A program that is fit for emulated cores: each rank works in bursts until the time is over. Arguments: seconds,
 * microseconds per burst, milliseconds that rank 0 sleeps before it meets the others (0). Rank 0 prints "mpl N wall_ms
 * T work_ms", then the work of each rank. Without vm_burst, or on real cores, it says so and does nothing. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "vmlib/vm_burst.h"

enum { MOST_RANKS = 64 };

const int vm_fit_for_emulation = 1;

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 0.2;
  const uint64_t burst_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1000) * 1000;
  const long late_ms = argc > 3 ? atol(argv[3]) : 0;
  int rank, size;
  struct vm_emulation facts = {0, 0, 0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  if (!vm_emulated || !vm_burst || !vm_emulated(&facts)) {
    if (rank == 0) puts("not emulated");
    MPI_Finalize();
    return 0;
  }
  double work_ms = 0, all[MOST_RANKS];
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  while (MPI_Wtime() - start < seconds) {
    vm_burst(burst_ns);
    work_ms += (double)burst_ns * 1e-6;
  }
  const double wall_ms = (MPI_Wtime() - start) * 1e3;
  if (rank == 0) {
    const struct timespec length = {late_ms / 1000, late_ms % 1000 * 1000000};
    nanosleep(&length, NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Gather(&work_ms, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("mpl %u wall_ms %.3f work_ms", facts.mpl, wall_ms);
    for (int i = 0; i < size; ++i) printf(" %.3f", all[i]);
    puts("");
  }
  MPI_Finalize();
  return 0;
}
