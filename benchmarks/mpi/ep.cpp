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

#include "benchmarks/mpi/common.hpp"
#include "benchmarks/mpi/nas_random.hpp"
#include "benchmarks/mpi/options.hpp"
#include "benchmarks/mpi/report.hpp"

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
  std::string class_name = "S";
  std::uint64_t repeats = 1;
  Options options{"ep", "NAS EP: Gaussian deviates, almost no messages"};
  options.choice("--class", class_name, {"S", "W", "A", "B"}, "problem size");
  options.count("--repeat", repeats, 1, 1'000'000, "times to do it all, each verified");
  if (!options.parse(argc, argv)) {
    if (world.is_root()) std::fputs(options.help().c_str(), stdout);
    return kVerified;
  }
  const Problem& problem = *std::ranges::find(kProblems, class_name, &Problem::name);
  if (world.size > problem.blocks()) {
    options.reject("--class " + class_name, fmt::format("at most {} processes, one for each block", problem.blocks()),
                   fmt::format("{}", world.size));
  }

  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  bool verified = true;
  Deviates deviates;
  for (std::uint64_t i = 0; i < repeats; ++i) {
    deviates = compute(problem, world);
    verified = verified && is_close(deviates.sum_x, problem.sum_x) && is_close(deviates.sum_y, problem.sum_y);
  }
  const double seconds = MPI_Wtime() - start;

  Report report{world, "ep"};
  report.row("class", problem.name);
  report.row("repeats", repeats);
  report.row("pairs_log2", problem.bits);
  report.row("sum_x", fmt::format("{:.15e}", deviates.sum_x));
  report.row("sum_y", fmt::format("{:.15e}", deviates.sum_y));
  report.row("annuli", fmt::format("{}", fmt::join(deviates.annulus, " ")));
  report.row("time_s", seconds);
  report.row("time_per_repeat_s", seconds / static_cast<double>(repeats));
  report.row("mop_per_s", std::ldexp(1e-6, problem.bits + 1) * static_cast<double>(repeats) / seconds);
  return report.finish(holds_everywhere(verified));
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::ep); }
