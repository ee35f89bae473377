// Blocking calls as loops of tests, for an MPI with a progress function that cannot be hooked: MPI_Recv becomes
// MPI_Irecv and MPI_Test until it is done. Each test that finds nothing is an idle poll, so that the same rule as in
// progress mode gives the core away (rank.hpp). A program sees the same as from the blocking call: buffers, status, and
// each error once, at the error handler of the same communicator.
//
// Only functions with a faithful nonblocking form are here, the TESTABLE entries of mpi_functions.def. Collectives are
// not: the standard forbids that one rank calls MPI_Bcast where another one calls MPI_Ibcast.
#pragma once

namespace replay::vm {

using OnIdlePoll = void (*)();

/// Finds the calls that the loops are made of, by name; `on_idle_poll` is called after each test that found nothing.
/// False: MPI lacks one of them, and no loop may be called.
[[nodiscard]] bool prepare_test_loops(void* (*find)(const char* name), OnIdlePoll on_idle_poll);

/// One loop per TESTABLE entry. Each has the signature of its function in mpi.h, which only test_loops.cpp can see: the
/// wrappers define these functions with words for arguments.
struct TestLoops {
  using Function = void (*)();
#define BLOCKING(name, count)
#define TESTABLE(name, count) Function name;
#include "vmlib/mpi_functions.def"
#undef BLOCKING
};
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): addresses of functions, which the linker fills in
extern const TestLoops kTestLoops;

}  // namespace replay::vm
