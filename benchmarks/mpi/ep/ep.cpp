// NAS EP, "embarrassingly parallel": 2^m pairs of uniform numbers become pairs of Gaussian deviates by the polar
// method, which are summed and counted by annulus max(|X|, |Y|). The pairs are cut into blocks of 2^16; each rank
// computes a contiguous range of blocks, jumping to its place in the one random sequence. Messages: three small
// Allreduces at the end, so CPU use is close to 1. The sums are checked against the published ones to 1e-8. Source:
// Bailey et al. 1994, RNR-94-007; class W: NAS Parallel Benchmarks 2 and later. We differ in one point: any number of
// ranks up to the number of blocks, with uneven shares.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/kernel.hpp"
#include "benchmarks/mpi/common/nas_random.hpp"

namespace replay::bench {
namespace {

constexpr int kBlockBits = 16;  // "mk": pairs in a block, as a power of two
constexpr std::uint64_t kSeed = 271828183;
constexpr double kTolerance = 1e-8;

struct Problem {
  const char* name;
  int bits;  // "m": pairs, as a power of two
  double sum_x;
  double sum_y;

  std::int64_t blocks() const { return std::int64_t{1} << (bits - kBlockBits); }
};

constexpr std::array kProblems = {
    Problem{"S", 24, -3.247834652034740e+3, -6.958407078382297e+3},
    Problem{"W", 25, -2.863319731645753e+3, -6.320053679109499e+3},
    Problem{"A", 28, -4.295875165629892e+3, -1.580732573678431e+4},
    Problem{"B", 30, 4.033815542441498e+4, -2.660669192809235e+4},
};

struct Deviates {
  double sum_x = 0;
  double sum_y = 0;
  std::array<std::int64_t, 10> annulus{};  // pairs with l <= max(|X|, |Y|) < l + 1
};

void add_block(std::int64_t block, Deviates& deviates) {
  constexpr std::int64_t kPairs = std::int64_t{1} << kBlockBits;
  NasRandom random{kSeed, kNasMultiplier};
  random.skip(static_cast<std::uint64_t>(2 * kPairs * block));
  for (std::int64_t i = 0; i < kPairs; ++i) {
    const double x = 2 * random.next() - 1;
    const double y = 2 * random.next() - 1;
    const double t = x * x + y * y;
    if (t > 1) continue;
    const double factor = std::sqrt(-2 * std::log(t) / t);
    const double gauss_x = x * factor;
    const double gauss_y = y * factor;
    ++deviates.annulus[static_cast<std::size_t>(std::fmax(std::fabs(gauss_x), std::fabs(gauss_y)))];
    deviates.sum_x += gauss_x;
    deviates.sum_y += gauss_y;
  }
}

Deviates compute(const Problem& problem, const World& world) {
  Deviates mine;
  const Block blocks = block_of(problem.blocks(), world.rank, world.size);
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block) add_block(block, mine);

  Deviates all;
  all.sum_x = sum_over_ranks(mine.sum_x);
  all.sum_y = sum_over_ranks(mine.sum_y);
  MPI_Allreduce(mine.annulus.data(), all.annulus.data(), static_cast<int>(mine.annulus.size()), MPI_INT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  return all;
}

bool is_close(double found, double published) { return std::fabs((found - published) / published) <= kTolerance; }

int ep(const World& world, int argc, char** argv) {
  Kernel kernel{world, "ep", "NAS EP: Gaussian deviates, almost no messages", argc, argv};
  if (kernel.is_over()) return kVerified;
  const Problem& problem = *std::ranges::find(kProblems, kernel.class_name(), &Problem::name);
  kernel.expect_at_most(problem.blocks(), "one for each block");

  Deviates deviates;
  kernel.time([&] {
    deviates = compute(problem, world);
    return is_close(deviates.sum_x, problem.sum_x) && is_close(deviates.sum_y, problem.sum_y);
  });

  Report report = kernel.begin_report();
  report.row("pairs_log2", problem.bits);
  report.row("sum_x", fmt::format("{:.15e}", deviates.sum_x));
  report.row("sum_y", fmt::format("{:.15e}", deviates.sum_y));
  report.row("annuli", fmt::format("{}", fmt::join(deviates.annulus, " ")));
  return kernel.finish(report, std::ldexp(1, problem.bits + 1));
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::ep); }
