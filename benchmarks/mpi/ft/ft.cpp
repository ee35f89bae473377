// NAS FT: a three-dimensional diffusion equation, solved with Fourier transforms. A field of random complex numbers is
// transformed once; then in each step its spectrum decays by exp(-4 alpha pi^2 |k|^2) and is transformed back, and 1,024
// values of the field make a checksum, which is compared with the published one to 1e-12. Slabs in one dimension, see
// ft_slabs.hpp. Messages: per transform one Alltoallv of (P - 1) / P of the field, the largest messages of all programs
// here, and per step an Allreduce of two numbers. Source: Bailey et al. 1994, RNR-94-007; class W, the untimed first
// transform and the count of operations: NAS Parallel Benchmarks 3. We differ in two points: any number of ranks with
// uneven blocks, and the factors of the decay are kept by direction, not for each point of the grid.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/kernel.hpp"
#include "benchmarks/mpi/common/nas_random.hpp"
#include "benchmarks/mpi/ft/ft_slabs.hpp"

namespace replay::bench {
namespace {

constexpr std::uint64_t kSeed = 314159265;
constexpr double kAlpha = 1e-6;
constexpr double kTolerance = 1e-12;
constexpr std::size_t kSamples = 1024;

constexpr std::array<Complex, 6> kSumsS = {{{554.6087004964, 484.5363331978},
                                            {554.6385409189, 486.5304269511},
                                            {554.6148406171, 488.3910722336},
                                            {554.5423607415, 490.1273169046},
                                            {554.4255039624, 491.7475857993},
                                            {554.2683411902, 493.2597244941}}};
constexpr std::array<Complex, 6> kSumsW = {{{567.3612178944, 529.3246849175},
                                            {563.1436885271, 528.2149986629},
                                            {559.4024089970, 527.0996558037},
                                            {556.0698047020, 526.0027904925},
                                            {553.0898991250, 524.9400845633},
                                            {550.4159734538, 523.9212247086}}};
constexpr std::array<Complex, 6> kSumsA = {{{504.6735008193, 511.4047905510},
                                            {505.9412319734, 509.8809666433},
                                            {506.9376896287, 509.8144042213},
                                            {507.7892868474, 510.1336130759},
                                            {508.5233095391, 510.4914655194},
                                            {509.1487099959, 510.7917842803}}};
constexpr std::array<Complex, 20> kSumsB = {
    {{517.7643571579, 507.7803458597}, {515.4521291263, 508.8249431599}, {514.6409228649, 509.6208912659},
     {514.2378756213, 510.1023387619}, {513.9626667737, 510.3976610617}, {513.7423460082, 510.5948019802},
     {513.5547056878, 510.7404165783}, {513.3910925466, 510.8576573661}, {513.2470705390, 510.9577278523},
     {513.1197729984, 511.0460304483}, {513.0070319283, 511.1252433800}, {512.9070537032, 511.1968077718},
     {512.8182883502, 511.2616233064}, {512.7393733383, 511.3203605551}, {512.6691062020, 511.3735928093},
     {512.6064276004, 511.4218460548}, {512.5504076570, 511.4656139760}, {512.5002331720, 511.5053595966},
     {512.4551951846, 511.5415130407}, {512.4146770029, 511.5744692211}}};

struct Problem {
  const char* name;
  Grid grid;
  std::span<const Complex> checksums;  // one for each step

  int most_ranks() const { return static_cast<int>(std::min(grid.ny, grid.nz)); }
  double operations() const {
    const auto points = static_cast<double>(grid.points());
    const auto steps = static_cast<double>(checksums.size());
    return points * (14.8157 + 7.19641 * std::log(points) + (5.23518 + 7.21113 * std::log(points)) * steps);
  }
};

constexpr std::array kProblems = {
    Problem{"S", {64, 64, 64}, kSumsS},
    Problem{"W", {128, 128, 32}, kSumsW},
    Problem{"A", {256, 256, 128}, kSumsA},
    Problem{"B", {512, 256, 256}, kSumsB},
};

/// The field at the start: the random sequence, x fastest, real part first.
void set_initial(SlabField& field, const Grid& grid) {
  NasRandom random{kSeed, kNasMultiplier};
  random.skip(2 * grid.nx * grid.ny * static_cast<std::uint64_t>(field.planes().begin));
  for (Complex& value : field.space()) {
    const double re = random.next();
    value = {re, random.next()};
  }
}

/// exp(-4 alpha pi^2 k^2) for all wave numbers k of a direction of `points` points.
std::vector<double> decay(std::size_t points) {
  std::vector<double> factors;
  for (std::size_t i = 0; i < points; ++i) {
    const double k = static_cast<double>(i) - static_cast<double>(i < points / 2 ? 0 : points);
    factors.push_back(std::exp(-4 * kAlpha * std::numbers::pi * std::numbers::pi * k * k));
  }
  return factors;
}

/// Collective; the same on all ranks.
Complex checksum(const SlabField& field, const Grid& grid) {
  const Block planes = field.planes();
  Complex here{};
  for (std::size_t j = 1; j <= kSamples; ++j) {
    const auto z = static_cast<std::int64_t>(5 * j % grid.nz);
    if (z < planes.begin || z >= planes.end) continue;
    here += field.at(j % grid.nx, 3 * j % grid.ny, static_cast<std::size_t>(z));
  }
  Complex sum{};
  MPI_Allreduce(&here, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  return sum / static_cast<double>(grid.points());
}

/// The checksums of all steps.
std::vector<Complex> compute(SlabField& field, const Problem& problem) {
  const SeparableFactors factors{decay(problem.grid.nx), decay(problem.grid.ny), decay(problem.grid.nz)};
  set_initial(field, problem.grid);
  field.forward();
  std::vector<Complex> sums;
  while (sums.size() < problem.checksums.size()) {
    field.inverse(factors);
    sums.push_back(checksum(field, problem.grid));
  }
  return sums;
}

double largest_error(const std::vector<Complex>& sums, const Problem& problem) {
  double largest = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double error = std::abs((sums[i] - problem.checksums[i]) / problem.checksums[i]);
    if (std::isnan(error)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

int ft(const World& world, int argc, char** argv) {
  Kernel kernel{world, "ft", "NAS FT: Fourier transforms in three dimensions, few and large messages", argc, argv};
  if (kernel.is_over()) return kVerified;
  const Problem& problem = *std::ranges::find(kProblems, kernel.class_name(), &Problem::name);
  kernel.expect_at_most(problem.most_ranks(), "one for each plane");

  SlabField field{problem.grid, world};
  set_initial(field, problem.grid);
  field.forward();  // touches all memory and opens all connections, untimed
  std::vector<Complex> sums;
  double error = 0;
  kernel.time([&] {
    sums = compute(field, problem);
    error = largest_error(sums, problem);
    return error <= kTolerance;
  });

  Report report = kernel.begin_report();
  report.row("grid", fmt::format("{} x {} x {}", problem.grid.nx, problem.grid.ny, problem.grid.nz));
  report.row("steps", sums.size());
  const Complex published = problem.checksums.back();
  report.row("checksum", fmt::format("{:.10f} {:.10f}", sums.back().real(), sums.back().imag()));
  report.row("checksum_published", fmt::format("{:.10f} {:.10f}", published.real(), published.imag()));
  report.row("largest_error", fmt::format("{:.3e}", error));
  return kernel.finish(report, problem.operations());
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::ft); }
