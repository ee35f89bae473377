// The residual of a flow, its distance from the steady state: the right-hand side of the equations. In each direction
// central differences of the inviscid fluxes, second differences for viscosity, heat and diffusion, and a dissipation
// by fourth differences that is one-sided next to the boundary. Source: Bailey et al. 1994, RNR-94-007, section 5.3.
#pragma once

#include "benchmarks/mpi/lu/lu_flow.hpp"

namespace replay::bench::lu {

/// residual = differences of u - forcing, at all inner points; the rest of `residual` is left as it is. O(points).
/// REQUIRES: `derived` of u, and both with an up-to-date frame.
void compute_residual(const Grid& grid, const Field& u, const DerivedField& derived, const Field& forcing,
                      Field& residual);

/// forcing = what makes the residual of the exact solution zero. O(points).
Field forcing_of(const Grid& grid);

}  // namespace replay::bench::lu
