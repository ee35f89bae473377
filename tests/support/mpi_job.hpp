// Runs MPI programs for cluster tests: mpiexec with the preload, each rank on a core of the test's choice; gives the
// output and the exit code. REPLAY_VM_LIBRARY is the shared object, REPLAY_TEST_PROGRAM_DIR has the programs of
// tests/cluster/programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/vm_host.hpp"

namespace replay::test {

/// Whether mpiexec is MPICH's. Elsewhere tests of real jobs skip with a message.
[[nodiscard]] bool has_mpich();

/// The hardware threads that this process may use.
[[nodiscard]] std::vector<int> cores();

/// The path of a program of tests/cluster/programs.
[[nodiscard]] std::string program(const std::string& name);

struct Outcome {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

/// Runs a shell command to its end.
Outcome run(const std::string& command);

using Environment = std::map<std::string, std::string>;

/// The environment that a rank needs to find vmlib and `host`.
[[nodiscard]] Environment under_replay(const VmHost& host);

/// Runs `command` with this many ranks, rank i on core places[i % places.size()], for a minute at most.
Outcome mpi(int ranks, const std::vector<int>& places, const Environment& environment, const std::string& command);

/// The number after `name` in a program's output; negative if there is none.
[[nodiscard]] double figure(const std::string& output, const std::string& name);

}  // namespace replay::test
