#include "vmlib/mpi_calls.hpp"

#include <mpi.h>

#include "vmlib/next_symbol.hpp"

namespace replay::vm {
namespace {

template <class Function>
Function* mpi_function(const char* name) {
  return reinterpret_cast<Function*>(next_symbol(name));
}

}  // namespace

std::string_view library_version() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  auto* ask = mpi_function<decltype(PMPI_Get_library_version)>("PMPI_Get_library_version");
  if (ask == nullptr || ask(text, &length) != MPI_SUCCESS || length <= 0) return {};
  return {text, static_cast<std::size_t>(length)};
}

bool may_have_threads() {
  int provided = MPI_THREAD_SINGLE;
  auto* ask = mpi_function<decltype(PMPI_Query_thread)>("PMPI_Query_thread");
  return ask != nullptr && ask(&provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE;
}

void barrier_of_the_world() {
  if (auto* barrier = mpi_function<decltype(PMPI_Barrier)>("PMPI_Barrier")) barrier(MPI_COMM_WORLD);
}

void poll_once() {
  int is_there = 0;
  auto* probe = mpi_function<decltype(PMPI_Iprobe)>("PMPI_Iprobe");
  if (probe != nullptr) probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
}

}  // namespace replay::vm
