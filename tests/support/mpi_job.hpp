// MPI programs as a cluster test starts them: mpiexec with the preload, each rank on a core of the test's choice, output
// and exit code when it is over. REPLAY_VM_LIBRARY is the shared object, REPLAY_TEST_PROGRAM_DIR has the programs of
// tests/cluster/programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/vm_host.hpp"

namespace replay::test {

/// mpiexec is MPICH's. Elsewhere tests of real jobs skip, aloud.
[[nodiscard]] bool has_mpich();

/// The hardware threads that this process may use.
[[nodiscard]] std::vector<int> cores();

/// The path of a program of tests/cluster/programs.
[[nodiscard]] std::string program(const std::string& name);

struct Outcome {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

/// Runs a shell's command to its end.
Outcome run(const std::string& command);

using Environment = std::map<std::string, std::string>;

/// What a rank needs to find vmlib and `host`.
[[nodiscard]] Environment under_replay(const VmHost& host);

/// `ranks` of `command`, rank i on the i-th core of `places`, cyclically, for a minute at most.
Outcome mpi(int ranks, const std::vector<int>& places, const Environment& environment, const std::string& command);

/// The figure behind `name` in a program's line; negative if there is none.
[[nodiscard]] double figure(const std::string& output, const std::string& name);

}  // namespace replay::test
