#include "benchmarks/mpi/lu/lu_flow.hpp"

namespace replay::bench::lu {
namespace {

/// "ce": for each quantity the constant, then x, y, z; x^2, y^2, z^2; x^3, y^3, z^3; x^4, y^4, z^4.
constexpr double kCoefficients[kQuantities][13] = {{2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
                                                   {1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
                                                   {2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
                                                   {2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
                                                   {5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2}};

/// What direction `d` adds at coordinate `x`.
double polynomial(const double* c, int d, double x) {
  return x * (c[1 + d] + x * (c[4 + d] + x * (c[7 + d] + x * c[10 + d])));
}

double coordinate(int points, int index) { return static_cast<double>(index) / (points - 1); }

Point start_at(int points, int i, int j, int k) {
  const int last = points - 1;
  const double x = coordinate(points, i);
  const double y = coordinate(points, j);
  const double z = coordinate(points, k);
  const Point west = exact_at(points, 0, j, k);
  const Point east = exact_at(points, last, j, k);
  const Point south = exact_at(points, i, 0, k);
  const Point north = exact_at(points, i, last, k);
  const Point bottom = exact_at(points, i, j, 0);
  const Point top = exact_at(points, i, j, last);
  Point u;
  for (std::size_t m = 0; m < u.size(); ++m) {
    const double a = (1 - x) * west[m] + x * east[m];
    const double b = (1 - y) * south[m] + y * north[m];
    const double c = (1 - z) * bottom[m] + z * top[m];
    u[m] = a + b + c - a * b - b * c - c * a + a * b * c;
  }
  return u;
}

template <typename Value>
void set(const Grid& grid, Field& u, Value value) {
  for (int k = -1; k <= grid.points(); ++k) {
    for (int j = -kFrame; j < grid.own_j() + kFrame; ++j) {
      for (int i = -kFrame; i < grid.own_i() + kFrame; ++i) {
        const Point point = value(grid.global_i(i), grid.global_j(j), k);
        for (int m = 0; m < kQuantities; ++m) u[m][grid.at(i, j, k)] = point[static_cast<std::size_t>(m)];
      }
    }
  }
}

}  // namespace

Point exact_at(int points, int i, int j, int k) {
  const double x[3] = {coordinate(points, i), coordinate(points, j), coordinate(points, k)};
  Point u;
  for (std::size_t m = 0; m < u.size(); ++m) {
    u[m] = kCoefficients[m][0];
    for (int d = 0; d < 3; ++d) u[m] += polynomial(kCoefficients[m], d, x[d]);
  }
  return u;
}

void set_exact(const Grid& grid, Field& u) {
  const int n = grid.points();
  set(grid, u, [n](int i, int j, int k) { return exact_at(n, i, j, k); });
}

void set_start(const Grid& grid, Field& u) {
  const int last = grid.points() - 1;
  set(grid, u, [n = grid.points(), last](int i, int j, int k) {
    const bool is_inside = i > 0 && i < last && j > 0 && j < last && k > 0 && k < last;
    return is_inside ? start_at(n, i, j, k) : exact_at(n, i, j, k);
  });
}

void derive(const Grid& grid, const Field& u, DerivedField& derived) {
  const double* const density = u[0];
  const double* const momentum[3] = {u[1], u[2], u[3]};
  const double* const energy = u[4];
  double* const inverse = derived[kInverseDensity];
  double* const velocity[3] = {derived[kVelocity], derived[kVelocity + 1], derived[kVelocity + 2]};
  double* const pressure = derived[kPressure];
  double* const heat = derived[kHeat];
  const std::ptrdiff_t volume = grid.volume();
  REPLAY_INDEPENDENT
  for (std::ptrdiff_t p = 0; p < volume; ++p) {
    const double r = 1 / density[p];
    const double x = momentum[0][p] * r;
    const double y = momentum[1][p] * r;
    const double z = momentum[2][p] * r;
    const double square = x * x + y * y + z * z;
    inverse[p] = r;
    velocity[0][p] = x;
    velocity[1][p] = y;
    velocity[2][p] = z;
    pressure[p] = kGammaLess1 * (energy[p] - 0.5 * density[p] * square);
    heat[p] = 0.5 * (1 - kConduction) * square + kConduction * energy[p] * r;
  }
}

}  // namespace replay::bench::lu
