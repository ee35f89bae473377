/* Two ranks exchange numbers and wait for each by polling, never by a blocking call. Arguments: how (test, testall,
 * testany, testsome, status, iprobe, improbe), how many. Prints "ok" on rank 0 when every number was right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_arrived(const char* how, MPI_Request* request) {
  int done = 0, index;
  MPI_Status status;
  if (strcmp(how, "test") == 0) MPI_Test(request, &done, &status);
  if (strcmp(how, "testall") == 0) MPI_Testall(1, request, &done, &status);
  if (strcmp(how, "testany") == 0) MPI_Testany(1, request, &index, &done, &status);
  if (strcmp(how, "testsome") == 0) MPI_Testsome(1, request, &done, &index, &status);
  if (strcmp(how, "status") == 0) {
    MPI_Request_get_status(*request, &done, &status);
    if (done) MPI_Test(request, &done, &status);
  }
  return done;
}

static int receive(const char* how, int from) {
  int value = -1, done = 0;
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  if (strcmp(how, "iprobe") == 0) {
    while (!done) MPI_Iprobe(from, 0, MPI_COMM_WORLD, &done, &status);
    MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &status);
  } else if (strcmp(how, "improbe") == 0) {
    while (!done) MPI_Improbe(from, 0, MPI_COMM_WORLD, &done, &message, &status);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
  } else {
    MPI_Irecv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &request);
    while (!has_arrived(how, &request)) {
    }
  }
  return value;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "test";
  const int count = argc > 2 ? atoi(argv[2]) : 100;
  int rank, size, wrong = 0, anywhere = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < count; ++i) {
    if (rank == 0) MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    wrong += receive(how, 1 - rank) != i;
    if (rank == 1) MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Allreduce(&wrong, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && anywhere == 0) puts("ok");
  MPI_Finalize();
  return anywhere != 0;
}
