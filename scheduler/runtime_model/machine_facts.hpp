// Facts of this machine that measured figures depend on, the path of its profile, and the differences of two machines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/runtime_model/profile.hpp"

namespace replay {

/// The MPI of the mpiexec on the PATH, as that says it: "MPICH 4.0.2". Empty: there is none.
[[nodiscard]] std::string mpi_here();

/// This machine with so many `cores` to measure on; `mpi` is mpi_here().
[[nodiscard]] ProfileMachine machine_here(CoreCount cores);

/// Differences that make a profile of `there` doubtful for `here`, in nodes, hosts, CPU, cores, kernel, MPI: "kernel:
/// Linux 6.1.0 there, Linux 6.18.5 here". What one of them does not state is no difference; nor is the machine's name.
[[nodiscard]] std::vector<std::string> differences(const ProfileMachine& there, const ProfileMachine& here);

/// A profile in replay's folder under $XDG_DATA_HOME, else under ~/.local/share. Throws InputError without a home.
[[nodiscard]] std::filesystem::path default_profile_path(const char* name = "profile.json");
inline constexpr const char* kProfileOfHosts = "profile-hosts.json";  ///< for real runs on hosts

}  // namespace replay
