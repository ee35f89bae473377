#include "vmlib/next_symbol.hpp"

#include <dlfcn.h>

namespace replay::vm {
namespace {

// RTLD_NEXT does not see libraries that the program loads privately (dlopen without RTLD_GLOBAL, as Python does with an
// extension module), although calls from there reach us. Listed: MPICH and its ABI relatives, then UCX.
constexpr const char* kLibraries[] = {"libmpich.so.12",   "libmpi.so.12", "libmpichfort.so.12",
                                      "libmpifort.so.12", "libmpi.so.40", "libucp.so.0"};

}  // namespace

void* next_symbol(const char* name) {
  if (void* found = ::dlsym(RTLD_NEXT, name)) return found;
  for (const char* library : kLibraries) {
    void* handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* found = ::dlsym(handle, name);
    ::dlclose(handle);  // NOLOAD took a reference; the program holds its own
    if (found != nullptr) return found;
  }
  return nullptr;
}

void* NextFunction::look_up() {
  void* found = next_symbol(name_);
  found_.store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace replay::vm
