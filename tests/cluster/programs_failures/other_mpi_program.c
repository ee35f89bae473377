/* A program linked to another MPI: other_mpi_program SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Comm_size(int comm, int* size);
int MPI_Finalize(void);

int main(int argc, char** argv) {
  const unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(0, &size);
  printf("one of %d\n", size);
  fflush(stdout);
  sleep(seconds);
  MPI_Finalize();
  return 0;
}
