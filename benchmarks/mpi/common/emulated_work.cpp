// vmlib's functions are weak: without vmlib they are null, and every rank computes for real.
#include "benchmarks/mpi/common/emulated_work.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

#include "benchmarks/mpi/common/common.hpp"
#include "vmlib/vm_burst.h"

namespace replay::bench {
namespace {

constexpr std::uint64_t kUsualQuantum = 10'000;  // us, where vmlib does not say

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

double slowdown_now() { return vm_slowdown != nullptr ? vm_slowdown() : 1; }

std::optional<Emulation> find_emulation() {
  vm_emulation facts{};
  const bool here = vm_emulated != nullptr && vm_burst != nullptr && vm_emulated(&facts) == 1;
  if (!holds_everywhere(here)) return std::nullopt;
  // All ranks use the clock and the facts of the first one: ranks that leave out different amounts would wait for each
  // other.
  const std::uint64_t now = now_ns();
  std::array<std::uint64_t, 5> told{now > facts.start_ns ? now - facts.start_ns : 0, facts.end_cost_ns, facts.mpl,
                                    facts.quantum_us, static_cast<std::uint64_t>(slowdown_now() * 1e6)};
  MPI_Bcast(told.data(), static_cast<int>(told.size()), MPI_UINT64_T, 0, MPI_COMM_WORLD);
  const std::uint64_t quantum = told[3] > 0 ? told[3] : kUsualQuantum;
  return Emulation{static_cast<double>(told[0]) * 1e-9, static_cast<double>(told[1]) * 1e-9,
                   static_cast<int>(std::max<std::uint64_t>(1, told[2])),
                   Nanoseconds{static_cast<std::int64_t>(quantum) * 1000}, static_cast<double>(told[4]) * 1e-6};
}

double deduction(const Emulation& emulation, double cpu_use) {
  const double on_its_cores = std::max(1.0, emulation.mpl * cpu_use);
  return (emulation.start_up + emulation.end_cost) / (on_its_cores * emulation.slowdown);
}

Nanoseconds EmulatedWork::work_off(Nanoseconds owed) {
  vm_burst(static_cast<std::uint64_t>(owed.count()));
  return owed;
}

}  // namespace replay::bench
