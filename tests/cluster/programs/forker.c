/* Each rank has a child that is no rank: one that runs a shell, and one that is forked, does not exec, and outlives the
 * rank by some time (argument: seconds), touching whatever it inherited of MPI as little as a program should. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
  MPI_Init(&argc, &argv);
  if (system("exec true") != 0) return 3;
  const pid_t child = fork();
  if (child == 0) {
    for (int fd = 0; fd < 3; ++fd) close(fd);
    setsid();
    sleep(seconds);
    _exit(0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return child > 0 ? 0 : 4;
}
