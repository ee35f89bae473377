// Programs of another MPI. mpiexec of MPICH starts them, and each process is then a world of one rank that does the
// whole work: n results in place of one, and exit status 0. What a program is linked to tells most of them before they
// start; vmlib, or what a process has mapped, tells the others (OtherMpiWatch). The same look tells whether a program can have
// vmlib.
#pragma once

#include <filesystem>
#include <string>

namespace replay::launcher {

/// The library of another MPI among those that this ELF file names itself (DT_NEEDED). Empty: none, or the file is no
/// dynamic program of this machine, or damaged.
[[nodiscard]] std::string other_mpi_needed_by(const std::filesystem::path& program);

/// Whether the ELF file names a library that ends the program if another one is preloaded before it: AddressSanitizer's.
[[nodiscard]] bool refuses_preload(const std::filesystem::path& program);

/// For the user: why a job of more than one rank cannot be run so. `library` is what gives the other MPI away.
[[nodiscard]] std::string why_no_other_mpi(const std::string& program, const std::string& library);

}  // namespace replay::launcher
