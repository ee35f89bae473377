// Finds what a test of the program with real MPI jobs needs: mpiexec and two cores.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "launcher/os/topology.hpp"
#include "scheduler/base/file/paths.hpp"

namespace replay::test {

struct TwoCores {
  std::string list;     ///< by OS index, "0,1"
  std::string missing;  ///< why the test has to skip; empty if it can run
};

[[nodiscard]] inline TwoCores two_cores() {
  if (!find_program("mpiexec")) return {{}, "mpiexec (MPICH) is not on the PATH"};
  const std::vector<launcher::PuId> mask = launcher::affinity_mask();
  if (mask.size() < 2) return {{}, fmt::format("two cores are needed, {} may be used", mask.size())};
  return {fmt::format("{},{}", mask[0], mask[1]), {}};
}

}  // namespace replay::test
