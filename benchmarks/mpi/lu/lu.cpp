// NAS LU: the compressible Navier-Stokes equations on a cube of n^3 points, driven towards a known steady state by
// symmetric successive over-relaxation (SSOR). Each rank owns a block of columns along i and j and all of k. Messages: in
// each step two sweeps, which go through the ranks as a pipeline, a plane at a time, with a message of 5 numbers for each
// point of an edge to two neighbours; and an exchange of two layers of points with all four. So there are many small
// messages, each of which another rank waits for. Eleven numbers are checked against the published ones to 1e-8.
// Source: Bailey et al. 1994, RNR-94-007; class W, the untimed first step and the published numbers: NAS Parallel
// Benchmarks 3. We differ in two points: any number of ranks that is a product of two numbers up to n - 2, with uneven
// parts; and the Jacobians are applied, not stored, which takes fewer operations than NAS counts.
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/kernel.hpp"
#include "benchmarks/mpi/lu/lu_check.hpp"
#include "benchmarks/mpi/lu/lu_residual.hpp"
#include "benchmarks/mpi/lu/lu_sweep.hpp"

namespace replay::bench {
namespace {

using namespace lu;

/// A flow on its way to the steady state.
class Solver {
 public:
  Solver(const Problem& problem, const World& world) : grid_(problem.points, world), sweeps_(grid_, problem.time_step) {
    set_start(grid_, start_);
  }

  /// `steps` steps from the start.
  Result solve(int steps) {
    u_ = start_;
    update_residual();
    for (int step = 0; step < steps; ++step) {
      sweeps_(u_, derived_, v_);
      add_change();
      exchange_frame_(u_);
      update_residual();
    }
    return result_of(grid_, u_, derived_, v_);
  }

 private:
  void update_residual() {
    derive(grid_, u_, derived_);
    compute_residual(grid_, u_, derived_, forcing_, v_);
  }

  void add_change() {
    const double factor = Sweeps::factor();
    for (int m = 0; m < kQuantities; ++m) {
      for (int k = 1; k < grid_.points() - 1; ++k) {
        for (int j = 0; j < grid_.own_j(); ++j) {
          double* const u = u_[m] + grid_.at(0, j, k);
          const double* const v = v_[m] + grid_.at(0, j, k);
          for (int i = 0; i < grid_.own_i(); ++i) u[i] += factor * v[i];
        }
      }
    }
  }

  Grid grid_;
  Field start_{grid_};
  Field forcing_ = forcing_of(grid_);
  Field u_{grid_};
  DerivedField derived_{grid_};
  Field v_{grid_};  // the residual, and what the sweeps make of it
  FrameExchange exchange_frame_{grid_};
  Sweeps sweeps_;
};

std::string text_of(const Point& numbers) { return fmt::format("{:.13e}", fmt::join(numbers, " ")); }

int lu_program(const World& world, int argc, char** argv) {
  Kernel kernel{world, "lu", "NAS LU: a flow by SSOR, small messages in a pipeline", argc, argv};
  if (kernel.is_over()) return kVerified;
  const Problem& problem = *std::ranges::find(problems(), kernel.class_name(), &Problem::name);
  const Shape shape = shape_of(world.size);
  if (shape.rows > problem.points - 2)
    kernel.reject_processes(
        fmt::format("a product of two numbers up to {} of processes, rows and columns", problem.points - 2));

  Solver solver{problem, world};
  solver.solve(1);  // touches all memory and opens all connections, untimed
  Result result{};
  kernel.time([&] {
    result = solver.solve(problem.steps);
    return agrees(result, problem.published);
  });

  Report report = kernel.begin_report();
  report.row("points", fmt::format("{0} x {0} x {0}", problem.points));
  report.row("steps", problem.steps);
  report.row("grid_of_processes", fmt::format("{} x {}", shape.columns, shape.rows));
  report.row("residual", text_of(result.residual));
  report.row("residual_published", text_of(problem.published.residual));
  report.row("error", text_of(result.error));
  report.row("error_published", text_of(problem.published.error));
  report.row("surface", fmt::format("{:.13e}", result.surface));
  report.row("surface_published", fmt::format("{:.13e}", problem.published.surface));
  return kernel.finish(report, problem.operations());
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::lu_program); }
