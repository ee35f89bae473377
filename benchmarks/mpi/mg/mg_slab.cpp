// Sums over the four neighbours in y and z, by face and by edge, are made once for a row and used for three points of it
// each: that halves the additions. They carry one number more on either side, which closes the period along x.
#include "benchmarks/mpi/mg/mg_slab.hpp"

#include <algorithm>
#include <numeric>

namespace replay::bench {
namespace {

// Rows of a multiple of 4 KiB would all start in the same set of a cache; a line more spreads them.
constexpr std::size_t kPadding = 8;

/// Numbers -1 to n, for the points of a row and one beyond either end.
class WideRow {
 public:
  explicit WideRow(int n) : values_(static_cast<std::size_t>(n) + 2) {}

  double* data() { return values_.data() + 1; }
  void close_period() {
    values_.front() = values_[values_.size() - 2];
    values_.back() = values_[1];
  }

 private:
  std::vector<double> values_;
};

/// The nine rows around row (y, z), by their distance in y and z.
struct Rows {
  const double* centre;
  const double* face[4];
  const double* edge[4];

  Rows(const Slab& slab, std::int64_t y, std::int64_t z) {
    const std::int64_t below = y == 0 ? slab.n() - 1 : y - 1;
    const std::int64_t above = y + 1 == slab.n() ? 0 : y + 1;
    centre = slab.row(y, z);
    face[0] = slab.row(below, z);
    face[1] = slab.row(above, z);
    face[2] = slab.row(y, z - 1);
    face[3] = slab.row(y, z + 1);
    edge[0] = slab.row(below, z - 1);
    edge[1] = slab.row(above, z - 1);
    edge[2] = slab.row(below, z + 1);
    edge[3] = slab.row(above, z + 1);
  }
};

void add_up(const double* const (&rows)[4], int n, WideRow& sums) {
  double* __restrict const sum = sums.data();
  const double* const a = rows[0];
  const double* const b = rows[1];
  const double* const c = rows[2];
  const double* const d = rows[3];
  for (int i = 0; i < n; ++i) sum[i] = a[i] + b[i] + c[i] + d[i];
  sums.close_period();
}

/// Calls `of_row(y, z)` for all rows of planes [begin, end).
template <typename Function>
void for_each_row(int n, std::int64_t begin, std::int64_t end, Function of_row) {
  for (std::int64_t z = begin; z < end; ++z) {
    for (std::int64_t y = 0; y < n; ++y) of_row(y, z);
  }
}

}  // namespace

Slab::Slab(int n, Block planes)
    : n_(n),
      planes_(planes),
      stride_(static_cast<std::size_t>(n) + kPadding),
      values_(plane_size() * static_cast<std::size_t>(planes.size() + 2)) {}

void Slab::clear() { std::ranges::fill(values_, 0.0); }

void Slab::close_period() {
  std::ranges::copy(plane(n_ - 1), row(0, -1));
  std::ranges::copy(plane(0), row(0, n_));
}

void residual(const Slab& u, const Slab& v, Slab& r) {
  constexpr double kCentre = -8.0 / 3;
  constexpr double kEdge = 1.0 / 6;
  constexpr double kCorner = 1.0 / 12;
  const int n = u.n();
  WideRow face_sums{n};
  WideRow edge_sums{n};
  const double* const face = face_sums.data();
  const double* const edge = edge_sums.data();
  for_each_row(n, u.planes().begin, u.planes().end, [&](std::int64_t y, std::int64_t z) {
    const Rows rows{u, y, z};
    add_up(rows.face, n, face_sums);
    add_up(rows.edge, n, edge_sums);
    const double* const centre = rows.centre;
    const auto laplacian = [=](int x) {
      return kCentre * centre[x] + kEdge * (edge[x] + face[x - 1] + face[x + 1]) +
             kCorner * (edge[x - 1] + edge[x + 1]);
    };
    double* __restrict const out = r.row(y, z);
    if (&r == &v) {
      for (int x = 0; x < n; ++x) out[x] -= laplacian(x);
    } else {
      const double* const right = v.row(y, z);
      for (int x = 0; x < n; ++x) out[x] = right[x] - laplacian(x);
    }
  });
}

void smooth(const Smoother& smoother, const Slab& r, Slab& u) {
  const int n = r.n();
  const double weight = smoother.centre;
  const double face_weight = smoother.face;
  const double edge_weight = smoother.edge;
  WideRow centre_row{n};
  WideRow face_sums{n};
  WideRow edge_sums{n};
  double* const centre = centre_row.data();
  const double* const face = face_sums.data();
  const double* const edge = edge_sums.data();
  for_each_row(n, r.planes().begin, r.planes().end, [&](std::int64_t y, std::int64_t z) {
    const Rows rows{r, y, z};
    add_up(rows.face, n, face_sums);
    add_up(rows.edge, n, edge_sums);
    std::copy_n(rows.centre, n, centre);
    centre_row.close_period();
    double* __restrict const out = u.row(y, z);
    for (int x = 0; x < n; ++x) {
      out[x] += weight * centre[x] + face_weight * (centre[x - 1] + centre[x + 1] + face[x]) +
                edge_weight * (edge[x] + face[x - 1] + face[x + 1]);
    }
  });
}

void restrict_to(const Slab& fine, Slab& coarse) {
  constexpr double kCentre = 0.5;
  constexpr double kFace = 0.25;
  constexpr double kEdge = 0.125;
  constexpr double kCorner = 0.0625;
  const int n = coarse.n();
  WideRow face_sums{fine.n()};
  WideRow edge_sums{fine.n()};
  const double* const face = face_sums.data();
  const double* const edge = edge_sums.data();
  for_each_row(n, fine.planes().begin / 2, fine.planes().end / 2, [&](std::int64_t y, std::int64_t z) {
    const Rows rows{fine, 2 * y + 1, 2 * z + 1};
    add_up(rows.face, fine.n(), face_sums);
    add_up(rows.edge, fine.n(), edge_sums);
    const double* const centre = rows.centre;
    double* const out = coarse.row(y, z);
    for (int x = 0; x < n; ++x) {
      const int at = 2 * x + 1;
      const int after = x + 1 == n ? 0 : at + 1;
      out[x] = kCentre * centre[at] + kFace * (centre[at - 1] + centre[after] + face[at]) +
               kEdge * (edge[at] + face[at - 1] + face[at + 1]) + kCorner * (edge[at - 1] + edge[at + 1]);
    }
  });
}

void interpolate(const Slab& coarse, Slab& fine) {
  const int n = coarse.n();
  WideRow sum{n};
  double* const mean = sum.data();
  for_each_row(fine.n(), fine.planes().begin - 1, fine.planes().end + 1, [&](std::int64_t y, std::int64_t z) {
    // Odd rows lie on a coarse one, even ones between two, of which the first row's lower one is the last.
    const std::int64_t upper_z = z >> 1;  // rounds down, as z starts at -1
    const std::int64_t lower_z = z % 2 == 0 ? upper_z - 1 : upper_z;
    const std::int64_t upper_y = y / 2;
    const std::int64_t lower_y = y % 2 != 0 ? upper_y : (upper_y == 0 ? n : upper_y) - 1;
    const double* const a = coarse.row(lower_y, lower_z);
    const double* const b = coarse.row(upper_y, lower_z);
    const double* const c = coarse.row(lower_y, upper_z);
    const double* const d = coarse.row(upper_y, upper_z);
    for (int x = 0; x < n; ++x) mean[x] = 0.25 * (a[x] + b[x] + c[x] + d[x]);
    sum.close_period();
    double* __restrict const out = fine.row(y, z);
    for (std::ptrdiff_t x = 0; x < n; ++x) {
      out[2 * x] += 0.5 * (mean[x - 1] + mean[x]);
      out[2 * x + 1] += mean[x];
    }
  });
}

double sum_of_squares(const Slab& slab) {
  double sum = 0;
  for_each_row(slab.n(), slab.planes().begin, slab.planes().end, [&](std::int64_t y, std::int64_t z) {
    const double* const row = slab.row(y, z);
    sum = std::inner_product(row, row + slab.n(), row, sum);
  });
  return sum;
}

}  // namespace replay::bench
