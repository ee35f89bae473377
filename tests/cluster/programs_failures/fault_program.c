/* An MPI program that misbehaves in a chosen way: fault_program HOW [NUMBER]
 *   early CODE  rank 1 leaves with this exit code before MPI_Init; the others call MPI_Init
 *   late S      rank 1 waits S seconds before MPI_Init, so that rank 0 waits inside
 *   deaf S      ignores SIGTERM, SIGINT and SIGHUP, and computes for S seconds
 *   litter      each rank leaves two children behind that sleep on
 *   daemon S    each rank forks a child that goes on in a session of its own, deaf; the rank works for S seconds
 *   hide S TAG  like daemon, and the child has no environment: it is known by TAG alone, the name that it runs under
 *   vanish      each rank becomes a daemon: the process that was started leaves with code 0, its child sleeps on
 *   count ...   rank 0 prints how many arguments there are and their bytes
 *   write S     writes a line to stdout every 10 ms for S seconds */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char* how, const char* name) { return strcmp(how, name) == 0; }

static void sleep_on(void) {
  while (1) sleep(300);
}

static void be_deaf(void) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
}

/* tag: NULL, or the whole command line of the daemon; then it has no environment either. */
static void leave_daemon_behind(const char* tag) {
  static char* const no_environment[] = {NULL};
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  be_deaf();
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  if (tag != NULL) execle("/bin/sleep", tag, "1000", (char*)NULL, no_environment);
  sleep_on();
}

static void before_init(const char* how, const char* number) {
  const char* rank = getenv("PMI_RANK");
  const int is_rank_1 = rank != NULL && is(rank, "1");
  if (is(how, "early") && is_rank_1) _exit(atoi(number));
  if (is(how, "late") && is_rank_1) sleep((unsigned)atoi(number));
  if (is(how, "vanish") && fork() != 0) _exit(0);
  if (is(how, "vanish")) {
    setsid();
    sleep_on();
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  const char* number = argc > 2 ? argv[2] : "0";
  before_init(how, number);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is(how, "deaf")) be_deaf();
  if (is(how, "litter"))
    for (int child = 0; child < 2; ++child)
      if (fork() == 0) sleep_on();
  if (is(how, "daemon")) leave_daemon_behind(NULL);
  if (is(how, "hide")) leave_daemon_behind(argc > 3 ? argv[3] : "hidden");
  if (is(how, "count") && rank == 0) {
    size_t bytes = 0;
    for (int i = 2; i < argc; ++i) bytes += strlen(argv[i]);
    printf("%d arguments, %zu bytes\n", argc - 2, bytes);
  }
  const double end = MPI_Wtime() + (is(how, "count") ? 0 : atof(number));
  while (MPI_Wtime() < end) {
    if (!is(how, "write")) continue;
    printf("still here\n");
    fflush(stdout);
    usleep(10000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
