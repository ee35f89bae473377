// NAS MG: the Poisson equation on a periodic cube, by V-cycles of a multigrid method with a given smoother; slabs in one
// dimension, see mg_problem.hpp. Messages: after each operator on a distributed level a plane to and from either
// neighbour, a quarter as large from level to level, and once per cycle an Allgatherv of the finest gathered level. That
// makes 15 exchanges per cycle for class A on up to 16 ranks, in which each sends 4.4 MB. The L2 norm of the residual is
// checked against the published one to 1e-8. Source: Bailey et al. 1994, RNR-94-007; class W, the smoothers and the
// untimed first cycle: NAS Parallel Benchmarks 3. We differ in two points: slabs on any number of ranks up to half the
// planes, and coarse levels that all ranks hold.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/kernel.hpp"
#include "benchmarks/mpi/mg/mg_ghosts.hpp"
#include "benchmarks/mpi/mg/mg_problem.hpp"
#include "benchmarks/mpi/mg/mg_slab.hpp"

namespace replay::bench {
namespace {

constexpr double kTolerance = 1e-8;
constexpr Smoother kSmootherA{-3.0 / 8, 1.0 / 32, -1.0 / 64};
constexpr Smoother kSmootherB{-3.0 / 17, 1.0 / 33, -1.0 / 61};

struct Problem {
  const char* name;
  int n;  // points along each edge
  int cycles;
  Smoother smoother;
  double norm;  // of the residual after all cycles

  double points() const { return std::pow(n, 3); }
  double operations() const { return 58.0 * cycles * points(); }
  // Two planes each: with more ranks the gathered levels would take most of the time.
  int most_ranks() const { return n / 2; }
};

constexpr std::array kProblems = {
    Problem{"S", 32, 4, kSmootherA, 0.5307707005734e-04},
    Problem{"W", 128, 4, kSmootherA, 0.6467329375339e-05},
    Problem{"A", 256, 4, kSmootherA, 0.2433365309069e-05},
    Problem{"B", 256, 20, kSmootherB, 0.1800564401355e-05},
};

/// The random points that count among all ranks' points. Collective.
Extremes find_extremes_of_all(int n, Block planes) {
  const Extremes here = find_extremes(n, planes);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<Extremes> everywhere(static_cast<std::size_t>(size));
  MPI_Allgather(&here, sizeof here, MPI_BYTE, everywhere.data(), sizeof here, MPI_BYTE, MPI_COMM_WORLD);
  Extremes all;
  for (const Extremes& some : everywhere) {
    for (const RandomPoint& point : some.smallest) all.add(point);
    for (const RandomPoint& point : some.largest) all.add(point);
  }
  return all;
}

class Multigrid {
 public:
  Multigrid(const Problem& problem, const World& world)
      : problem_(problem),
        world_(world),
        levels_(make_levels(problem.n, world.size)),
        top_(levels_.size() - 1),
        right_side_(problem.n, levels_[top_].planes(world.rank)) {
    for (const Level& level : levels_) {
      solution_.emplace_back(level.n, level.planes(world.rank));
      residual_.emplace_back(level.n, level.planes(world.rank));
    }
    const Extremes extremes = find_extremes_of_all(problem.n, right_side_.planes());
    for (const RandomPoint& point : extremes.smallest) set_charge(point.index, -1);
    for (const RandomPoint& point : extremes.largest) set_charge(point.index, 1);
  }

  /// `cycles` V-cycles from the solution 0. Returns the L2 norm of the residual. Collective.
  double solve(int cycles) {
    solution_[top_].clear();
    update_residual();
    norm();  // unused, but part of what NAS times
    for (int cycle = 0; cycle < cycles; ++cycle) {
      v_cycle();
      update_residual();
    }
    return norm();
  }

 private:
  void set_charge(std::int64_t index, double charge) {
    const std::int64_t n = problem_.n;
    const std::int64_t z = index / (n * n);
    const Block planes = right_side_.planes();
    if (z >= planes.begin && z < planes.end) right_side_.row(index / n % n, z)[index % n] = charge;
  }

  void update_residual() {
    residual(solution_[top_], right_side_, residual_[top_]);
    fill_ghosts(residual_[top_], world_);
  }

  void v_cycle() {
    for (std::size_t k = top_; k > 0; --k) restrict_residual(k);
    solution_[0].clear();
    smooth_on(0);
    for (std::size_t k = 1; k <= top_; ++k) {
      if (k < top_) solution_[k].clear();
      interpolate(solution_[k - 1], solution_[k]);
      residual(solution_[k], k == top_ ? right_side_ : residual_[k], residual_[k]);
      fill_ghosts(residual_[k], world_);
      smooth_on(k);
    }
  }

  void restrict_residual(std::size_t fine) {
    restrict_to(residual_[fine], residual_[fine - 1]);
    if (levels_[fine - 1].is_gathered && !levels_[fine].is_gathered) {
      gather(residual_[fine - 1], levels_[fine - 1]);
    } else {
      fill_ghosts(residual_[fine - 1], world_);
    }
  }

  void smooth_on(std::size_t k) {
    smooth(problem_.smoother, residual_[k], solution_[k]);
    fill_ghosts(solution_[k], world_);
  }

  double norm() const { return std::sqrt(sum_over_ranks(sum_of_squares(residual_[top_])) / problem_.points()); }

  const Problem& problem_;
  World world_;
  std::vector<Level> levels_;  // the finest last
  std::size_t top_;
  Slab right_side_;             // "v", on the finest level
  std::vector<Slab> solution_;  // "u", by level
  std::vector<Slab> residual_;  // "r", by level
};

int mg(const World& world, int argc, char** argv) {
  Kernel kernel{world, "mg", "NAS MG: multigrid, messages of all sizes between neighbours", argc, argv};
  if (kernel.is_over()) return kVerified;
  const Problem& problem = *std::ranges::find(kProblems, kernel.class_name(), &Problem::name);
  kernel.expect_at_most(problem.most_ranks(), "with two planes each");

  Multigrid multigrid{problem, world};
  multigrid.solve(1);  // touches all memory and opens all connections, untimed
  double norm = 0;
  kernel.time([&] {
    norm = multigrid.solve(problem.cycles);
    return std::fabs(norm - problem.norm) / problem.norm <= kTolerance;
  });

  Report report = kernel.begin_report();
  report.row("points", fmt::format("{0} x {0} x {0}", problem.n));
  report.row("cycles", problem.cycles);
  report.row("norm", fmt::format("{:.13e}", norm));
  report.row("norm_published", fmt::format("{:.13e}", problem.norm));
  return kernel.finish(report, problem.operations());
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::mg); }
