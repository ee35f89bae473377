// The text of MPI_Get_library_version, and what follows from it.
#pragma once

#include <string_view>

namespace replay::vm {

/// Whether this is MPICH or a relative; vmlib stays passive in a program of another MPI (Open MPI).
[[nodiscard]] bool is_mpich(std::string_view library_version);

/// MPICH on UCX before 4.2 can hang in MPI_Finalize over TCP: one rank waits in ucp_disconnect_nb for a peer that sits
/// in the process manager's barrier and polls no more. Cause and repair: pmodels/mpich pull request 6596 (July 2023).
/// The cure can go when 4-rank jobs with UCX_TLS=tcp,self end every time without the cure.
[[nodiscard]] bool hangs_in_finalize(std::string_view library_version);

}  // namespace replay::vm
