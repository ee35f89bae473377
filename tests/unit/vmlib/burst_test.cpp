// Tests of work on emulated cores: what counts, for how long the token is kept, and where a moved rank goes. The test
// plays two ranks of one core, because only one of them runs at a time.
#include "vmlib/burst.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/vmlib/fake_system.hpp"

namespace replay::vm {
namespace {

using test::FakeSystem;

constexpr std::uint32_t kFirst = 101, kSecond = 102;
constexpr std::uint64_t kMs = 1'000'000;

/// A rank at seat 0 of core 0, with a quantum of 10 ms; another one may sit at seat 1.
class VmBurst : public ::testing::Test {
 public:
  VmBurst() {
    FakeSystem::reset();
    FakeSystem::processes = {{kFirst, 1}, {kSecond, 1}};
    seat.use({.first = cores, .count = 2}, kFirst);
    burst.set_quantum(10 * kMs);
    slot.orders.place = replay_vm_place(0, 0);
  }
  std::uint64_t work(std::uint64_t ns) {
    const std::uint64_t start = FakeSystem::time;
    burst.work(ns, slot, seat);
    return FakeSystem::time - start;
  }

  replay_vm_core cores[2]{};
  CurrentToken<FakeSystem> seat;
  Burst<FakeSystem> burst;
  replay_vm_slot slot{};
  replay_vm_report& report = slot.report;
  CoreToken<FakeSystem> other{cores[0], 1, kSecond};
};

TEST_F(VmBurst, AloneItTakesItsTimeAndKeepsNothing) {
  EXPECT_EQ(work(25 * kMs), 25 * kMs);
  EXPECT_EQ(report.burst_ns, 25 * kMs);
  EXPECT_EQ(report.handoffs, 0U);
  EXPECT_EQ(cores[0].holder, 0U);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
}

TEST_F(VmBurst, BesideOthersOnItsNodesItTakesAsMuchLongerAsTheOrdersSay) {
  slot.orders.slowdown = 1'250'000;
  EXPECT_EQ(work(20 * kMs), 25 * kMs);
  EXPECT_EQ(report.burst_ns, 20 * kMs) << "the work done is the same";
  slot.orders.slowdown = 800'000;
  EXPECT_EQ(work(20 * kMs), 16 * kMs);
}

TEST_F(VmBurst, NeighboursThatComeMeanwhileSlowDownTheRest) {
  FakeSystem::meanwhile = [&] { slot.orders.slowdown = 2'000'000; };  // at the end of the first slice, of 10 ms
  EXPECT_EQ(work(30 * kMs), (10 + 40) * kMs);
}

TEST_F(VmBurst, AQuantumOfSlowerWorkIsNotCut) {
  slot.orders.slowdown = 1'500'000;
  std::vector<std::uint64_t> ends;
  FakeSystem::meanwhile = [&] { ends.push_back(FakeSystem::time); };
  work(20 * kMs);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[1] - ends[0], 15 * kMs);
}

TEST_F(VmBurst, NoWorkTakesNoTime) {
  EXPECT_EQ(work(0), 0U);
  EXPECT_EQ(cores[0].handovers, 0U);
}

TEST_F(VmBurst, TheTokenIsHeldWhileItWorks) {
  std::vector<std::uint32_t> holders;
  FakeSystem::meanwhile = [&] { holders.push_back(cores[0].holder); };
  work(25 * kMs);
  EXPECT_EQ(holders, (std::vector{kFirst, kFirst, kFirst})) << "slices of 10, 10 and 5 ms";
}

TEST_F(VmBurst, TwoRanksOfOneCoreTakeTurnsByTheQuantum) {
  other.want();
  std::uint64_t other_worked = 0;
  FakeSystem::meanwhile = [&] {
    if (!other.is_mine()) return;  // we are still in our own slice
    FakeSystem::time += 10 * kMs;
    other_worked += 10 * kMs;
    other.hand_over();
  };
  EXPECT_EQ(work(50 * kMs), 100 * kMs) << "the other one had it first, and each of us every second slice";
  EXPECT_EQ(report.burst_ns, 50 * kMs);
  EXPECT_EQ(other_worked, 50 * kMs);
  EXPECT_EQ(report.handoffs, 5U);
}

TEST_F(VmBurst, WorkCountsFromTheGrantNotFromTheWaking) {
  other.want();
  FakeSystem::meanwhile = [&] {
    if (!other.is_mine()) return;
    other.leave();                // grants it to us now
    FakeSystem::time += 3 * kMs;  // but we wake 3 ms late
  };
  EXPECT_EQ(work(5 * kMs), 5 * kMs);
}

TEST_F(VmBurst, ASliceThatEndedLateHasDoneSomeOfTheNext) {
  FakeSystem::oversleep_ns = 1 * kMs;
  EXPECT_EQ(work(40 * kMs), 41 * kMs) << "late at the end only";
  FakeSystem::oversleep_ns = 0;
  EXPECT_EQ(work(5 * kMs), 4 * kMs) << "and that counts for the next burst";
  EXPECT_EQ(report.burst_ns, 45 * kMs);
}

TEST_F(VmBurst, ABurstThatHasBeenDoneAlreadyTakesNoTimeButWaitsForItsTurn) {
  FakeSystem::oversleep_ns = 3 * kMs;
  work(10 * kMs);
  FakeSystem::oversleep_ns = 0;
  EXPECT_EQ(work(2 * kMs), 0U);
  other.want();
  FakeSystem::meanwhile = [&] {
    if (!other.is_mine()) return;
    FakeSystem::time += 10 * kMs;
    other.leave();
  };
  EXPECT_EQ(work(1 * kMs), 10 * kMs);
  EXPECT_EQ(report.burst_ns, 13 * kMs);
}

TEST_F(VmBurst, WhoIsAlwaysLateHasNoMoreOfTheCoreThanOthers) {
  other.want();
  std::uint64_t other_worked = 0;
  FakeSystem::oversleep_ns = 3 * kMs;
  FakeSystem::meanwhile = [&] {
    if (!other.is_mine()) return;
    FakeSystem::time += 10 * kMs;
    other_worked += 10 * kMs;
    other.hand_over();
  };
  work(1000 * kMs);
  EXPECT_EQ(other_worked, 1000 * kMs);
}

TEST_F(VmBurst, BeingLateIsWorthAtMostOneSlice) {
  FakeSystem::oversleep_ns = 5000 * kMs;  // this rank was stopped, and the token was not taken away
  work(1 * kMs);
  FakeSystem::oversleep_ns = 0;
  EXPECT_EQ(work(100 * kMs), 90 * kMs);
}

TEST_F(VmBurst, BeingStoppedIsNoProgress) {
  FakeSystem::meanwhile = [&] { cores[0].holder = 0; };  // the agent takes the token away
  FakeSystem::oversleep_ns = 5000 * kMs;
  work(1 * kMs);
  FakeSystem::oversleep_ns = 0;
  FakeSystem::meanwhile = nullptr;
  EXPECT_EQ(work(100 * kMs), 100 * kMs);
  EXPECT_EQ(report.burst_ns, 101 * kMs);
}

TEST_F(VmBurst, AMovedRankFinishesItsSliceAndGoesOnElsewhere) {
  std::vector<std::uint32_t> here, there;
  FakeSystem::meanwhile = [&] {
    here.push_back(cores[0].holder);
    there.push_back(cores[1].holder);
    slot.orders.place = replay_vm_place(1, 5);
  };
  EXPECT_EQ(work(20 * kMs), 20 * kMs);
  EXPECT_EQ(here, (std::vector<std::uint32_t>{kFirst, 0}));
  EXPECT_EQ(there, (std::vector<std::uint32_t>{0, kFirst}));
}

TEST_F(VmBurst, ARankThatWaitsNoticesWithinAMillisecondThatItWasMoved) {
  other.want();
  int looks = 0;
  FakeSystem::meanwhile = [&] {
    if (++looks == 3) slot.orders.place = replay_vm_place(1, 5);
  };
  const std::uint64_t start = FakeSystem::time;
  burst.work(1 * kMs, slot, seat);
  for (const std::uint64_t wait : FakeSystem::waits) EXPECT_LE(wait, kMs);
  EXPECT_LE(FakeSystem::time - start, 4 * kMs);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
  EXPECT_TRUE(other.is_mine());
}

TEST_F(VmBurst, WhoHoldsForTooLongIsOvertakenAfter100MsOrTenQuanta) {
  for (const std::uint64_t quantum : {10 * kMs, 30 * kMs}) {
    burst.set_quantum(quantum);
    other.want();
    const std::uint64_t took = work(1 * kMs);
    EXPECT_GE(took, 10 * quantum + kMs);
    EXPECT_LE(took, 10 * quantum + 2 * kMs);
    EXPECT_EQ(cores[0].holder, kSecond) << "it has its seat still";
  }
}

TEST_F(VmBurst, WhoFindsItsSeatClearedSitsDownAgain) {
  other.want();
  int looks = 0;
  FakeSystem::meanwhile = [&] {
    ++looks;
    if (looks == 1) cores[0].seats[0].wanter = 0;  // the agent, after it has stopped this rank
    if (looks == 3) other.leave();
  };
  work(1 * kMs);
  EXPECT_EQ(report.burst_ns, 1 * kMs);
  EXPECT_EQ(looks, 4);
}

TEST_F(VmBurst, WithoutASeatItWorksAsIfAlone) {
  other.want();
  slot.orders.place = replay_vm_place(0, REPLAY_VM_NO_SEAT);
  EXPECT_EQ(work(25 * kMs), 25 * kMs);
  slot.orders.place = replay_vm_place(77, 77);
  EXPECT_EQ(work(25 * kMs), 25 * kMs);
  EXPECT_EQ(report.burst_ns, 50 * kMs);
}

}  // namespace
}  // namespace replay::vm
