#include "benchmarks/mpi/lu/lu_check.hpp"

#include <mpi.h>

#include <cmath>

namespace replay::bench::lu {
namespace {

constexpr double kTolerance = 1e-8;

template <typename Visit>
void for_own_points(const Grid& grid, Visit visit) {
  for (int k = 1; k < grid.points() - 1; ++k)
    for (int j = 0; j < grid.own_j(); ++j)
      for (int i = 0; i < grid.own_i(); ++i) visit(i, j, k);
}

/// Weight of point `at` in the trapezoidal rule from `first` to `last`, for steps of 2; 0 outside.
double trapezoid(int at, int first, int last) {
  if (at < first || at > last) return 0;
  return at == first || at == last ? 1 : 2;
}

/// This rank's part. The planes are those of the specification, which are not symmetric: in j the last but two.
double surface_of(const Grid& grid, const DerivedField& derived) {
  const int last = grid.points() - 2;
  double sum = 0;
  for_own_points(grid, [&](int i, int j, int k) {
    const int x = grid.global_i(i);
    const int y = grid.global_j(j);
    const double in_i = trapezoid(x, 1, last);
    const double in_j = trapezoid(y, 1, last - 1);
    const double in_k = trapezoid(k, 2, last);
    double weight = 0;
    if (k == 2 || k == last) weight += in_i * in_j;
    if (y == 1 || y == last - 1) weight += in_i * in_k;
    if (x == 1 || x == last) weight += in_j * in_k;
    if (weight > 0) sum += weight * derived[kPressure][grid.at(i, j, k)];
  });
  const double step = 1.0 / (grid.points() - 1);
  return 0.25 * step * step * sum;
}

bool is_close(double found, double published) { return std::fabs((found - published) / published) <= kTolerance; }

}  // namespace

double Problem::operations() const {
  const double n = points;
  return steps * (1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010);
}

const std::array<Problem, 4>& problems() {
  static const std::array<Problem, 4> kAll = {
      Problem{"S",
              12,
              50,
              0.5,
              {{1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03, 1.5029584435994323e-03,
                3.4264073155896461e-02},
               {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05, 5.8474222595157350e-05,
                1.3103347914111294e-03},
               7.8418928865937083e+00}},
      Problem{
          "W",
          33,
          300,
          1.5e-3,
          {{0.1236511638192e+02, 0.1317228477799e+01, 0.2550120713095e+01, 0.2326187750252e+01, 0.2826799444189e+02},
           {0.4867877144216e+00, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01, 0.1084277417792e+01},
           0.1161399311023e+02}},
      Problem{"A",
              64,
              250,
              2.0,
              {{7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02, 1.7845301160418537e+02,
                1.8384760349464247e+03},
               {2.9964085685471943e+01, 2.8194576365003349e+00, 7.3473412698774742e+00, 6.7139225687777051e+00,
                7.0715315688392578e+01},
               2.6030925604886277e+01}},
      Problem{"B",
              102,
              250,
              2.0,
              {{3.5532672969982736e+03, 2.6214750795310692e+02, 8.8333721850952190e+02, 7.7812774739425265e+02,
                7.3087969592545314e+03},
               {1.1401176380212709e+02, 8.1098963655421574e+00, 2.8480597317698308e+01, 2.5905394567832939e+01,
                2.6054907504857413e+02},
               4.7887162703308227e+01}},
  };
  return kAll;
}

Result result_of(const Grid& grid, const Field& u, const DerivedField& derived, const Field& residual) {
  std::array<double, 2 * kQuantities + 1> mine{};  // in one message
  for_own_points(grid, [&](int i, int j, int k) {
    const Point exact = exact_at(grid.points(), grid.global_i(i), grid.global_j(j), k);
    const std::ptrdiff_t at = grid.at(i, j, k);
    for (int m = 0; m < kQuantities; ++m) {
      const auto place = static_cast<std::size_t>(m);
      const double error = exact[place] - u[m][at];
      mine[place] += residual[m][at] * residual[m][at];
      mine[kQuantities + place] += error * error;
    }
  });
  mine.back() = surface_of(grid, derived);
  std::array<double, mine.size()> all{};
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  const double inner = std::pow(grid.points() - 2, 3);
  Result result{};
  for (std::size_t m = 0; m < kQuantities; ++m) {
    result.residual[m] = std::sqrt(all[m] / inner);
    result.error[m] = std::sqrt(all[kQuantities + m] / inner);
  }
  result.surface = all.back();
  return result;
}

bool agrees(const Result& found, const Result& published) {
  bool all = is_close(found.surface, published.surface);
  for (std::size_t m = 0; m < kQuantities; ++m) {
    all = all && is_close(found.residual[m], published.residual[m]) && is_close(found.error[m], published.error[m]);
  }
  return all;
}

}  // namespace replay::bench::lu
