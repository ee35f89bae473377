// The few MPI calls that vmlib makes itself, all by name at run time: there is no link to MPI.
#pragma once

#include <string_view>

namespace replay::vm {

/// The text of MPI_Get_library_version, which may be called before MPI_Init. Empty: there is no MPI in this process.
[[nodiscard]] std::string_view library_version();

/// Whether several threads may call MPI at once (MPI_THREAD_MULTIPLE). REQUIRES: MPICH, initialised.
[[nodiscard]] bool may_have_threads();

/// A barrier of MPI_COMM_WORLD. REQUIRES: MPICH, initialised.
void barrier_of_the_world();

/// Probes for a message, which runs the progress engine once and changes nothing. In a world of one rank MPICH does not
/// run it. REQUIRES: MPICH, initialised.
void poll_once();

}  // namespace replay::vm
