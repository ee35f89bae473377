// A level of NAS MG: a periodic cube of n^3 numbers, of which one rank holds some planes of z and one ghost plane on
// either side, and the four operators of the V-cycle on it. Each works on its planes alone and reads the ghost planes,
// so their caller has to fill those; along x and y the period is closed inside. All operators are symmetric: they weigh
// a point's 26 neighbours by how many of the three directions they differ in. Source: Bailey et al. 1994, RNR-94-007. A
// coarse point j lies on the fine point 2 j + 1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"

namespace replay::bench {

/// Planes `planes` of a cube of edge `n`, with a ghost plane before and one behind them. All numbers start at 0.
class Slab {
 public:
  /// REQUIRES: n is a power of two from 2 up; `planes` is within [0, n] and may be empty.
  Slab(int n, Block planes);

  int n() const { return n_; }
  Block planes() const { return planes_; }

  /// Row (y, z): n numbers along x. REQUIRES: 0 <= y < n; planes().begin - 1 <= z <= planes().end.
  double* row(std::int64_t y, std::int64_t z) { return values_.data() + offset(y, z); }
  const double* row(std::int64_t y, std::int64_t z) const { return values_.data() + offset(y, z); }

  /// A plane as it lies in memory, from row (0, z): its rows are padded, as powers of two apart they would share lines
  /// of the cache. Planes follow each other.
  std::span<double> plane(std::int64_t z) { return {row(0, z), plane_size()}; }
  std::size_t plane_size() const { return stride_ * static_cast<std::size_t>(n_); }

  /// Sets all to 0, ghost planes too.
  void clear();

  /// Fills the ghost planes where all planes are here. REQUIRES: planes() is [0, n).
  void close_period();

 private:
  std::size_t offset(std::int64_t y, std::int64_t z) const {
    return static_cast<std::size_t>(z - planes_.begin + 1) * plane_size() + static_cast<std::size_t>(y) * stride_;
  }

  int n_;
  Block planes_;
  std::size_t stride_;
  std::vector<double> values_;
};

/// Weights of a smoother: of the point itself, its 6 neighbours by face and its 12 by edge; corners have none.
struct Smoother {
  double centre;
  double face;
  double edge;
};

/// r = v - A u on planes(), where A is the discrete Laplacian with weights -8/3, 0, 1/6, 1/12. `r` and `v` may be the
/// same. REQUIRES: all three have the same edge and planes; ghost planes of u are filled.
void residual(const Slab& u, const Slab& v, Slab& r);

/// u += S r on planes(). REQUIRES: as for residual(); ghost planes of r are filled.
void smooth(const Smoother& smoother, const Slab& r, Slab& u);

/// coarse = P fine, with weights 1/2, 1/4, 1/8, 1/16, on the coarse planes that lie on planes of `fine`: [b / 2, e / 2)
/// for [b, e). REQUIRES: fine.n() == 2 * coarse.n(); `coarse` holds these; ghost planes of `fine` are filled.
void restrict_to(const Slab& fine, Slab& coarse);

/// fine += Q coarse, trilinear, on planes() of `fine` and on its ghost planes. REQUIRES: fine.n() == 2 * coarse.n();
/// `coarse` has planes [b / 2, e / 2) for [b, e) of `fine`, or more; ghost planes of `coarse` are filled.
void interpolate(const Slab& coarse, Slab& fine);

/// Sum of the squares of all numbers on planes().
double sum_of_squares(const Slab& slab);

}  // namespace replay::bench
