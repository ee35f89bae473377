/* Uses no MPI; linked statically, so that nothing can be preloaded into it: no_mpi SECONDS */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
  return 0;
}
