// One step of symmetric successive over-relaxation: the implicit operator of the linearised equations is the product of
// a lower and an upper block-triangular matrix, each of which is solved by one sweep over the grid. The lower sweep
// goes through the planes from k = 1 up and, in a plane, away from the corner i = j = 0; a point needs the results of
// its three smaller neighbours. The upper sweep goes back. A plane of a sweep, or a few where they are small, are a
// step of a pipeline over the ranks: it begins with the neighbours' results and ends by passing on the rank's own, 5
// numbers for each point of the edge.
// Source: Bailey et al. 1994, RNR-94-007, section 5.3.
#pragma once

#include <array>
#include <vector>

#include "benchmarks/mpi/lu/lu_flow.hpp"

namespace replay::bench::lu {

class Sweeps {
 public:
  Sweeps(const Grid& grid, double time_step);

  /// Collective. Turns the residual `v` of a flow into what is added to the flow by the step, but for the constant
  /// factor(). O(points). REQUIRES: `v` is zero on the boundary of the whole grid.
  void operator()(const Field& u, const DerivedField& derived, Field& v);

  static double factor() { return 1 / (kOverRelaxation * (2 - kOverRelaxation)); }

 private:
  static constexpr double kOverRelaxation = 1.2;  // "omega"

  void lower_plane(const Field& u, const DerivedField& derived, Field& v, int k);
  void upper_plane(const Field& u, const DerivedField& derived, Field& v, int k);

  const Grid& grid_;
  double time_step_;
  double convection_;  // over-relaxation * time step * "tx2"
  double diffusion_;   // over-relaxation * time step * "tx1"
  int planes_per_message_;
  std::vector<double> message_;
  std::array<std::vector<double>, kQuantities> row_;
  std::vector<double> inverse_momentum_;  // of a row: of the blocks on the diagonal
  std::vector<double> inverse_energy_;
};

}  // namespace replay::bench::lu
