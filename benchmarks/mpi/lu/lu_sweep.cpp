// The matrices are never stored. The product of a block off the diagonal and a vector is the derivative of the fluxes
// in that direction, which takes about 50 operations; and the blocks on the diagonal, which have no inviscid part, are
// lower triangular: density first, then momentum, then energy. In a row along i all that does not depend on the row's
// own results comes first and for all points alike; the rest goes from point to point.
#include "benchmarks/mpi/lu/lu_sweep.hpp"

#include <mpi.h>

#include <algorithm>

namespace replay::bench::lu {
namespace {

constexpr int kSweepTag = 2;
constexpr double kHeatDiffusion = kViscosity * kConduction;  // "c1345"

/// Pointers to the quantities of a row of points, at which derivatives are taken.
struct Row {
  const double* velocity[3];
  const double* inverse_density;
  const double* pressure;
  const double* energy;

  Row(const Field& u, const DerivedField& derived, std::ptrdiff_t first)
      : velocity{derived[kVelocity] + first, derived[kVelocity + 1] + first, derived[kVelocity + 2] + first},
        inverse_density(derived[kInverseDensity] + first),
        pressure(derived[kPressure] + first),
        energy(u[4] + first) {}
};

/// out += convection * (inviscid flux in direction D)' v + diffusion * (viscous fluxes and diffusion in D)' v, where
/// the derivatives are taken at point `i` of the row.
template <int D>
inline void add_product(const Row& row, std::ptrdiff_t i, double convection, double diffusion, const double* v,
                        double* out) {
  const double w[3] = {row.velocity[0][i], row.velocity[1][i], row.velocity[2][i]};
  const double r = row.inverse_density[i];
  const double energy = row.energy[i] * r;
  const double enthalpy = energy + row.pressure[i] * r;
  const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
  const double kinetic = w[0] * v[1] + w[1] * v[2] + w[2] * v[3] - 0.5 * square * v[0];
  const double pressure = kGammaLess1 * (v[4] - kinetic);
  const double stream = v[1 + D] - w[D] * v[0];
  double heat = kHeatDiffusion * r * (v[4] - energy * v[0]);
  out[0] += convection * v[1 + D] + diffusion * kDiffusion[D] * v[0];
  for (int n = 0; n < 3; ++n) {
    const double change = r * (v[1 + n] - w[n] * v[0]);  // of velocity
    const double pressed = n == D ? pressure : 0;
    out[1 + n] += convection * (w[D] * v[1 + n] + w[n] * stream + pressed) +
                  diffusion * (stress(n, D) * kViscosity * change + kDiffusion[D] * v[1 + n]);
    heat += (stress(n, D) * kViscosity - kHeatDiffusion) * w[n] * change;
  }
  out[4] += convection * (w[D] * (v[4] + pressure) + enthalpy * stream) + diffusion * (heat + kDiffusion[D] * v[4]);
}

/// The same for all points of a row, with `v` at the same points.
template <int D>
void add_products(const Row& row, int count, double convection, double diffusion, const double* const (&v)[kQuantities],
                  double* const (&out)[kQuantities]) {
  REPLAY_INDEPENDENT
  for (int i = 0; i < count; ++i) {
    const double here[kQuantities] = {v[0][i], v[1][i], v[2][i], v[3][i], v[4][i]};
    double sum[kQuantities] = {out[0][i], out[1][i], out[2][i], out[3][i], out[4][i]};
    add_product<D>(row, i, convection, diffusion, here, sum);
    for (int m = 0; m < kQuantities; ++m) out[m][i] = sum[m];
  }
}

/// The blocks on the diagonal: 1 + 2 * time step * (viscous fluxes and diffusion in all directions)'.
struct Diagonal {
  double density;  // also the constant part of the others
  double momentum;
  double energy;
  double heat;

  Diagonal(double time_step, int points) {
    const double twice = 2 * time_step * (points - 1) * (points - 1);
    density = 1 + twice * kDiffusionSum;
    momentum = twice * kViscosity * kStressSum;
    energy = momentum - twice * 3 * kHeatDiffusion;
    heat = twice * 3 * kHeatDiffusion;
  }

  void invert(const Row& row, int count, double* of_momentum, double* of_energy) const {
    for (int i = 0; i < count; ++i) {
      of_momentum[i] = 1 / (density + momentum * row.inverse_density[i]);
      of_energy[i] = 1 / (density + heat * row.inverse_density[i]);
    }
  }

  /// v = block^-1 v at point `i` of the row.
  void solve(const Row& row, int i, double of_density, double of_momentum, double of_energy, double* v) const {
    const double w[3] = {row.velocity[0][i], row.velocity[1][i], row.velocity[2][i]};
    const double r = row.inverse_density[i];
    const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    v[0] *= of_density;
    for (int n = 0; n < 3; ++n) v[1 + n] = of_momentum * (v[1 + n] + momentum * r * w[n] * v[0]);
    const double moved = w[0] * v[1] + w[1] * v[2] + w[2] * v[3];
    v[4] += r * (energy * square + heat * r * row.energy[i]) * v[0] - energy * r * moved;
    v[4] *= of_energy;
  }
};

/// Planes [begin, end) along k.
struct Planes {
  int begin;
  int end;
  int size() const { return end - begin; }
};

/// The points along one edge of some planes: their rows j or their columns i.
struct Edge {
  std::ptrdiff_t first;
  std::ptrdiff_t step;
  int length;
  Planes planes;

  static Edge row(const Grid& grid, int j, Planes k) { return {grid.at(0, j, k.begin), 1, grid.own_i(), k}; }
  static Edge column(const Grid& grid, int i, Planes k) {
    return {grid.at(i, 0, k.begin), grid.row(), grid.own_j(), k};
  }

  int numbers() const { return kQuantities * length * planes.size(); }
};

/// Calls `use` with each number of `v` on the edge, always in the same order.
template <typename Use>
void for_each_number(Field& v, const Grid& grid, const Edge& edge, Use use) {
  for (std::ptrdiff_t plane = 0; plane < edge.planes.size(); ++plane) {
    for (int m = 0; m < kQuantities; ++m) {
      double* point = v[m] + edge.first + plane * grid.plane();
      for (int i = 0; i < edge.length; ++i, point += edge.step) use(*point);
    }
  }
}

void receive(Field& v, const Grid& grid, const Edge& edge, int from, std::vector<double>& message) {
  if (from == MPI_PROC_NULL) return;
  MPI_Recv(message.data(), edge.numbers(), MPI_DOUBLE, from, kSweepTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double* next = message.data();
  for_each_number(v, grid, edge, [&next](double& number) { number = *next++; });
}

void send(Field& v, const Grid& grid, const Edge& edge, int to, std::vector<double>& message) {
  if (to == MPI_PROC_NULL) return;
  double* next = message.data();
  for_each_number(v, grid, edge, [&next](double number) { *next++ = number; });
  MPI_Send(message.data(), edge.numbers(), MPI_DOUBLE, to, kSweepTag, MPI_COMM_WORLD);
}

/// As many planes as keep a rank at work for some 50 us, since a wait costs some microseconds where ranks share a core;
/// but no more than a tenth of all, and so few that the last rank gets its first within a fifth of a sweep.
int planes_per_message(const Grid& grid) {
  constexpr int kPoints = 1500;
  const int inside = grid.points() - 2;
  const auto [columns, rows] = grid.shape();
  const int most = inside / std::max(10, 5 * (columns - 1 + rows - 1));
  return std::max(1, std::min(kPoints * columns * rows / (inside * inside), most));
}

}  // namespace

Sweeps::Sweeps(const Grid& grid, double time_step)
    : grid_(grid),
      time_step_(time_step),
      convection_(kOverRelaxation * time_step * (grid.points() - 1) / 2),
      diffusion_(kOverRelaxation * time_step * (grid.points() - 1) * (grid.points() - 1)),
      planes_per_message_(planes_per_message(grid)),
      message_(kQuantities * static_cast<std::size_t>(planes_per_message_ * std::max(grid.own_i(), grid.own_j()))) {
  const auto length = static_cast<std::size_t>(grid.own_i());
  for (auto& row : row_) row.resize(length);
  inverse_momentum_.resize(length);
  inverse_energy_.resize(length);
}

void Sweeps::operator()(const Field& u, const DerivedField& derived, Field& v) {
  const int end_i = grid_.own_i();
  const int end_j = grid_.own_j();
  const int top = grid_.points() - 1;
  for (int begin = 1; begin < top; begin += planes_per_message_) {
    const Planes k{begin, std::min(begin + planes_per_message_, top)};
    receive(v, grid_, Edge::row(grid_, -1, k), grid_.south(), message_);
    receive(v, grid_, Edge::column(grid_, -1, k), grid_.west(), message_);
    for (int plane = k.begin; plane < k.end; ++plane) lower_plane(u, derived, v, plane);
    send(v, grid_, Edge::row(grid_, end_j - 1, k), grid_.north(), message_);
    send(v, grid_, Edge::column(grid_, end_i - 1, k), grid_.east(), message_);
  }
  for (int end = top; end > 1; end -= planes_per_message_) {
    const Planes k{std::max(end - planes_per_message_, 1), end};
    receive(v, grid_, Edge::row(grid_, end_j, k), grid_.north(), message_);
    receive(v, grid_, Edge::column(grid_, end_i, k), grid_.east(), message_);
    for (int plane = k.end; plane-- > k.begin;) upper_plane(u, derived, v, plane);
    send(v, grid_, Edge::row(grid_, 0, k), grid_.south(), message_);
    send(v, grid_, Edge::column(grid_, 0, k), grid_.west(), message_);
  }
}

void Sweeps::lower_plane(const Field& u, const DerivedField& derived, Field& v, int k) {
  const Diagonal diagonal{time_step_, grid_.points()};
  const int count = grid_.own_i();
  double* const sum[kQuantities] = {row_[0].data(), row_[1].data(), row_[2].data(), row_[3].data(), row_[4].data()};
  for (int j = 0; j < grid_.own_j(); ++j) {
    const std::ptrdiff_t first = grid_.at(0, j, k);
    const std::ptrdiff_t below = first - grid_.plane();
    const std::ptrdiff_t south = first - grid_.row();
    for (int m = 0; m < kQuantities; ++m)
      for (int i = 0; i < count; ++i) sum[m][i] = time_step_ * v[m][first + i];
    add_products<2>(Row{u, derived, below}, count, convection_, diffusion_,
                    {v[0] + below, v[1] + below, v[2] + below, v[3] + below, v[4] + below}, sum);
    add_products<1>(Row{u, derived, south}, count, convection_, diffusion_,
                    {v[0] + south, v[1] + south, v[2] + south, v[3] + south, v[4] + south}, sum);
    const Row row{u, derived, first};
    diagonal.invert(row, count, inverse_momentum_.data(), inverse_energy_.data());
    double* const result[kQuantities] = {v[0] + first, v[1] + first, v[2] + first, v[3] + first, v[4] + first};
    double west[kQuantities] = {result[0][-1], result[1][-1], result[2][-1], result[3][-1], result[4][-1]};
    for (int i = 0; i < count; ++i) {
      double here[kQuantities] = {sum[0][i], sum[1][i], sum[2][i], sum[3][i], sum[4][i]};
      add_product<0>(row, i - 1, convection_, diffusion_, west, here);
      diagonal.solve(row, i, 1 / diagonal.density, inverse_momentum_[static_cast<std::size_t>(i)],
                     inverse_energy_[static_cast<std::size_t>(i)], here);
      for (int m = 0; m < kQuantities; ++m) result[m][i] = west[m] = here[m];
    }
  }
}

void Sweeps::upper_plane(const Field& u, const DerivedField& derived, Field& v, int k) {
  const Diagonal diagonal{time_step_, grid_.points()};
  const int count = grid_.own_i();
  double* const sum[kQuantities] = {row_[0].data(), row_[1].data(), row_[2].data(), row_[3].data(), row_[4].data()};
  for (int j = grid_.own_j() - 1; j >= 0; --j) {
    const std::ptrdiff_t first = grid_.at(0, j, k);
    const std::ptrdiff_t above = first + grid_.plane();
    const std::ptrdiff_t north = first + grid_.row();
    for (int m = 0; m < kQuantities; ++m) std::fill_n(sum[m], count, 0.0);
    add_products<2>(Row{u, derived, above}, count, convection_, -diffusion_,
                    {v[0] + above, v[1] + above, v[2] + above, v[3] + above, v[4] + above}, sum);
    add_products<1>(Row{u, derived, north}, count, convection_, -diffusion_,
                    {v[0] + north, v[1] + north, v[2] + north, v[3] + north, v[4] + north}, sum);
    const Row row{u, derived, first};
    diagonal.invert(row, count, inverse_momentum_.data(), inverse_energy_.data());
    double* const result[kQuantities] = {v[0] + first, v[1] + first, v[2] + first, v[3] + first, v[4] + first};
    double east[kQuantities] = {result[0][count], result[1][count], result[2][count], result[3][count],
                                result[4][count]};
    for (int i = count - 1; i >= 0; --i) {
      double here[kQuantities] = {sum[0][i], sum[1][i], sum[2][i], sum[3][i], sum[4][i]};
      add_product<0>(row, i + 1, convection_, -diffusion_, east, here);
      diagonal.solve(row, i, 1 / diagonal.density, inverse_momentum_[static_cast<std::size_t>(i)],
                     inverse_energy_[static_cast<std::size_t>(i)], here);
      for (int m = 0; m < kQuantities; ++m) result[m][i] = east[m] = result[m][i] - here[m];
    }
  }
}

}  // namespace replay::bench::lu
