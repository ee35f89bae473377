#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/unit/vmlib/rank_fixture.hpp"
#include "vmlib/rank.hpp"

namespace replay::vm {
namespace {

using test::FakeSystem;
using test::kMe;
using test::kNothing;
using test::kOther;
using test::VmRankWithToken;

TEST_F(VmRankWithToken, WithoutAnotherThereItOnlyYields) {
  poll(50);
  EXPECT_EQ(cores[0].holder, kMe);
  EXPECT_EQ(FakeSystem::yields, 10);
  EXPECT_TRUE(FakeSystem::waits.empty());
  EXPECT_EQ(report.handoffs, 10U);
}

TEST_F(VmRankWithToken, HandsItToTheOtherAndHasItBackWithoutSleepingWhenThatIsQuick) {
  come_to_the_table();
  other.want();
  FakeSystem::yields = 0;
  FakeSystem::between_yields = [&] {
    EXPECT_TRUE(other.is_mine());
    other.hand_over();
  };
  poll(5);
  EXPECT_EQ(cores[0].holder, kMe);
  EXPECT_EQ(FakeSystem::yields, 1);
  EXPECT_TRUE(FakeSystem::waits.empty());
}

TEST_F(VmRankWithToken, SleepsWhileTheOtherComputesAtMostAMillisecond) {
  come_to_the_table();
  other.want();
  const std::uint64_t start = FakeSystem::time;
  poll(5);
  ASSERT_EQ(FakeSystem::waits.size(), 1U);
  EXPECT_LE(FakeSystem::time - start, Rank<FakeSystem>::kLongestTokenWaitNs + 2000);
  EXPECT_LE(FakeSystem::yields, 25);
}

TEST_F(VmRankWithToken, AYieldThatTookAMillisecondWasTheWait) {
  come_to_the_table();
  other.want();
  FakeSystem::away_ns = 3'000'000;
  poll(5);
  EXPECT_TRUE(FakeSystem::waits.empty());
}

TEST_F(VmRankWithToken, YieldsInVainLeadToMoreAndMoreSleepsWithoutAny) {
  come_to_the_table();
  other.want();
  std::vector<std::size_t> without;  // how many consecutive waits began without a yield
  std::size_t in_a_row = 0;
  FakeSystem::meanwhile = [&] { ++FakeSystem::processes[kOther]; };  // it computes
  for (int i = 0; i < 40; ++i) {
    FakeSystem::yields = 0;
    poll(5);
    if (FakeSystem::yields == 0) {
      ++in_a_row;
    } else {
      without.push_back(std::exchange(in_a_row, 0));
    }
  }
  EXPECT_EQ(without, (std::vector<std::size_t>{0, 1, 3, 7, 15}));
  FakeSystem::between_yields = [&] { other.hand_over(); };
  for (int i = 0; i < 40; ++i) poll(5);
  FakeSystem::waits.clear();
  poll(5 * 40);
  EXPECT_TRUE(FakeSystem::waits.empty()) << "until one has brought the token";
}

TEST_F(VmRankWithToken, HavingWaitedItPollsAndGivesItBackToWhoComputes) {
  come_to_the_table();
  other.want();
  poll(5);
  EXPECT_EQ(cores[0].holder, kMe) << "held for 1 ms while wanted";
  ++FakeSystem::processes[kOther];
  FakeSystem::meanwhile = [&] { EXPECT_EQ(cores[0].holder, kOther); };
  poll(5);
  EXPECT_EQ(FakeSystem::waits.size(), 2U);
}

TEST_F(VmRankWithToken, ComputingWithoutItHarmsNobody) {
  come_to_the_table();
  cores[0].holder = kOther;  // overtaken, while it computed
  cores[0].seats[1].wanter = kOther;
  poll(5);
  EXPECT_EQ(report.polls, 10U);
  EXPECT_EQ(cores[0].seats[0].wanter, kMe);
}

TEST_F(VmRankWithToken, YieldsWhenItHasNoSeatOrTheOrdersSaySo) {
  other.want();
  slot.orders.place = replay_vm_place(0, REPLAY_VM_NO_SEAT);
  poll(5);
  slot.orders.place = replay_vm_place(99, 0);
  poll(5);
  slot.orders.place = replay_vm_place(0, 0);
  slot.orders.back_end = REPLAY_VM_YIELD;
  poll(5);
  EXPECT_EQ(FakeSystem::yields, 3);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
}

TEST_F(VmRankWithToken, LeavesItsSeatWhenTheCoreIsItsOwnAgain) {
  come_to_the_table();
  EXPECT_EQ(cores[0].seats[0].wanter, kMe);
  slot.orders.shared = 0;
  poll(5);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
  EXPECT_EQ(cores[0].holder, 0U);
}

TEST_F(VmRankWithToken, FollowsItsPlaceAndLeavesNothingBehind) {
  come_to_the_table();
  slot.orders.place = replay_vm_place(1, 3);
  poll(5);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
  EXPECT_EQ(cores[0].holder, 0U);
  EXPECT_EQ(cores[1].holder, kMe);
}

TEST_F(VmRankWithToken, MovedWhileItSitsDownItLeavesNothingBehind) {
  other.want();
  int reads = 0;
  FakeSystem::at_clock = [&] {
    if (++reads == 2) slot.orders.place = replay_vm_place(1, 3);  // after its place is read, before its seat is taken
  };
  poll(5);
  EXPECT_GE(reads, 2);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
  EXPECT_TRUE(FakeSystem::waits.empty());
}

TEST_F(VmRankWithToken, LeavesItsSeatAtTheEnd) {
  come_to_the_table();
  rank.ending();
  rank.ended();
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
  EXPECT_EQ(cores[0].holder, 0U);
}

TEST_F(VmRankWithToken, AForkedChildTouchesNoToken) {
  come_to_the_table();
  rank.leave_slot();
  poll(100);
  rank.ended();
  EXPECT_EQ(cores[0].seats[0].wanter, kMe);
  EXPECT_EQ(cores[0].holder, kMe);
}

TEST_F(VmRankWithToken, WithSeveralThreadsInMpiItOnlyYields) {
  rank.expect_threads();
  other.want();
  FakeSystem::time += 10'000'000;
  poll(1000);
  EXPECT_EQ(FakeSystem::yields, 200);
  EXPECT_TRUE(FakeSystem::waits.empty());
  EXPECT_TRUE(FakeSystem::naps.empty());
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
}

TEST_F(VmRankWithToken, AThreadThatDidNotJoinOnlyYields) {
  other.want();
  Waiting second;
  rank.enter_call(second);
  for (int i = 0; i < 5; ++i) rank.polled(second, kNothing);
  EXPECT_EQ(FakeSystem::yields, 1);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
}

TEST_F(VmRankWithToken, ASleeperKeepsNobodyWaiting) {
  FakeSystem::away_ns = 10'000;
  while (FakeSystem::naps.empty()) poll(5);
  EXPECT_EQ(cores[0].holder, 0U);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
}

}  // namespace
}  // namespace replay::vm
