/* Tests MPI_THREAD_MULTIPLE: two ranks with two threads each; thread i of one rank exchanges numbers with thread i of
 * the other, all at the same time. Argument: how many. Prints "ok" on rank 0 when every number was right, "no threads"
 * if MPI has none. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2 };

static int rank, exchanges;
static int wrong[THREADS];

static void* exchange(void* number) {
  const int tag = *(const int*)number;
  for (int i = 0; i < exchanges; ++i) {
    int out = 1000 * i + 10 * rank + tag, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, tag, &in, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in != 1000 * i + 10 * (1 - rank) + tag) ++wrong[tag];
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, size, anywhere = 0;
  exchanges = argc > 1 ? atoi(argv[1]) : 1000;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided != MPI_THREAD_MULTIPLE || size != 2) {
    if (rank == 0) puts("no threads");
    MPI_Finalize();
    return 0;
  }
  int numbers[THREADS] = {0, 1};
  pthread_t other;
  pthread_create(&other, NULL, exchange, &numbers[1]);
  exchange(&numbers[0]);
  pthread_join(other, NULL);
  int failures = wrong[0] + wrong[1];
  MPI_Allreduce(&failures, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && anywhere == 0) puts("ok");
  MPI_Finalize();
  return anywhere != 0;
}
