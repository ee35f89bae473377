/* A program that is linked to no MPI and loads a module of another one: loads_other_mpi MODULE SECONDS */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  void* const module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (module == NULL) return 1;
  int (*start)(void) = NULL;
  *(void**)&start = dlsym(module, "start_mpi");
  if (start == NULL || start() != 0) return 1;
  puts("a world of one");
  fflush(stdout);
  sleep(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
  return 0;
}
