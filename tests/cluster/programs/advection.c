/* The computation of advection.h in C; compiled with OpenMP, too, where the threads of a rank share its cells. */
#include "tests/cluster/programs/advection.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank, size;
static long cells[CELLS], moved[CELLS];

static long exchange(long last, long step) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  long first = -1;
  if (step % 2 == 0) {
    MPI_Sendrecv(&last, 1, MPI_LONG, right, 1, &first, 1, MPI_LONG, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&first, 1, MPI_LONG, left, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&last, 1, MPI_LONG, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
  }
  return first;
}

static long move_all(long first) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < CELLS; ++i) {
    moved[i] = i == 0 ? first : cells[i - 1];
    sum += moved[i];
  }
#pragma omp parallel for
  for (int i = 0; i < CELLS; ++i) cells[i] = moved[i];
  return sum;
}

static int is_right(long steps) {
  const long all = (long)CELLS * size;
  for (int i = 0; i < CELLS; ++i)
    if (cells[i] != initial((((long)rank * CELLS + i - steps) % all + all) % all)) return 0;
  return 1;
}

int main(int argc, char** argv) {
  int stop = 0, provided, right = 1, all_right = 0;
  long steps = 0, expected = 0;
  if (argc != 2) return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < CELLS; ++i) cells[i] = initial((long)rank * CELLS + i);
  for (long cell = 0; cell < (long)CELLS * size; ++cell) expected += initial(cell);
  while (!stop) {
    for (int i = 0; i < ROUND; ++i, ++steps) {
      long total = 0;
      const long mine = move_all(exchange(cells[CELLS - 1], steps));
      MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      right = right && total == expected;
    }
    if (rank == 0) stop = access(argv[1], F_OK) == 0;
    MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  right = right && is_right(steps);
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0 && all_right) printf("VERIFICATION SUCCESSFUL after %ld steps\n", steps);
  MPI_Finalize();
  return !all_right;
}
