// The matrix of NAS CG: sparse, symmetric, with a random pattern of nonzeros. It is the sum over i of w_i x_i x_i^T,
// where x_i is a random sparse vector with 1/2 at i and w_i falls geometrically from 1 to 1/10, plus (1/10 - shift) on
// the diagonal. Every rank draws the whole random sequence, as it has no short cut, and keeps the rows it owns.
// Source: Bailey et al. 1994, RNR-94-007; order of the random numbers as in NAS Parallel Benchmarks 3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"

namespace replay::bench {

/// Some rows of a sparse matrix, compressed by row.
struct SparseRows {
  std::vector<std::size_t> start;  // row i of the block has entries [start[i], start[i + 1])
  std::vector<std::uint32_t> column;
  std::vector<double> value;
};

/// Rows `rows` of the matrix of order `order`, made of vectors with `nonzeros` random entries. Takes O(order *
/// nonzeros^2) time and memory for the whole of the vectors and for the rows kept.
SparseRows make_cg_matrix(std::int64_t order, int nonzeros, double shift, Block rows);

/// product = rows * vector. REQUIRES: product has as many entries as there are rows.
void multiply(const SparseRows& rows, std::span<const double> vector, std::span<double> product);

}  // namespace replay::bench
