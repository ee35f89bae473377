// Tests of how `phases` divides its run time, on real cores and on emulated ones. Formula (3) is checked on a simulated
// core: ranks take turns at a token by the rules of docs/adr/0007-tokens-for-cores.md, and wake up a little late.
#include "benchmarks/mpi/phases/phases_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vmlib/vm_burst.h"

namespace {
std::vector<std::uint64_t> bursts;  // requested from vmlib
}

// Replaces vmlib's function.
extern "C" void vm_burst(std::uint64_t ns) { bursts.push_back(ns); }

namespace replay::bench {
namespace {

using namespace std::chrono_literals;

Emulation emulation(double start_up, double end_cost, int mpl) { return {start_up, end_cost, mpl, 10ms}; }

PhasesParameters parameters(double runtime, double cpu_use = 1) {
  PhasesParameters given;
  given.runtime = runtime;
  given.cpu_use = cpu_use;
  return given;
}

double work_of(const PhasesPlan& plan) {
  return std::chrono::duration<double>(plan.computing + plan.waiting).count() * static_cast<double>(plan.iterations);
}

TEST(PhasesPlan, OnRealCoresNothingIsLeftOutAndPortionsAreShorterThanASchedulersSlice) {
  const PhasesPlan plan = make_plan(parameters(4, 0.5), std::nullopt);
  EXPECT_EQ(plan.deducted, 0);
  EXPECT_EQ(plan.iterations, 200U);
  EXPECT_EQ(plan.computing, 10ms);
  EXPECT_EQ(plan.waiting, 10ms);
  EXPECT_EQ(plan.portions, 10);
}

TEST(PhasesPlan, OnEmulatedCoresLaunchingAndEndingComeOffTheWork) {
  const PhasesPlan plan = make_plan(parameters(10), emulation(0.5, 0.1, 1));
  EXPECT_DOUBLE_EQ(plan.deducted, 0.6);
  EXPECT_NEAR(work_of(plan), 9.4, 1e-6);
}

TEST(PhasesPlan, WorkThatTakesLongerOnASharedCoreIsLeftOutLess) {
  EXPECT_DOUBLE_EQ(make_plan(parameters(10, 0.75), emulation(0.5, 0.1, 2)).deducted, 0.6 / 1.5);
  EXPECT_DOUBLE_EQ(make_plan(parameters(10, 0.25), emulation(0.5, 0.1, 2)).deducted, 0.6);
}

TEST(PhasesPlan, WorkThatTakesLongerBesideNeighboursIsLeftOutLess) {
  Emulation beside = emulation(0.5, 0.1, 1);
  beside.slowdown = 1.2;
  EXPECT_DOUBLE_EQ(make_plan(parameters(10), beside).deducted, 0.6 / 1.2);
}

TEST(PhasesPlan, NoMoreIsLeftOutThanThereIs) {
  const PhasesPlan plan = make_plan(parameters(0.3), emulation(0.5, 0.1, 1));
  EXPECT_DOUBLE_EQ(plan.deducted, 0.3);
  EXPECT_EQ(plan.iterations, 1U);
  EXPECT_EQ(plan.computing + plan.waiting, 0ns);
}

TEST(PhasesPlan, AJobToldToFailDoesSoWhateverIsLeftOut) {
  PhasesParameters given = parameters(1);
  for (const double at : {0.0, 0.3, 0.59, 0.61, 0.999}) {
    given.fail_at = at;
    for (const double start_up : {0.0, 0.6, 5.0}) {
      const PhasesPlan plan = make_plan(given, emulation(start_up, 0, 1));
      EXPECT_LT(plan.failing, plan.iterations) << at << " " << start_up;
      EXPECT_EQ(plan.corrupting, plan.iterations) << "nothing is spoilt";
    }
  }
}

TEST(PhasesPlan, OnEmulatedCoresNoPortionComputesForLongerThanTheQuantum) {
  for (const auto quantum : {1ms, 10ms, 25ms})
    for (const double runtime : {0.004, 0.7, 1.0, 8.7, 30.0})
      for (const double cpu_use : {0.0, 0.05, 0.4, 0.5, 0.85, 1.0}) {
        const PhasesPlan plan = make_plan(parameters(runtime, cpu_use), Emulation{0.1, 0.01, 1, quantum});
        EXPECT_LE(plan.computing / plan.portions, quantum + 1us) << runtime << " s, u = " << cpu_use;
        EXPECT_NEAR(work_of(plan) + plan.deducted, runtime, 1e-6);
      }
}

// A core with a token, and ranks that compute and sleep in portions. Times in ns.
class PaperCore {
 public:
  PaperCore(const PhasesPlan& plan, int ranks, std::int64_t quantum, std::int64_t latest)
      : plan_(plan), quantum_(quantum), latest_(latest), ranks_(static_cast<std::size_t>(ranks)) {
    for (Rank& rank : ranks_) rank.left = computing();
  }

  /// The time at which the last rank has done all its portions.
  double seconds() {
    while (step()) {
    }
    return static_cast<double>(now_) * 1e-9;
  }

 private:
  struct Rank {
    std::int64_t left = 0;   // computing time left in this portion
    std::int64_t awake = 0;  // the rank sleeps until then
    std::int64_t late = 0;   // delay of the last wake-up; the next sleep is shorter by it
    std::int64_t portions = 0;
    bool is_done = false;
  };

  std::int64_t computing() const { return (plan_.computing / plan_.portions).count(); }
  std::int64_t sleeping() const { return (plan_.waiting / plan_.portions).count(); }

  /// Gives the core for a slice to the rank at the next seat that wants it; false when all are done.
  bool step() {
    const std::size_t count = ranks_.size();
    for (std::size_t k = 1; k <= count; ++k) {
      Rank& rank = ranks_[(holder_ + k) % count];
      if (rank.is_done || rank.awake > now_) continue;
      holder_ = (holder_ + k) % count;
      run_slice(rank);
      return true;
    }
    std::int64_t next = 0;
    for (const Rank& rank : ranks_)
      if (!rank.is_done && (next == 0 || rank.awake < next)) next = rank.awake;
    now_ = std::max(now_, next);
    return next != 0;
  }

  void run_slice(Rank& rank) {
    const std::int64_t slice = std::min(rank.left, quantum_);
    now_ += slice;
    rank.left -= slice;
    if (rank.left > 0) return;
    const std::int64_t late = next_lateness();
    rank.awake = now_ + std::max<std::int64_t>(0, sleeping() - rank.late) + late;
    rank.late = late;
    rank.left = computing();
    rank.is_done = ++rank.portions == plan_.portions * static_cast<std::int64_t>(plan_.iterations);
  }

  std::int64_t next_lateness() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return latest_ == 0 ? 0 : static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(latest_));
  }

  PhasesPlan plan_;
  std::int64_t quantum_;
  std::int64_t latest_;
  std::vector<Rank> ranks_;
  std::size_t holder_ = 0;
  std::int64_t now_ = 0;
  std::uint64_t state_ = 1;
};

TEST(PhasesPlan, OnASharedEmulatedCoreFormula3HoldsWithin2Percent) {
  constexpr std::int64_t kLatest = 400'000;  // ns, longest delay of a wake-up
  for (const int ranks : {1, 2, 3, 4})
    for (const double cpu_use : {0.1, 0.25, 1.0 / 3, 0.4, 0.5, 0.55, 0.6, 0.75, 0.85, 1.0})
      for (const std::int64_t latest : {std::int64_t{0}, kLatest}) {
        const PhasesPlan plan = make_plan(parameters(10, cpu_use), Emulation{0, 0, 1, 10ms});
        const double expected = 10 * std::max(1.0, ranks * cpu_use);
        EXPECT_NEAR(PaperCore(plan, ranks, 10'000'000, latest).seconds(), expected, 0.02 * expected)
            << ranks << " ranks, u = " << cpu_use << ", up to " << latest << " ns late";
      }
}

TEST(EmulatedWork, IsDoneInBursts) {
  bursts.clear();
  EmulatedWork work;
  work.compute(3ms);
  work.compute(4ms);
  EXPECT_EQ(bursts, (std::vector<std::uint64_t>{3'000'000, 4'000'000}));
  EXPECT_EQ(work.done(), 7ms);
}

TEST(EmulatedWork, WhatIsReallyComputedComesOffTheNextBurst) {
  bursts.clear();
  EmulatedWork work;
  work.count([] {
    for (const Nanoseconds start = thread_cpu_time(); thread_cpu_time() - start < 2ms;) {
    }
  });
  work.compute(1ms);
  EXPECT_TRUE(bursts.empty()) << "done in advance";
  work.compute(1s);
  ASSERT_EQ(bursts.size(), 1U);
  EXPECT_LE(bursts[0], 999'000'000U);
  EXPECT_EQ(work.done(), 1001ms);
}

}  // namespace
}  // namespace replay::bench
