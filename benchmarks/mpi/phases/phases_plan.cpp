#include "benchmarks/mpi/phases/phases_plan.hpp"

#include <algorithm>
#include <cmath>

namespace replay::bench {
namespace {

constexpr double kRealIteration = 20;       // ms
constexpr double kEmulatedIteration = 100;  // ms: few messages, each of which wakes up ranks that nap
constexpr Nanoseconds kRealPortion{2'000'000};
constexpr double kLongestPortion = 4;  // quanta, however little of them is computed

Nanoseconds to_ns(double seconds) { return Nanoseconds{std::llround(seconds * 1e9)}; }

std::int64_t portions_of(Nanoseconds iteration, double cpu_use, const std::optional<Emulation>& emulation) {
  if (!emulation) return std::max<std::int64_t>(1, iteration / kRealPortion);
  const double quanta = std::min(kLongestPortion, 1 / std::max(cpu_use, 1e-3));
  const double portion = static_cast<double>(emulation->quantum.count()) * quanta;
  // Slack for rounding: an iteration of ten portions is not eleven because of a nanosecond.
  return std::max<std::int64_t>(1, std::llround(std::ceil(static_cast<double>(iteration.count()) / portion - 1e-6)));
}

}  // namespace

PhasesPlan make_plan(const PhasesParameters& given, const std::optional<Emulation>& emulation) {
  PhasesPlan plan;
  if (given.runtime <= 0) return plan;
  if (emulation) plan.deducted = std::min(given.runtime, deduction(*emulation, given.cpu_use));
  const double left = given.runtime - plan.deducted;
  const double usual = emulation ? kEmulatedIteration : kRealIteration;
  const std::int64_t whole = std::llround(left / ((given.iteration > 0 ? given.iteration : usual) * 1e-3));
  plan.iterations = static_cast<std::uint64_t>(std::max<std::int64_t>(1, whole));
  const double length = left / static_cast<double>(plan.iterations);
  plan.computing = to_ns(length * given.cpu_use);
  plan.waiting = to_ns(length) - plan.computing;
  plan.portions = portions_of(to_ns(length), given.cpu_use, emulation);
  const auto iteration_at = [&](double seconds) {
    if (seconds < 0) return plan.iterations;
    const double into = std::max(0.0, seconds - plan.deducted);
    return into < left ? std::min(plan.iterations - 1, static_cast<std::uint64_t>(into / length)) : plan.iterations - 1;
  };
  plan.failing = iteration_at(given.fail_at);
  plan.corrupting = iteration_at(given.corrupt_at);
  return plan;
}

}  // namespace replay::bench
