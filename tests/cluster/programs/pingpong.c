/* Measures one hop, one allreduce and one barrier of two ranks with 8 bytes. Arguments: seconds per series, "test" to
 * wait by polling MPI_Test. Rank 0 prints "hop_us X allreduce_us Y barrier_us Z". The payload says when to stop, so
 * that the series takes as long on a core that costs 4 ms per message as on one that costs 0.1 us. Compiled a second
 * time as a plug-in (PINGPONG_ENTRY), for a program that loads MPI privately. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PINGPONG_ENTRY
#define PINGPONG_ENTRY main
#endif

enum { BATCH = 20 };

static int polls;

static void receive(long* word, int from) {
  if (!polls) {
    MPI_Recv(word, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Request request;
  int done = 0;
  MPI_Irecv(word, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void send(long* word, int to) {
  if (!polls) {
    MPI_Send(word, 1, MPI_LONG, to, 0, MPI_COMM_WORLD);
    return;
  }
  MPI_Request request;
  int done = 0;
  MPI_Isend(word, 1, MPI_LONG, to, 0, MPI_COMM_WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static double hop_us(int rank, double seconds) {
  const double start = MPI_Wtime();
  long hops = 0, go = 1;
  while (go) {
    if (rank == 0) go = MPI_Wtime() - start < seconds;
    for (int i = 0; i < BATCH; ++i) {
      if (rank == 0) send(&go, 1);
      receive(&go, 1 - rank);
      if (rank == 1) send(&go, 0);
    }
    hops += 2 * BATCH;
  }
  return (MPI_Wtime() - start) / (double)hops * 1e6;
}

static double collective_us(int rank, double seconds, int barriers) {
  const double start = MPI_Wtime();
  long count = 0, go = 1;
  while (go) {
    long mine = 0;
    if (rank == 0) mine = MPI_Wtime() - start < seconds;
    for (int i = 0; barriers && i < BATCH; ++i) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < (barriers ? 1 : BATCH); ++i) MPI_Allreduce(&mine, &go, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    count += BATCH;
  }
  return (MPI_Wtime() - start) / (double)count * 1e6;
}

int PINGPONG_ENTRY(int argc, char** argv);
int PINGPONG_ENTRY(int argc, char** argv) {
  int rank, size;
  const double seconds = argc > 1 ? atof(argv[1]) : 0.2;
  polls = argc > 2 && strcmp(argv[2], "test") == 0;
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    MPI_Finalize();
    return 2;
  }
  hop_us(rank, seconds / 20);
  const double hop = hop_us(rank, seconds);
  const double allreduce = collective_us(rank, seconds, 0);
  const double barrier = collective_us(rank, seconds, 1);
  if (rank == 0) printf("hop_us %.3f allreduce_us %.3f barrier_us %.3f\n", hop, allreduce, barrier);
  MPI_Finalize();
  return 0;
}
