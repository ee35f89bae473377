/* A program without MPI that loads one privately, as an interpreter loads an extension module:
 * private_mpi PLUGIN.so [ARGUMENT]... */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  int (*run)(int, char**) = (int (*)(int, char**))dlsym(plugin, "pingpong");
  return run ? run(argc - 1, argv + 1) : 2;
}
