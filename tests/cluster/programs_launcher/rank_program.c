/* An MPI program for the launcher's tests: rank_program HOW [SECONDS]
 *   talk S     allreduce for S seconds, or until there is a file "end", then a verified result
 *   tell S     the same, and rank 0 prints "talking" when all are
 *   desert S   as compute, but the last rank exits with code 5 without MPI_Finalize when all are there
 *   compute S  busy without MPI for S seconds, then a verified result
 *   doze S     rank 0 sleeps for S seconds while the others wait for it in MPI, then a verified result
 *   wrong      finalizes and says that its result is wrong
 *   return     finalizes, then exit code 4
 *   leave      rank 1 exits with code 0 without MPI_Finalize, others too
 *   share      is one that is killed in MPI_Init: makes MPICH's file in /dev/shm, and a second one as UCX does; writes both
 *              names into the file "made", and stays
 *   stray      leaves a process behind in a session of its own, without open descriptors
 *   lag        rank 0 exits with code 3 without MPI_Finalize, and is reaped before its connection to Hydra closes
 *   crash      rank 1 gets a segmentation fault */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void leave_stray_process(void) {
  if (fork() != 0) return;
  setsid();
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  sleep(300);
  _exit(0);
}

static void make_shared_files(void) {
  char mpichs[] = "/dev/shm/mpich_shar_tmpXXXXXX", ucxs[256];
  const char* folder = getenv("UCX_POSIX_DIR");
  snprintf(ucxs, sizeof ucxs, "%s/ucx_shm_posix_%x", folder == NULL ? "/dev/shm" : folder, (unsigned)getpid());
  if (mkstemp(mpichs) < 0 || open(ucxs, O_CREAT | O_EXCL | O_RDWR, 0600) < 0) _exit(1);
  FILE* names = fopen("names", "w");
  fprintf(names, "%s\n%s\n", mpichs, ucxs);
  fclose(names);
  rename("names", "made");
  sleep(300);
}

/* A child keeps the connection until the proxy, which looks when there is output, has reaped the rank. */
static void exit_before_connection(void) {
  char rank[40];
  snprintf(rank, sizeof rank, "/proc/%d", (int)getpid());
  if (fork() != 0) _exit(3);
  while (access(rank, F_OK) == 0) {
    if (write(STDOUT_FILENO, ".\n", 2) < 0) break;
    usleep(1000);
  }
  _exit(0);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "share") == 0) make_shared_files();
  if (argc > 1 && strcmp(argv[1], "stray") == 0) leave_stray_process();
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* how = argc > 1 ? argv[1] : "talk";
  const double length = argc > 2 ? atof(argv[2]) : 0.1;
  const double end = MPI_Wtime() + length;
  int is_right = strcmp(how, "wrong") != 0;
  if (strcmp(how, "leave") == 0) exit(0);
  if (strcmp(how, "lag") == 0 && rank == 0) exit_before_connection();
  if (strcmp(how, "crash") == 0 && rank == 1) raise(SIGSEGV);
  if (strcmp(how, "desert") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) exit(5);
  }
  if (strcmp(how, "compute") == 0 || strcmp(how, "desert") == 0) {
    while (MPI_Wtime() < end) continue;
  } else if (strcmp(how, "doze") == 0) {
    if (rank == 0) usleep((useconds_t)(length * 1e6));
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    for (int goes_on = 1; goes_on;) {
      int mine = rank == 0 && (MPI_Wtime() >= end || access("end", F_OK) == 0), sum = 0, one = 1;
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      if (sum != size) is_right = 0;
      if (strcmp(how, "tell") == 0 && rank == 0) {
        puts("talking");
        fflush(stdout);
        how = "talk";
      }
      MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
      goes_on = !mine;
    }
  }
  if (rank == 0) printf("VERIFICATION %s\n", is_right ? "SUCCESSFUL" : "FAILED");
  MPI_Finalize();
  return strcmp(how, "return") == 0 ? 4 : 0;
}
