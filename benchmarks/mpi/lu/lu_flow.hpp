// The flow that LU solves: the compressible Navier-Stokes equations in conservation form on the unit cube, in the
// variables density, momentum and energy, with constants and an exact solution (a polynomial of degree 4 in each
// direction) from the specification. The forcing term makes that polynomial the steady state.
// Source: Bailey et al. 1994, RNR-94-007, section 5.3; its equations hold for unequal steps, here the grid is a cube.
#pragma once

#include "benchmarks/mpi/lu/lu_field.hpp"

namespace replay::bench::lu {

inline constexpr double kGammaLess1 = 0.4;                  // "c2"; "c1" is 1.4, the ratio of specific heats
inline constexpr double kViscosity = 0.1;                   // "c3 c4"
inline constexpr double kConduction = 1.4 * 1.4;            // "c1 c5", beside viscosity
inline constexpr double kDissipation = 0.25;                // "dssp", of the fourth differences
inline constexpr double kDiffusion[3] = {0.75, 0.75, 1.0};  // "dx", "dy", "dz", of the second differences
inline constexpr double kDiffusionSum = kDiffusion[0] + kDiffusion[1] + kDiffusion[2];

/// Viscous stress on momentum `n` across a face in direction `d`: 4/3 along, 1 across.
constexpr double stress(int n, int d) { return n == d ? 4.0 / 3.0 : 1.0; }
inline constexpr double kStressSum = 4.0 / 3.0 + 1.0 + 1.0;

/// The exact solution at point (i, j, k) of the whole grid, also outside of it.
Point exact_at(int points, int i, int j, int k);

/// u = the exact solution, everywhere and in the frame.
void set_exact(const Grid& grid, Field& u);
/// u = where the iteration starts: the exact solution on the boundary, inside the transfinite interpolation between the
/// six faces. The frame is set in the same way.
void set_start(const Grid& grid, Field& u);

/// Quantities that the equations use repeatedly, derived from the conserved quantities at each point.
enum Derived : int {
  kInverseDensity,
  kVelocity,  // along i; j and k follow
  kPressure = kVelocity + 3,
  kHeat,  // what is conducted: (1 - c1 c5) / 2 * velocity^2 + c1 c5 * energy / density
  kDerivedCount
};
using DerivedField = Arrays<kDerivedCount>;

/// Computes all of `derived` from `u`, in the frame too. O(points).
void derive(const Grid& grid, const Field& u, DerivedField& derived);

}  // namespace replay::bench::lu
