// One row along i at a time, all three directions after each other while the row is in the first-level cache. A face's
// viscous flux is a difference, so that the difference of two faces is a second difference of the points.
#include "benchmarks/mpi/lu/lu_residual.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace replay::bench::lu {
namespace {

/// The weights of the fourth difference: for points -2, -1, 0, 1, 2.
using Weights = std::array<double, 5>;

/// At point `at` of 0 to `points` - 1. One-sided next to the boundary, no point of which takes part.
Weights weights_at(int at, int points) {
  const int from_end = points - 1 - at;
  Weights weights{1, -4, 6, -4, 1};
  if (at == 1) weights = {0, 0, 5, -4, 1};
  if (at == 2) weights = {0, -4, 6, -4, 1};
  if (from_end == 2) weights = {1, -4, 6, -4, 0};
  if (from_end == 1) weights = {1, -4, 5, 0, 0};
  return weights;
}

struct Flow {
  const Field& u;
  const DerivedField& derived;
};

/// Adds what direction D contributes to `count` points from `first` on. `s` is the distance to the next point in D.
template <int D>
void add_direction(const Flow& flow, Field& residual, std::ptrdiff_t first, int count, std::ptrdiff_t s, int points,
                   const Weights& weights) {
  const double h = 1.0 / (points - 1);
  const double convection = 1 / (2 * h);             // "tx2"
  const double diffusion = kDiffusion[D] / (h * h);  // "dx tx1"
  const double viscosity = kViscosity / (h * h);     // "c3 c4 tx1"
  const double w0 = kDissipation * weights[0];
  const double w1 = kDissipation * weights[1];
  const double w2 = kDissipation * weights[2];
  const double w3 = kDissipation * weights[3];
  const double w4 = kDissipation * weights[4];
  // The part that all quantities have alike: diffusion and dissipation.
  const auto smooth = [=](const double* q) {
    return diffusion * (q[s] - 2 * q[0] + q[-s]) -
           (w0 * q[-2 * s] + w1 * q[-s] + w2 * q[0] + w3 * q[s] + w4 * q[2 * s]);
  };
  const auto second = [s](const double* q) { return q[s] - 2 * q[0] + q[-s]; };

  const double* const momentum = flow.u[1 + D] + first;
  const double* const velocity = flow.derived[kVelocity + D] + first;
  const double* const pressure = flow.derived[kPressure] + first;
  {
    const double* const u = flow.u[0] + first;
    double* const out = residual[0] + first;
    REPLAY_INDEPENDENT
    for (int i = 0; i < count; ++i) out[i] += smooth(u + i) - convection * (momentum[i + s] - momentum[i - s]);
  }
  for (int n = 0; n < 3; ++n) {
    const double* const u = flow.u[1 + n] + first;
    const double* const v = flow.derived[kVelocity + n] + first;
    double* const out = residual[1 + n] + first;
    const double stressed = viscosity * stress(n, D);
    const double pressed = n == D ? 1 : 0;
    REPLAY_INDEPENDENT
    for (int i = 0; i < count; ++i) {
      out[i] += smooth(u + i) + stressed * second(v + i) -
                convection * (velocity[i + s] * u[i + s] - velocity[i - s] * u[i - s] +
                              pressed * (pressure[i + s] - pressure[i - s]));
    }
  }
  const double* const u = flow.u[4] + first;
  const double* const heat = flow.derived[kHeat] + first;
  double* const out = residual[4] + first;
  REPLAY_INDEPENDENT
  for (int i = 0; i < count; ++i) {
    const double* const v = velocity + i;
    const double squares = v[s] * v[s] - 2 * v[0] * v[0] + v[-s] * v[-s];
    out[i] +=
        smooth(u + i) + viscosity * (second(heat + i) + squares * (1.0 / 6.0)) -
        convection * ((u[i + s] + pressure[i + s]) * velocity[i + s] - (u[i - s] + pressure[i - s]) * velocity[i - s]);
  }
}

/// Along i the weights change within the row: in runs of points that have the same ones.
void add_along_row(const Flow& flow, Field& residual, const Grid& grid, int j, int k) {
  for (int i = 0; i < grid.own_i();) {
    const Weights weights = weights_at(grid.global_i(i), grid.points());
    int end = i + 1;
    while (end < grid.own_i() && weights_at(grid.global_i(end), grid.points()) == weights) ++end;
    add_direction<0>(flow, residual, grid.at(i, j, k), end - i, 1, grid.points(), weights);
    i = end;
  }
}

}  // namespace

void compute_residual(const Grid& grid, const Field& u, const DerivedField& derived, const Field& forcing,
                      Field& residual) {
  const Flow flow{u, derived};
  const int n = grid.points();
  for (int k = 1; k < n - 1; ++k) {
    const Weights along_k = weights_at(k, n);
    for (int j = 0; j < grid.own_j(); ++j) {
      const Weights along_j = weights_at(grid.global_j(j), n);
      const std::ptrdiff_t first = grid.at(0, j, k);
      for (int m = 0; m < kQuantities; ++m)
        std::transform(forcing[m] + first, forcing[m] + first + grid.own_i(), residual[m] + first, std::negate{});
      add_along_row(flow, residual, grid, j, k);
      add_direction<1>(flow, residual, first, grid.own_i(), grid.row(), n, along_j);
      add_direction<2>(flow, residual, first, grid.own_i(), grid.plane(), n, along_k);
    }
  }
}

Field forcing_of(const Grid& grid) {
  Field u{grid};
  DerivedField derived{grid};
  Field forcing{grid};
  set_exact(grid, u);
  derive(grid, u, derived);
  compute_residual(grid, u, derived, Field{grid}, forcing);
  return forcing;
}

}  // namespace replay::bench::lu
