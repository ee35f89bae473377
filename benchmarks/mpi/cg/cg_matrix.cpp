// Two passes over the vectors: the first draws them, the second adds up their outer products row by row.
#include "benchmarks/mpi/cg/cg_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "benchmarks/mpi/common/nas_random.hpp"

namespace replay::bench {
namespace {

struct Entry {
  std::uint32_t column;
  double value;
};
using SparseVector = std::vector<Entry>;

constexpr std::uint64_t kSeed = 314159265;
constexpr double kCondition = 0.1;  // "rcond": the reciprocal of the condition number

/// `nonzeros` entries at distinct places, drawn in pairs of a value and a place; places come from the next power of two
/// and are drawn again, with their value, when beyond the order or taken.
SparseVector draw_vector(std::int64_t order, int nonzeros, NasRandom& random) {
  const double places = static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(order)));
  SparseVector vector;
  while (vector.size() < static_cast<std::size_t>(nonzeros)) {
    const double value = random.next();
    const auto place = static_cast<std::uint32_t>(places * random.next());
    if (place >= order || std::ranges::find(vector, place, &Entry::column) != vector.end()) continue;
    vector.push_back({place, value});
  }
  return vector;
}

void set_entry(SparseVector& vector, std::uint32_t column, double value) {
  const auto entry = std::ranges::find(vector, column, &Entry::column);
  if (entry != vector.end()) {
    entry->value = value;
  } else {
    vector.push_back({column, value});
  }
}

/// Sorts by column and adds up entries of one column, in the order in which they came.
void merge_columns(SparseVector& row) {
  std::ranges::stable_sort(row, {}, &Entry::column);
  std::size_t kept = 0;
  for (const Entry& entry : row) {
    if (kept > 0 && row[kept - 1].column == entry.column) {
      row[kept - 1].value += entry.value;
    } else {
      row[kept++] = entry;
    }
  }
  row.resize(kept);
}

SparseRows compress(std::vector<SparseVector>& rows) {
  SparseRows compressed;
  compressed.start.push_back(0);
  for (SparseVector& row : rows) {
    merge_columns(row);
    for (const Entry& entry : row) {
      compressed.column.push_back(entry.column);
      compressed.value.push_back(entry.value);
    }
    compressed.start.push_back(compressed.column.size());
    SparseVector{}.swap(row);
  }
  return compressed;
}

}  // namespace

SparseRows make_cg_matrix(std::int64_t order, int nonzeros, double shift, Block rows) {
  NasRandom random{kSeed, kNasMultiplier};
  random.next();  // the first number is drawn and not used
  std::vector<SparseVector> mine(static_cast<std::size_t>(rows.size()));
  const double ratio = std::pow(kCondition, 1.0 / static_cast<double>(order));
  double weight = 1;
  for (std::int64_t i = 0; i < order; ++i, weight *= ratio) {
    SparseVector vector = draw_vector(order, nonzeros, random);
    set_entry(vector, static_cast<std::uint32_t>(i), 0.5);
    for (const Entry& left : vector) {
      if (left.column < rows.begin || left.column >= rows.end) continue;
      SparseVector& row = mine[static_cast<std::size_t>(left.column - rows.begin)];
      for (const Entry& right : vector) {
        const bool is_corner = left.column == i && right.column == i;
        row.push_back({right.column, right.value * (left.value * weight) + (is_corner ? kCondition - shift : 0)});
      }
    }
  }
  return compress(mine);
}

void multiply(const SparseRows& rows, std::span<const double> vector, std::span<double> product) {
  for (std::size_t i = 0; i < product.size(); ++i) {
    const std::size_t end = rows.start[i + 1];
    std::size_t k = rows.start[i];
    double even = 0;  // two sums, as one would wait for each of its own additions
    double odd = 0;
    for (; k + 1 < end; k += 2) {
      even += rows.value[k] * vector[rows.column[k]];
      odd += rows.value[k + 1] * vector[rows.column[k + 1]];
    }
    if (k < end) even += rows.value[k] * vector[rows.column[k]];
    product[i] = even + odd;
  }
}

}  // namespace replay::bench
