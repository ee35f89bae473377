// LU's numbers: the five conserved quantities at each point (density, momentum along i, j, k, energy), in one array for
// each of them, so that loops along i read and write consecutive numbers. All arrays have the layout of Grid.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "benchmarks/mpi/lu/lu_grid.hpp"

/// For the front of a loop with rounds that do not depend on each other: the compiler cannot see that from so many
/// pointers.
#if defined(__GNUC__) && !defined(__clang__)
#define REPLAY_INDEPENDENT _Pragma("GCC ivdep")
#else
#define REPLAY_INDEPENDENT
#endif

namespace replay::bench::lu {

inline constexpr int kQuantities = 5;
using Point = std::array<double, kQuantities>;

/// `Count` arrays with a number for each point of a rank's part and its frame, zero at first.
template <int Count>
class Arrays {
 public:
  explicit Arrays(const Grid& grid)
      : stride_(padded(grid.volume())), numbers_(Count * static_cast<std::size_t>(stride_)) {}

  double* operator[](int array) { return numbers_.data() + array * stride_; }
  const double* operator[](int array) const { return numbers_.data() + array * stride_; }

 private:
  /// The arrays are read side by side: at a distance of whole pages they would compete for the same lines of the cache.
  static std::ptrdiff_t padded(std::ptrdiff_t volume) {
    constexpr std::ptrdiff_t kPage = 512;
    constexpr std::ptrdiff_t kShift = 72;
    return (volume + kPage - 1) / kPage * kPage + kShift;
  }

  std::ptrdiff_t stride_;
  std::vector<double> numbers_;
};

using Field = Arrays<kQuantities>;

/// Collective. Fills the frame of all planes 1 to n - 2 with the neighbours' points, two deep: along i and along j one
/// message to each neighbour, or two where some rank has less than two points to give.
class FrameExchange {
 public:
  explicit FrameExchange(const Grid& grid);
  void operator()(Field& field);

 private:
  void along_i(Field& field, int layer, int depth);
  void along_j(Field& field, int layer, int depth);

  const Grid& grid_;
  std::vector<double> sent_;
  std::vector<double> received_;
};

}  // namespace replay::bench::lu
