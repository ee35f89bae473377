// How the run time of `phases` is laid out: so many equal iterations, each with so much computing and so much waiting, cut
// into portions. The lengths are what makes formula (3) hold on a shared core, s(m) = max(1, m u), and they differ:
//   real cores      portions shorter than a scheduler's slice of 3 ms or so, so that one is computed in one go
//   emulated cores  a portion computes for a quantum at most, so that the token is not passed on in the middle of it: two
//                   ranks with u = 0.5 that took turns within their portions would both compute for half the time and then
//                   both sleep, s(2) = 1.25. Not shorter either: each portion wakes a rank up twice, and a rank that wakes
//                   up late leaves its core empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "benchmarks/mpi/common/emulated_work.hpp"
#include "benchmarks/mpi/common/timed_work.hpp"

namespace replay::bench {

/// The arguments.
struct PhasesParameters {
  double runtime = 1;  // s
  double cpu_use = 1;  // u
  std::string pattern = "independent";
  double iteration = 0;  // ms, before it is stretched to divide the run time; 0: what suits the cores
  std::uint64_t message_size = 1024;
  std::uint64_t seed = 1;
  double fail_at = -1;     // s of the run time; negative: never
  double corrupt_at = -1;  // likewise
};

/// What all iterations of a run are like.
struct PhasesPlan {
  double deducted = 0;  // s of the run time that are left out
  std::uint64_t iterations = 0;
  Nanoseconds computing{};  // per iteration and rank
  Nanoseconds waiting{};
  std::int64_t portions = 1;     // of an iteration, for the pattern that waits a little at a time
  std::uint64_t failing = 0;     // the iteration that fails; beyond the last one: none
  std::uint64_t corrupting = 0;  // likewise
};

/// A run time above 0 has at least one iteration, even if nothing is left of it: it may have to fail.
PhasesPlan make_plan(const PhasesParameters& given, const std::optional<Emulation>& emulation);

}  // namespace replay::bench
