#include "vmlib/rank.hpp"

#include <gtest/gtest.h>

#include "tests/unit/vmlib/rank_fixture.hpp"

namespace replay::vm {
namespace {

using test::FakeSystem;
using test::kNothing;
using test::kSomething;
using test::VmRank;

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
  slot.orders.shared = 2;  // an unknown order
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

}  // namespace
}  // namespace replay::vm
