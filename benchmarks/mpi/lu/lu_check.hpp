// The verification of LU's result: root mean squares over the inner points of the residual and of the difference from
// the exact solution, for each quantity, and an integral of the pressure over six planes near the boundary. The
// published values are those of NAS Parallel Benchmarks 3; eleven numbers have to agree to a relative 1e-8.
#pragma once

#include <string>

#include "benchmarks/mpi/lu/lu_flow.hpp"

namespace replay::bench::lu {

struct Result {
  Point residual;  // "xcr"
  Point error;     // "xce"
  double surface;  // "xci"
};

struct Problem {
  std::string name;
  int points;  // along each direction
  int steps;   // "itmax"
  double time_step;
  Result published;

  /// As NAS counts them; the kernel needs fewer.
  double operations() const;
};

/// The classes, smallest first.
const std::array<Problem, 4>& problems();

/// Collective. The same bits on every rank. O(points). REQUIRES: `derived` of u.
Result result_of(const Grid& grid, const Field& u, const DerivedField& derived, const Field& residual);

bool agrees(const Result& found, const Result& published);

}  // namespace replay::bench::lu
