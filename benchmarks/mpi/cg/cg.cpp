// NAS CG: the eigenvalue of a large sparse symmetric matrix next to a given shift, by inverse power iteration; each
// step solves a linear system with 25 steps of conjugate gradients. Each rank owns a block of rows of the matrix, and
// that part of the vectors but for direction and residual, which every rank keeps whole. Messages: each rank sends its
// part of each product by the matrix to each other rank, and with it its part of the dot product with the direction.
// From these each rank computes the next residual, its square and the next direction itself, so no step of conjugate
// gradients needs a sum over the ranks. That makes 405 exchanges in some 60 ms for class W on 2 cores, each of which
// all ranks wait for: of all programs here, CG suffers most where waiting costs. zeta is checked against the published
// value to 1e-10. Source: Bailey et al. 1994, RNR-94-007; class W and the untimed first step: NAS Parallel Benchmarks
// 3. We differ in two points: rows in one dimension on any number of ranks, not a grid of 2^k ranks; and two vectors
// are whole, where the reference code keeps parts of all, and adds up two numbers over all ranks in each step.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/mpi/cg/cg_matrix.hpp"
#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/kernel.hpp"

namespace replay::bench {
namespace {

constexpr int kInnerSteps = 25;
constexpr double kTolerance = 1e-10;
constexpr int kTag = 1;
constexpr std::size_t kPiece = 1000;  // numbers, 8 kB: what MPICH sends without asking the receiver first

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

using Vector = std::vector<double>;

/// In eight sums, which the compiler may compute side by side.
double dot(std::span<const double> a, std::span<const double> b) {
  std::array<double, 8> sums{};
  const std::size_t end = a.size() / sums.size() * sums.size();
  for (std::size_t i = 0; i < end; i += sums.size())
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += a[i + n] * b[i + n];
  for (std::size_t i = end; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// out += factor * part; returns the square of the new `out`, summed up likewise.
double add(double factor, std::span<const double> part, std::span<double> out) {
  std::array<double, 8> sums{};
  const std::size_t end = part.size() / sums.size() * sums.size();
  for (std::size_t i = 0; i < end; i += sums.size())
    for (std::size_t n = 0; n < sums.size(); ++n) {
      out[i + n] += factor * part[i + n];
      sums[n] += out[i + n] * out[i + n];
    }
  for (std::size_t i = end; i < part.size(); ++i) {
    out[i] += factor * part[i];
    sums[0] += out[i] * out[i];
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// Brings the parts of a vector, and a number of each rank's with them, to all ranks: from each to each other rank, in
/// messages so small that MPICH sends them without waiting for the receiver. So a rank waits only for what it receives.
class Gathering {
 public:
  Gathering(int order, const World& world) : world_(world), gathered_(static_cast<std::size_t>(order + world.size)) {
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
    requests_.clear();
    for (int distance = 1; distance < world_.size; ++distance) {
      const int from = (world_.rank + world_.size - distance) % world_.size;
      for_each_piece(message(from), [&](double* piece, int count) {
        MPI_Irecv(piece, count, MPI_DOUBLE, from, kTag, MPI_COMM_WORLD, &requests_.emplace_back());
      });
    }
    for (int distance = 1; distance < world_.size; ++distance) {
      const int to = (world_.rank + distance) % world_.size;
      for_each_piece(message(world_.rank), [&](double* piece, int count) {
        MPI_Isend(piece, count, MPI_DOUBLE, to, kTag, MPI_COMM_WORLD, &requests_.emplace_back());
      });
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  template <typename Use>
  static void for_each_piece(std::span<double> message, Use use) {
    for (std::size_t begin = 0; begin < message.size(); begin += kPiece) {
      const std::span<double> piece = message.subspan(begin, std::min(kPiece, message.size() - begin));
      use(piece.data(), static_cast<int>(piece.size()));
    }
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

/// Inverse power iteration. p and r are whole on every rank, and of the same bits; x, z and q are this rank's part.
class Iteration {
 public:
  Iteration(const Problem& problem, const World& world)
      : shift_(problem.shift),
        gather_(problem.order, world),
        matrix_(make_cg_matrix(problem.order, problem.nonzeros, problem.shift, gather_.own())),
        p_(static_cast<std::size_t>(problem.order)),
        r_(p_.size()),
        x_(matrix_.start.size() - 1),
        z_(x_.size()),
        q_(x_.size()) {}

  /// Collective. `steps` steps from the vector of ones.
  Estimate run(int steps) {
    std::ranges::fill(x_, 1.0);
    Estimate estimate;
    for (int step = 0; step < steps; ++step) {
      solve();
      std::array sums{dot(x_, z_), dot(z_, z_), dot(q_, q_)};
      MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      estimate = {.zeta = shift_ + 1 / sums[0], .residual = std::sqrt(sums[2])};
      const double scale = 1 / std::sqrt(sums[1]);
      for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = scale * z_[i];
    }
    return estimate;
  }

 private:
  /// Approximately solves matrix * z = x, starting from z = 0. Leaves matrix * z - x in q.
  void solve() {
    std::ranges::fill(z_, 0.0);
    double rho = make_whole(x_, r_);
    p_ = r_;
    const auto mine = std::span{p_}.subspan(static_cast<std::size_t>(gather_.own().begin), x_.size());
    for (int step = 0; step < kInnerSteps; ++step) {
      multiply(matrix_, p_, q_);
      const double alpha = rho / gather_(q_, dot(mine, q_));
      for (std::size_t i = 0; i < z_.size(); ++i) z_[i] += alpha * mine[i];
      const double previous = rho;
      rho = add_gathered(r_, -alpha);
      const double beta = rho / previous;
      for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = r_[i] + beta * p_[i];
    }
    make_whole(z_, p_);
    multiply(matrix_, p_, q_);
    for (std::size_t i = 0; i < x_.size(); ++i) q_[i] -= x_[i];
  }

  /// Collective. `whole` becomes the vector of which every rank has its `part`; returns its square.
  double make_whole(const Vector& part, Vector& whole) {
    gather_(part, 0);
    std::ranges::fill(whole, 0.0);
    return add_gathered(whole, 1);
  }

  /// out += factor * gathered; returns the square of the new `out`, the same bits on every rank.
  double add_gathered(Vector& out, double factor) {
    double square = 0;
    gather_.for_each_part([&](std::size_t first, std::span<const double> part) {
      square += add(factor, part, std::span{out}.subspan(first, part.size()));
    });
    return square;
  }

  double shift_;
  Gathering gather_;
  SparseRows matrix_;
  Vector p_;
  Vector r_;
  Vector x_;
  Vector z_;
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
