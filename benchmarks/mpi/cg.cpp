// NAS CG: the eigenvalue of a large sparse symmetric matrix next to a given shift, by inverse power iteration; each
// step solves a linear system with 25 steps of conjugate gradients. Each rank owns a block of rows and that part of all
// vectors. Messages: in each of the 26 products by the matrix an Allgatherv of the whole vector, as the random pattern
// of nonzeros needs almost all of it everywhere, and about two Allreduces of one number for dot products. That makes
// 1,200 collective calls in some 60 ms for class W on 2 cores: of all programs here, CG suffers most where waiting
// costs. zeta is checked against the published value to 1e-10. Source: Bailey et al. 1994, RNR-94-007; class W and the
// untimed first step: NAS Parallel Benchmarks 3. We differ in one point: rows in one dimension on any number of ranks,
// not a grid of 2^k ranks.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/mpi/cg_matrix.hpp"
#include "benchmarks/mpi/common.hpp"
#include "benchmarks/mpi/kernel.hpp"

namespace replay::bench {
namespace {

constexpr int kInnerSteps = 25;
constexpr double kTolerance = 1e-10;

struct Problem {
  const char* name;
  int order;     // "na"
  int nonzeros;  // "nonzer": random entries in each vector that makes up the matrix
  int steps;     // "niter"
  double shift;
  double zeta;

  double operations() const {
    const double entries = nonzeros * (nonzeros + 1.0);
    return 2.0 * steps * order * (3 + entries + kInnerSteps * (5 + entries) + 3);
  }
};

constexpr std::array kProblems = {
    Problem{"S", 1400, 7, 15, 10, 8.5971775078648},
    Problem{"W", 7000, 8, 15, 12, 10.362595087124},
    Problem{"A", 14000, 11, 15, 20, 17.130235054029},
    Problem{"B", 75000, 13, 75, 60, 22.712745482631},
};

using Vector = std::vector<double>;  // this rank's part

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum);
}

/// The matrix and the messages that a product with it takes.
class DistributedMatrix {
 public:
  DistributedMatrix(const Problem& problem, const World& world)
      : rows_(make_cg_matrix(problem.order, problem.nonzeros, problem.shift,
                             block_of(problem.order, world.rank, world.size))),
        whole_(static_cast<std::size_t>(problem.order)) {
    for (int rank = 0; rank < world.size; ++rank) {
      const Block block = block_of(problem.order, rank, world.size);
      counts_.push_back(static_cast<int>(block.size()));
      offsets_.push_back(static_cast<int>(block.begin));
    }
  }

  std::size_t own_rows() const { return rows_.start.size() - 1; }

  /// product = matrix * vector. Collective.
  void multiply(const Vector& vector, Vector& product) {
    MPI_Allgatherv(vector.data(), static_cast<int>(vector.size()), MPI_DOUBLE, whole_.data(), counts_.data(),
                   offsets_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    bench::multiply(rows_, whole_, product);
  }

 private:
  SparseRows rows_;
  Vector whole_;
  std::vector<int> counts_;
  std::vector<int> offsets_;
};

/// Approximately solves matrix * z = x, starting from z = 0. Returns ||x - matrix * z||.
double solve(DistributedMatrix& matrix, const Vector& x, Vector& z) {
  const std::size_t n = x.size();
  Vector r = x;
  Vector p = x;
  Vector q(n);
  std::ranges::fill(z, 0.0);
  double rho = dot(r, r);
  for (int step = 0; step < kInnerSteps; ++step) {
    matrix.multiply(p, q);
    const double alpha = rho / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) {
      z[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double previous = rho;
    rho = dot(r, r);
    const double beta = rho / previous;
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + beta * p[i];
  }
  matrix.multiply(z, q);
  for (std::size_t i = 0; i < n; ++i) r[i] = x[i] - q[i];
  return std::sqrt(dot(r, r));
}

struct Estimate {
  double zeta = 0;
  double residual = 0;
};

/// `steps` steps of inverse power iteration from the vector of ones.
Estimate iterate(DistributedMatrix& matrix, const Problem& problem, int steps) {
  Vector x(matrix.own_rows(), 1.0);
  Vector z(x.size());
  Estimate estimate;
  for (int step = 0; step < steps; ++step) {
    estimate.residual = solve(matrix, x, z);
    estimate.zeta = problem.shift + 1 / dot(x, z);
    const double scale = 1 / std::sqrt(dot(z, z));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = scale * z[i];
  }
  return estimate;
}

int cg(const World& world, int argc, char** argv) {
  Kernel kernel{world, "cg", "NAS CG: eigenvalue of a sparse matrix, many messages", argc, argv};
  if (kernel.is_over()) return kVerified;
  const Problem& problem = *std::ranges::find(kProblems, kernel.class_name(), &Problem::name);
  kernel.expect_at_most(problem.order, "one for each row");

  DistributedMatrix matrix{problem, world};
  iterate(matrix, problem, 1);  // touches all memory and opens all connections, untimed
  Estimate estimate;
  kernel.time([&] {
    estimate = iterate(matrix, problem, problem.steps);
    return std::fabs(estimate.zeta - problem.zeta) / problem.zeta <= kTolerance;
  });

  Report report = kernel.begin_report();
  report.row("order", problem.order);
  report.row("zeta", fmt::format("{:.13f}", estimate.zeta));
  report.row("zeta_published", fmt::format("{:.13f}", problem.zeta));
  report.row("residual", fmt::format("{:.3e}", estimate.residual));
  return kernel.finish(report, problem.operations());
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::cg); }
