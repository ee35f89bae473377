#include "vmlib/rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/vmlib/fake_system.hpp"

namespace replay::vm {
namespace {

using test::FakeSystem;

constexpr unsigned kNothing = 0, kSomething = 1;

/// A rank with N = 5 that has passed MPI_Init at time 1000.
class VmRank : public ::testing::Test {
 public:
  VmRank() {
    FakeSystem::reset();
    slot.orders.mpl = 1;
  }
  void join() {
    replay_vm_hello hello{};
    hello.mode = REPLAY_VM_MODE_PROGRESS;
    hello.pid = 77;
    hello.world_rank = 3;
    hello.pid_start = 88;
    rank.join(thread, slot, hello, facts, {.first = cores, .count = 2});
  }
  void run() {
    join();
    rank.started(thread);
    FakeSystem::clock_reads = 0;
  }
  void poll(int times, unsigned events = kNothing) {
    for (int i = 0; i < times; ++i) rank.polled(thread, events);
  }

  Rank<FakeSystem> rank;
  JobFacts facts{.polls_before_yield = 5};
  replay_vm_core cores[2]{};
  Waiting thread;
  replay_vm_slot slot{};
  replay_vm_report& report = slot.report;
};

TEST_F(VmRank, SaysWhereItIsInItsLife) {
  EXPECT_EQ(report.state, REPLAY_VM_EMPTY);
  join();
  EXPECT_EQ(report.state, REPLAY_VM_STARTING);
  EXPECT_EQ(report.mode, REPLAY_VM_MODE_PROGRESS);
  EXPECT_EQ(report.pid, 77);
  EXPECT_EQ(report.world_rank, 3);
  EXPECT_EQ(report.pid_start, 88U);
  rank.started(thread);
  EXPECT_EQ(report.state, REPLAY_VM_RUNNING);
  EXPECT_EQ(report.init_ns, 1000U);
  FakeSystem::time = 5000;
  rank.ending();
  EXPECT_EQ(report.state, REPLAY_VM_FINALIZING);
  EXPECT_EQ(report.finalize_ns, 5000U);
  FakeSystem::cpu = 321;
  rank.ended();
  EXPECT_EQ(report.state, REPLAY_VM_FINALIZED);
  EXPECT_EQ(report.cpu_ns, 321U);
  EXPECT_FALSE(rank.is_joined());
}

TEST_F(VmRank, GivesASharedCoreAwayAfterEveryFifthIdlePoll) {
  run();
  slot.orders.shared = 1;
  rank.enter_call(thread);
  poll(4);
  EXPECT_EQ(FakeSystem::yields, 0);
  poll(1);
  EXPECT_EQ(FakeSystem::yields, 1);
  poll(10);
  EXPECT_EQ(FakeSystem::yields, 3);
  EXPECT_EQ(report.handoffs, 3U);
  EXPECT_EQ(report.polls, 15U);
}

TEST_F(VmRank, KeepsACoreOfItsOwn) {
  run();
  rank.enter_call(thread);
  poll(1000);
  EXPECT_EQ(FakeSystem::yields, 0);
  slot.orders.shared = 1;  // shrunk in the middle of a call
  poll(5);
  EXPECT_EQ(FakeSystem::yields, 1);
  slot.orders.shared = 0;
  poll(1000);
  EXPECT_EQ(FakeSystem::yields, 1);
  slot.orders.shared = 2;  // no order we know
  poll(1000);
  EXPECT_EQ(FakeSystem::yields, 1);
}

TEST_F(VmRank, APollThatFindsSomethingStartsTheCountAgain) {
  run();
  slot.orders.shared = 1;
  rank.enter_call(thread);
  for (int i = 0; i < 100; ++i) {
    poll(4);
    poll(1, kSomething);
  }
  EXPECT_EQ(FakeSystem::yields, 0);
  poll(4);
  rank.leave_call(thread);
  rank.enter_call(thread);  // so does the next call
  poll(4);
  EXPECT_EQ(FakeSystem::yields, 0);
}

TEST_F(VmRank, OutsideOfBlockingCallsItIsTenTimesAsPatient) {
  run();
  slot.orders.shared = 1;
  poll(49);
  EXPECT_EQ(FakeSystem::yields, 0);
  poll(1);
  EXPECT_EQ(FakeSystem::yields, 1);
  EXPECT_EQ(report.blocked_ns, 0U) << "polling MPI_Test is the program's own decision";
}

TEST_F(VmRank, StartUpAndFinalizeGiveAwayWhateverTheOrdersAndCountNothing) {
  join();
  rank.enter_call(thread);
  poll(5);
  EXPECT_EQ(FakeSystem::yields, 1);
  rank.leave_call(thread);
  rank.started(thread);
  rank.enter_call(thread);
  rank.ending();
  FakeSystem::time += 500;
  poll(5);
  FakeSystem::time += 500;
  EXPECT_EQ(FakeSystem::yields, 2);
  rank.leave_call(thread);
  EXPECT_EQ(report.calls, 0U);
  EXPECT_EQ(report.blocked_ns, 0U);
}

TEST_F(VmRank, BlockedTimeRunsFromTheFirstIdlePollToTheEndOfTheCall) {
  run();
  rank.enter_call(thread);
  FakeSystem::time = 2000;
  poll(1);
  EXPECT_EQ(report.blocked_since, 2000U);
  FakeSystem::time = 2500;
  poll(3);
  poll(2, kSomething);
  FakeSystem::time = 2600;
  rank.leave_call(thread);
  EXPECT_EQ(report.blocked_ns, 600U);
  EXPECT_EQ(report.blocked_since, 0U);
  EXPECT_EQ(report.calls, 1U);
}

TEST_F(VmRank, ACallThatCompletesAtOnceReadsNoClock) {
  run();
  for (int i = 0; i < 10; ++i) {
    rank.enter_call(thread);
    poll(1, kSomething);
    rank.leave_call(thread);
  }
  EXPECT_EQ(report.calls, 10U);
  EXPECT_EQ(report.blocked_ns, 0U);
  EXPECT_EQ(FakeSystem::clock_reads, 0);
}

TEST_F(VmRank, NestedCallsCountOnce) {
  run();
  rank.enter_call(thread);
  poll(1);
  rank.enter_call(thread);
  FakeSystem::time += 100;
  poll(1);
  rank.leave_call(thread);
  EXPECT_EQ(report.calls, 0U);
  EXPECT_NE(report.blocked_since, 0U);
  FakeSystem::time += 100;
  rank.leave_call(thread);
  EXPECT_EQ(report.calls, 1U);
  EXPECT_EQ(report.blocked_ns, 200U);
}

TEST_F(VmRank, Fortran2008IsBelievedAtOnceAndTimedByItsPolls) {
  rank.expect_fortran08();
  run();
  slot.orders.shared = 1;
  FakeSystem::away_ns = 1'000'000;
  poll(1);
  FakeSystem::time += 100;
  poll(3);
  poll(1);  // the fifth: away for 1 ms
  EXPECT_EQ(FakeSystem::yields, 1);
  EXPECT_EQ(report.blocked_ns, 1'000'100U);
  poll(1, kSomething);
  FakeSystem::time += 500;  // the program computes
  poll(1);
  FakeSystem::time += Rank<FakeSystem>::kBackToBackNs;  // and again, between two MPI_Test
  poll(1);
  EXPECT_EQ(report.blocked_ns, 1'000'100U);
}

TEST_F(VmRank, OtherThreadsGiveTheCoreAwayButWriteNothing) {
  run();
  slot.orders.shared = 1;
  Waiting other;
  rank.enter_call(other);
  for (int i = 0; i < 5; ++i) rank.polled(other, kNothing);
  rank.leave_call(other);
  EXPECT_EQ(FakeSystem::yields, 1);
  EXPECT_EQ(report.calls + report.polls + report.handoffs + report.blocked_ns, 0U);
}

TEST_F(VmRank, CpuTimeIsReadAtMostEveryTenMilliseconds) {
  run();
  FakeSystem::cpu = 42;
  for (int i = 0; i < 1000; ++i) {
    rank.enter_call(thread);
    poll(1);
    FakeSystem::time += 100'000;
    rank.leave_call(thread);
  }
  EXPECT_EQ(report.cpu_ns, 42U);
  EXPECT_LE(FakeSystem::cpu_reads, 11);
  EXPECT_GE(FakeSystem::cpu_reads, 9);
}

TEST_F(VmRank, ForgettingItsSlotAForkedChildWritesNothingEvenInsideACall) {
  run();
  slot.orders.shared = 1;
  rank.enter_call(thread);
  poll(1);
  const replay_vm_report before = report;
  rank.leave_slot();
  poll(100);
  rank.leave_call(thread);
  rank.ending();
  rank.ended();
  EXPECT_EQ(FakeSystem::yields, 0);
  EXPECT_EQ(report.state, before.state);
  EXPECT_EQ(report.polls, before.polls);
  EXPECT_EQ(report.calls, before.calls);
  EXPECT_EQ(report.blocked_ns, before.blocked_ns);
}

TEST_F(VmRank, SwitchingOffIsTheLastWord) {
  join();
  rank.switch_off();
  EXPECT_EQ(report.state, REPLAY_VM_SWITCHED_OFF);
  rank.started(thread);
  rank.set_mode(REPLAY_VM_MODE_NONE);
  EXPECT_EQ(report.state, REPLAY_VM_SWITCHED_OFF);
  EXPECT_EQ(report.mode, REPLAY_VM_MODE_PROGRESS);
}

TEST_F(VmRank, NeverRegisteredMeansPassive) {
  rank.enter_call(thread);
  poll(1000);
  rank.leave_call(thread);
  rank.started(thread);
  rank.ending();
  rank.ended();
  rank.switch_off();
  EXPECT_EQ(FakeSystem::yields, 0);
  EXPECT_EQ(report.state, REPLAY_VM_EMPTY);
}

// ---- the token ----

constexpr std::uint32_t kMe = 77, kOther = 78;

/// The same rank, running, at seat 0 of core 0, which it shares; the other rank there is played by hand.
class VmRankWithToken : public VmRank {
 public:
  VmRankWithToken() {
    FakeSystem::processes = {{kMe, 1}, {kOther, 1}};
    FakeSystem::away_ns = 1000;  // a yield comes back soon
    run();
    slot.orders.shared = 1;
    slot.orders.back_end = REPLAY_VM_TOKEN;
    slot.orders.place = replay_vm_place(0, 0);
    rank.enter_call(thread);
  }
  void come_to_the_table() { poll(5); }

  CoreToken<FakeSystem> other{cores[0], 1, kOther};
};

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
  std::vector<std::size_t> without;  // how many waits in a row began with no yield
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
    if (++reads == 2) slot.orders.place = replay_vm_place(1, 3);  // its place has been read, its seat not been taken
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

// ---- naps ----

TEST_F(VmRank, AmongRanksThatAllWaitItNapsAfterAWhile) {
  run();
  slot.orders.shared = 1;
  FakeSystem::away_ns = 10'000;  // it comes back at once
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

TEST_F(VmRankWithToken, ASleeperKeepsNobodyWaiting) {
  FakeSystem::away_ns = 10'000;
  while (FakeSystem::naps.empty()) poll(5);
  EXPECT_EQ(cores[0].holder, 0U);
  EXPECT_EQ(cores[0].seats[0].wanter, 0U);
}

// ---- emulated cores ----

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
