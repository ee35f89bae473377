// NAS CG: the eigenvalue of a large sparse symmetric matrix next to a given shift, by inverse power iteration; each
// step solves a linear system with 25 steps of conjugate gradients. Each rank owns a block of rows and that part of all
// vectors. Messages: for each of the 26 products by the matrix everybody sends his part of a vector to everybody else, as
// the random pattern of nonzeros needs almost all of it everywhere; and for each step an Allreduce of one number. The
// other dot product of a step travels with the vector. That makes 780 exchanges in some 60 ms for class W on 2 cores, each
// of which all ranks wait for: of all programs here, CG suffers most where waiting costs. zeta is checked against the
// published value to 1e-10. Source: Bailey et al. 1994, RNR-94-007; class W and the untimed first step: NAS Parallel
// Benchmarks 3. We differ in two points: rows in one dimension on any number of ranks, not a grid of 2^k ranks; and the
// residual is sent, from which each rank makes the whole next direction, where the reference code sends the direction.
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
constexpr int kTag = 1;

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

using Vector = std::vector<double>;  // this rank's part, if nothing else is said

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Brings the parts of a vector, and a number of each rank's with them, to all ranks: one message to each other rank.
class Gathering {
 public:
  Gathering(int order, const World& world)
      : world_(world),
        gathered_(static_cast<std::size_t>(order + world.size)),
        requests_(2 * static_cast<std::size_t>(world.size - 1)) {
    for (int rank = 0; rank < world.size; ++rank) blocks_.push_back(block_of(order, rank, world.size));
  }

  Block own() const { return block(world_.rank); }

  /// Collective. The sum of the numbers, in the order of the ranks, so that all get the same bits.
  double operator()(const Vector& part, double number) {
    const std::span<double> mine = message(world_.rank);
    std::ranges::copy(part, mine.begin());
    mine.back() = number;
    exchange();
    double sum = 0;
    for (int rank = 0; rank < world_.size; ++rank) sum += message(rank).back();
    return sum;
  }

  /// Calls `use` with the first row and the numbers of every part that was gathered.
  template <typename Use>
  void for_each_part(Use use) {
    for (int rank = 0; rank < world_.size; ++rank) {
      const std::span<const double> all = message(rank);
      use(static_cast<std::size_t>(block(rank).begin), all.first(all.size() - 1));
    }
  }

 private:
  Block block(int rank) const { return blocks_[static_cast<std::size_t>(rank)]; }

  std::span<double> message(int rank) {
    const auto first = static_cast<std::size_t>(block(rank).begin + rank);
    return std::span{gathered_}.subspan(first, static_cast<std::size_t>(block(rank).size() + 1));
  }

  void exchange() {
    const std::span<const double> mine = message(world_.rank);
    auto request = requests_.begin();
    for (int distance = 1; distance < world_.size; ++distance) {
      const int from = (world_.rank + world_.size - distance) % world_.size;
      const std::span<double> theirs = message(from);
      MPI_Irecv(theirs.data(), static_cast<int>(theirs.size()), MPI_DOUBLE, from, kTag, MPI_COMM_WORLD, &*request++);
    }
    for (int distance = 1; distance < world_.size; ++distance) {
      const int to = (world_.rank + distance) % world_.size;
      MPI_Isend(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, to, kTag, MPI_COMM_WORLD, &*request++);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  World world_;
  std::vector<Block> blocks_;
  std::vector<double> gathered_;  // part and number of rank 0, of rank 1, ...
  std::vector<MPI_Request> requests_;
};

struct Estimate {
  double zeta = 0;
  double residual = 0;
};

/// Inverse power iteration. Every rank keeps its part of all vectors, and the whole of the one that is multiplied by the
/// matrix: each makes the next of these itself from the residual, which is sent together with its square.
class Iteration {
 public:
  Iteration(const Problem& problem, const World& world)
      : shift_(problem.shift),
        gather_(problem.order, world),
        matrix_(make_cg_matrix(problem.order, problem.nonzeros, problem.shift, gather_.own())),
        whole_(static_cast<std::size_t>(problem.order)),
        x_(matrix_.start.size() - 1),
        z_(x_.size()),
        r_(x_.size()),
        q_(x_.size()) {}

  /// Collective. `steps` steps from the vector of ones.
  Estimate run(int steps) {
    std::ranges::fill(x_, 1.0);
    Estimate estimate;
    for (int step = 0; step < steps; ++step) {
      solve();
      std::array sums{dot(x_, z_), dot(z_, z_), dot(r_, r_)};
      MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      estimate = {.zeta = shift_ + 1 / sums[0], .residual = std::sqrt(sums[2])};
      const double scale = 1 / std::sqrt(sums[1]);
      for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = scale * z_[i];
    }
    return estimate;
  }

 private:
  /// Approximately solves matrix * z = x, starting from z = 0. Leaves x - matrix * z in r.
  void solve() {
    std::ranges::fill(whole_, 0.0);
    std::ranges::fill(z_, 0.0);
    r_ = x_;
    const auto p = std::span{whole_}.subspan(static_cast<std::size_t>(gather_.own().begin), x_.size());
    double previous = 1;
    for (int step = 0; step < kInnerSteps; ++step) {
      const double rho = gather_(r_, dot(r_, r_));
      add_gathered(rho / previous);
      multiply(matrix_, whole_, q_);
      const double alpha = rho / sum_over_ranks(dot(p, q_));
      for (std::size_t i = 0; i < x_.size(); ++i) {
        z_[i] += alpha * p[i];
        r_[i] -= alpha * q_[i];
      }
      previous = rho;
    }
    gather_(z_, 0);
    add_gathered(0);
    multiply(matrix_, whole_, q_);
    for (std::size_t i = 0; i < x_.size(); ++i) r_[i] = x_[i] - q_[i];
  }

  /// whole = gathered + beta * whole.
  void add_gathered(double beta) {
    gather_.for_each_part([this, beta](std::size_t first, std::span<const double> part) {
      double* const out = whole_.data() + first;
      for (std::size_t i = 0; i < part.size(); ++i) out[i] = part[i] + beta * out[i];
    });
  }

  double shift_;
  Gathering gather_;
  SparseRows matrix_;
  std::vector<double> whole_;  // "p"
  Vector x_;
  Vector z_;
  Vector r_;
  Vector q_;
};

int cg(const World& world, int argc, char** argv) {
  Kernel kernel{world, "cg", "NAS CG: eigenvalue of a sparse matrix, many messages", argc, argv};
  if (kernel.is_over()) return kVerified;
  const Problem& problem = *std::ranges::find(kProblems, kernel.class_name(), &Problem::name);
  kernel.expect_at_most(problem.order, "one for each row");

  Iteration iteration{problem, world};
  iteration.run(1);  // touches all memory and opens all connections, untimed
  Estimate estimate;
  kernel.time([&] {
    estimate = iteration.run(problem.steps);
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
