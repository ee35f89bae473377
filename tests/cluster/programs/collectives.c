/* Calls every family of blocking MPI functions and checks each result; any number of ranks. Prints "ok" on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, ROUNDS = 20 };

static int rank, size, failures;

static void expect(int is_true, const char* what) {
  if (is_true) return;
  ++failures;
  fprintf(stderr, "rank %d: wrong result of %s\n", rank, what);
}

static void point_to_point(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int out = rank, in = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in == left, "Sendrecv");
  in = rank;
  MPI_Sendrecv_replace(&in, 1, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in == left, "Sendrecv_replace");

  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(&in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Issend(&out, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  expect(in == left, "Waitall");

  enum { LARGE = 1 << 18 };
  char* large = calloc(2, LARGE);
  memset(large, rank + 1, LARGE);
  MPI_Irecv(large + LARGE, LARGE, MPI_CHAR, left, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Send(large, LARGE, MPI_CHAR, right, 3, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect(large[LARGE] == left + 1 && large[2 * LARGE - 1] == left + 1, "Send of 256 KiB");
  free(large);

  MPI_Isend(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Message message;
  MPI_Status status;
  MPI_Probe(left, 4, MPI_COMM_WORLD, &status);
  MPI_Mprobe(left, 4, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
  expect(in == left, "Mrecv");
  int which = -1;
  MPI_Waitany(1, requests, &which, MPI_STATUS_IGNORE);
  expect(which == 0, "Waitany");
  MPI_Isend(&out, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int done = 0;
  MPI_Waitsome(1, requests, &done, &which, statuses);
  expect(done == 1 && in == left, "Waitsome");
}

static void collectives(MPI_Comm comm) {
  int all[MOST_RANKS], mine[MOST_RANKS], counts[MOST_RANKS], offsets[MOST_RANKS], sum = 0, value;
  MPI_Datatype types[MOST_RANKS];
  int byte_offsets[MOST_RANKS];
  const int total = size * (size - 1) / 2;
  for (int i = 0; i < size; ++i) {
    counts[i] = 1;
    offsets[i] = i;
    byte_offsets[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
    mine[i] = rank * size + i;
  }
  MPI_Barrier(comm);
  value = rank == 0 ? 42 : 0;
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  expect(value == 42, "Bcast");
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
  expect(rank != 0 || sum == total, "Reduce");
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum == total, "Allreduce");
  value = rank;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, comm);
  expect(value == size - 1, "Allreduce in place");
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
  expect(rank != 0 || all[size - 1] == size - 1, "Gather");
  MPI_Gatherv(&rank, 1, MPI_INT, all, counts, offsets, MPI_INT, 0, comm);
  expect(rank != 0 || all[size - 1] == size - 1, "Gatherv");
  MPI_Scatter(offsets, 1, MPI_INT, &value, 1, MPI_INT, 0, comm);
  expect(value == rank, "Scatter");
  MPI_Scatterv(offsets, counts, offsets, MPI_INT, &value, 1, MPI_INT, 0, comm);
  expect(value == rank, "Scatterv");
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
  expect(all[size - 1] == size - 1, "Allgather");
  MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, offsets, MPI_INT, comm);
  expect(all[size - 1] == size - 1, "Allgatherv");
  MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
  expect(all[size - 1] == (size - 1) * size + rank, "Alltoall");
  MPI_Alltoallv(mine, counts, offsets, MPI_INT, all, counts, offsets, MPI_INT, comm);
  expect(all[size - 1] == (size - 1) * size + rank, "Alltoallv");
  MPI_Alltoallw(mine, counts, byte_offsets, types, all, counts, byte_offsets, types, comm);
  expect(all[size - 1] == (size - 1) * size + rank, "Alltoallw");
  MPI_Reduce_scatter(offsets, &value, counts, MPI_INT, MPI_SUM, comm);
  expect(value == rank * size, "Reduce_scatter");
  MPI_Reduce_scatter_block(offsets, &value, 1, MPI_INT, MPI_SUM, comm);
  expect(value == rank * size, "Reduce_scatter_block");
  MPI_Scan(&rank, &value, 1, MPI_INT, MPI_SUM, comm);
  expect(value == rank * (rank + 1) / 2, "Scan");
  MPI_Exscan(&rank, &value, 1, MPI_INT, MPI_SUM, comm);
  expect(rank == 0 || value == rank * (rank - 1) / 2, "Exscan");
}

static void communicators(void) {
  MPI_Comm copy, part, ring, between, merged;
  int part_size, low = rank < size / 2, value = -1, neighbours[2] = {-1, -1};
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, low, rank, &part);
  MPI_Comm_size(part, &part_size);
  expect(part_size == (low ? size / 2 : size - size / 2), "Comm_split");
  if (size > 1) {
    MPI_Intercomm_create(part, 0, copy, low ? size / 2 : 0, 7, &between);
    MPI_Intercomm_merge(between, low, &merged);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, merged);
    expect(value == size * (size - 1) / 2, "Intercomm_merge");
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
  }
  const int periodic = 1;
  MPI_Cart_create(copy, 1, &size, &periodic, 0, &ring);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, neighbours, 1, MPI_INT, ring);
  expect(neighbours[0] == (rank + size - 1) % size && neighbours[1] == (rank + 1) % size, "Neighbor_allgather");
  MPI_Comm_free(&ring);
  MPI_Comm_free(&part);
  MPI_Comm_free(&copy);
}

/* Checks only that it ends: Debian's MPICH 4.0.2 gets wrong values from the same node, with or without vmlib. */
static void one_sided(void) {
  int *window_memory, value = -1;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
  MPI_Win_fence(0, window);
  *window_memory = rank;
  MPI_Win_fence(0, window);
  MPI_Get(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, window);
  MPI_Get(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_flush((rank + 1) % size, window);
  MPI_Win_unlock((rank + 1) % size, window);
  MPI_Win_free(&window);
}

static void files(const char* path) {
  MPI_File file;
  int value = -1;
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS) {
    expect(0, "File_open");
    return;
  }
  MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof(int), &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_File_read_at_all(file, rank * (MPI_Offset)sizeof(int), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  expect(value == rank, "File_read_at_all");
  MPI_File_close(&file);
}

/* Arguments: a path for a shared file (optional). */
int main(int argc, char** argv) {
  int provided, anywhere = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < ROUNDS; ++i) {
    point_to_point();
    collectives(MPI_COMM_WORLD);
  }
  communicators();
  one_sided();
  if (argc > 1) files(argv[1]);
  MPI_Allreduce(&failures, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && anywhere == 0) puts("ok");
  MPI_Finalize();
  return anywhere != 0;
}
