#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/vmlib/rank_fixture.hpp"
#include "vmlib/rank.hpp"

namespace replay::vm {
namespace {

using test::FakeSystem;
using test::kNothing;
using test::kSomething;
using test::VmRank;

TEST_F(VmRank, AmongRanksThatAllWaitItNapsAfterAWhile) {
  run();
  slot.orders.shared = 1;
  FakeSystem::away_ns = 10'000;  // a yield returns at once
  rank.enter_call(thread);
  while (FakeSystem::naps.empty()) poll(5);
  EXPECT_GE(FakeSystem::time, 1000 + Rank<FakeSystem>::kNapAfterNs);
  EXPECT_LE(FakeSystem::time, 1000 + Rank<FakeSystem>::kNapAfterNs * 5 / 4);
  poll(1000);
  EXPECT_EQ(report.naps, FakeSystem::naps.size());
  EXPECT_TRUE(std::is_sorted(FakeSystem::naps.begin(), FakeSystem::naps.end())) << "the longer, the longer";
  EXPECT_EQ(FakeSystem::naps.back(), Rank<FakeSystem>::kLongestNapNs);
}

TEST_F(VmRank, WhileSomebodyComputesItDoesNotNap) {
  run();
  slot.orders.shared = 1;
  FakeSystem::away_ns = 3'000'000;
  rank.enter_call(thread);
  poll(1000);
  EXPECT_TRUE(FakeSystem::naps.empty());
}

TEST_F(VmRank, SomebodyWhoComputesNowAndThenKeepsItAwake) {
  run();
  slot.orders.shared = 1;
  rank.enter_call(thread);
  for (int i = 0; i < 100; ++i) {
    FakeSystem::away_ns = 100'000;
    poll(5);
    FakeSystem::away_ns = 10'000;
    poll(5 * 40);  // 0.4 ms
  }
  EXPECT_TRUE(FakeSystem::naps.empty());
}

TEST_F(VmRank, PollsThatTakeTheirTimeAreNoIdleWait) {
  run();
  slot.orders.shared = 1;
  FakeSystem::away_ns = 10'000;
  rank.enter_call(thread);
  for (int i = 0; i < 100; ++i) {
    poll(5 * 40);
    FakeSystem::time += 30'000;  // MPI copies
  }
  EXPECT_TRUE(FakeSystem::naps.empty());
}

TEST_F(VmRank, TheMoreRanksOnItsCoreTheLaterIsAtOnce) {
  run();
  slot.orders.shared = 1;
  FakeSystem::away_ns = 75'000;
  rank.enter_call(thread);
  poll(5 * 100);
  EXPECT_TRUE(FakeSystem::naps.empty());
  slot.orders.mpl = 4;
  poll(5 * 100);
  EXPECT_FALSE(FakeSystem::naps.empty());
}

TEST_F(VmRank, WhoPollsByItselfIsNotPutToSleep) {
  run();
  slot.orders.shared = 1;
  FakeSystem::away_ns = 10'000;
  poll(50 * 1000);
  EXPECT_TRUE(FakeSystem::naps.empty()) << "it may be about to compute";
}

TEST_F(VmRank, APollThatFindsSomethingAndANewCallStartTheWaitAgain) {
  run();
  slot.orders.shared = 1;
  FakeSystem::away_ns = 10'000;
  for (int i = 0; i < 10; ++i) {
    rank.enter_call(thread);
    poll(5 * 40);  // 0.4 ms
    poll(1, kSomething);
    poll(5 * 40);
    rank.leave_call(thread);
  }
  EXPECT_TRUE(FakeSystem::naps.empty());
}

TEST_F(VmRank, OnACoreOfItsOwnItNeverNaps) {
  join();
  rank.enter_call(thread);
  FakeSystem::away_ns = 10'000;
  poll(5000);  // in MPI_Init it yields
  rank.leave_call(thread);
  rank.started(thread);
  rank.enter_call(thread);
  FakeSystem::time += 100'000'000;
  FakeSystem::clock_reads = 0;
  poll(5000);
  EXPECT_TRUE(FakeSystem::naps.empty());
  EXPECT_EQ(FakeSystem::clock_reads, 1) << "that of blocked time";
}

class VmEmulatedRank : public VmRank {
 public:
  VmEmulatedRank() { facts = {.polls_before_yield = 5, .is_emulated = true, .quantum_ns = 10'000'000}; }
};

TEST_F(VmEmulatedRank, NapsWheneverItWaitsSharedOrNot) {
  run();
  rank.enter_call(thread);
  poll(4);
  EXPECT_TRUE(FakeSystem::naps.empty());
  poll(1);
  ASSERT_EQ(FakeSystem::naps.size(), 1U);
  EXPECT_EQ(FakeSystem::naps[0], Rank<FakeSystem>::kShortestNapNs);
  poll(4 * 100);
  EXPECT_EQ(FakeSystem::naps.size(), 101U) << "a few polls between two naps";
  EXPECT_EQ(FakeSystem::naps.back(), Rank<FakeSystem>::kLongestNapNs);
  EXPECT_EQ(report.naps, 101U);
  EXPECT_EQ(report.handoffs, 0U);
  EXPECT_EQ(FakeSystem::yields, 0);
}

TEST_F(VmEmulatedRank, StartsWithShortNapsInEachWait) {
  run();
  for (int i = 0; i < 3; ++i) {
    FakeSystem::naps.clear();
    rank.enter_call(thread);
    poll(200);
    rank.leave_call(thread);
    ASSERT_FALSE(FakeSystem::naps.empty());
    EXPECT_EQ(FakeSystem::naps[0], Rank<FakeSystem>::kShortestNapNs);
  }
}

TEST_F(VmEmulatedRank, AProgramThatDoesSomethingBetweenItsPollsStartsAgainToo) {
  run();
  poll(50 + 4 * 100);
  EXPECT_EQ(FakeSystem::naps.back(), Rank<FakeSystem>::kLongestNapNs);
  FakeSystem::time += 5'000'000;
  poll(4);
  EXPECT_EQ(FakeSystem::naps.back(), Rank<FakeSystem>::kShortestNapNs);
}

TEST_F(VmEmulatedRank, NapsInMpiInitAndMpiFinalizeToo) {
  join();
  rank.enter_call(thread);
  poll(5);
  rank.leave_call(thread);
  EXPECT_EQ(report.naps, 1U);
  rank.started(thread);
  rank.enter_call(thread);
  rank.ending();
  poll(5);
  EXPECT_EQ(report.naps, 2U);
}

TEST_F(VmEmulatedRank, NapsInEveryThread) {
  run();
  rank.expect_threads();
  Waiting second;
  rank.enter_call(second);
  for (int i = 0; i < 5; ++i) rank.polled(second, kNothing);
  EXPECT_EQ(FakeSystem::naps.size(), 1U);
  EXPECT_EQ(report.naps, 0U) << "but only one of them writes";
}

TEST_F(VmEmulatedRank, WorksInBurstsAtItsPlace) {
  run();
  slot.orders.place = replay_vm_place(1, 2);
  rank.burst(25'000'000);
  EXPECT_EQ(report.burst_ns, 25'000'000U);
  EXPECT_GE(cores[1].handovers, 1U);
  EXPECT_EQ(cores[1].holder, 0U);
}

TEST_F(VmEmulatedRank, IsEmulatedOnlyWhileItIsARank) {
  EXPECT_FALSE(rank.is_emulated());
  run();
  EXPECT_TRUE(rank.is_emulated());
  rank.leave_slot();
  EXPECT_FALSE(rank.is_emulated());
}

TEST_F(VmEmulatedRank, ReadsHowManyShareItsCoreWithinReason) {
  run();
  slot.orders.mpl = 3;
  EXPECT_EQ(rank.mpl(), 3U);
  slot.orders.mpl = 0;
  EXPECT_EQ(rank.mpl(), 1U);
  slot.orders.mpl = 0xffffffff;
  EXPECT_EQ(rank.mpl(), REPLAY_VM_MAX_RANKS);
}

}  // namespace
}  // namespace replay::vm
