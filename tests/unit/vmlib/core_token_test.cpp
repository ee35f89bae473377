// Tests of the rules of a core's token, one rank at a time; core_token_stress_test.cpp runs all ranks at once.
#include "vmlib/core_token.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/unit/vmlib/fake_system.hpp"

namespace replay::vm {
namespace {

using test::FakeSystem;
using Token = CoreToken<FakeSystem>;

constexpr std::uint32_t kA = 101, kB = 102, kC = 103;
constexpr std::uint64_t kStale = 1'000'000;

/// Ranks A, B and C at seats 2, 7 and 23 of one core; each of them computes.
class VmCoreToken : public ::testing::Test {
 public:
  VmCoreToken() {
    FakeSystem::reset();
    FakeSystem::processes = {{kA, 1}, {kB, 1}, {kC, 1}};
  }

  replay_vm_core core{};
  Token a{core, 2, kA}, b{core, 7, kB}, c{core, 23, kC};
};

TEST_F(VmCoreToken, WhoComesFirstHasItAtOnce) {
  EXPECT_TRUE(a.want());
  EXPECT_TRUE(a.is_mine());
  EXPECT_EQ(core.holder, kA);
  EXPECT_EQ(core.granted_ns, FakeSystem::time);
  EXPECT_FALSE(b.want());
  EXPECT_FALSE(b.is_mine());
}

TEST_F(VmCoreToken, GoesRoundInTheOrderOfTheSeats) {
  a.want();
  c.want();
  b.want();
  std::vector<std::uint32_t> order;
  Token* tokens[] = {&a, &b, &c, &a, &b};
  for (Token* token : tokens) {
    order.push_back(core.holder);
    EXPECT_TRUE(token->hand_over());
  }
  EXPECT_EQ(order, (std::vector{kA, kB, kC, kA, kB}));
  EXPECT_EQ(core.handovers, 6U);
}

TEST_F(VmCoreToken, WhoWantsItAgainAtOnceDoesNotWinEachTime) {
  a.want();
  b.want();
  a.hand_over();
  EXPECT_FALSE(a.want());
  EXPECT_TRUE(b.is_mine());
}

TEST_F(VmCoreToken, ANewHolderReadsWhenItWasGranted) {
  a.want();
  b.want();
  FakeSystem::time += 500;
  a.hand_over();
  const std::uint64_t granted = FakeSystem::time;
  FakeSystem::time += 300;  // b wakes late
  EXPECT_EQ(b.granted_ns(), granted);
}

TEST_F(VmCoreToken, NoGrantIsBelievedThatLiesBeforeTheWishOrInTheFuture) {
  a.want();
  const std::uint64_t wanted = FakeSystem::time;
  FakeSystem::time += 100;
  core.granted_ns = 1;
  EXPECT_EQ(a.granted_ns(), wanted);
  core.granted_ns = ~std::uint64_t{0};
  EXPECT_EQ(a.granted_ns(), FakeSystem::time);
}

TEST_F(VmCoreToken, NobodyThereMakesItFree) {
  a.want();
  EXPECT_FALSE(a.hand_over());
  EXPECT_EQ(core.holder, 0U);
  EXPECT_TRUE(b.want());
}

TEST_F(VmCoreToken, WhoHasItNotHandsNothingOver) {
  a.want();
  b.want();
  EXPECT_FALSE(b.hand_over());
  EXPECT_TRUE(a.is_mine());
}

TEST_F(VmCoreToken, OnlyASleeperIsWoken) {
  a.want();
  b.want();
  a.hand_over();
  EXPECT_TRUE(FakeSystem::woken.empty());

  FakeSystem::meanwhile = [this] { b.hand_over(); };
  EXPECT_TRUE(a.wait(kStale));
  ASSERT_EQ(FakeSystem::woken.size(), 1U);
  EXPECT_EQ(FakeSystem::woken[0], &core.seats[2].turn);
  EXPECT_TRUE(a.hand_over());
  EXPECT_EQ(FakeSystem::woken.size(), 1U) << "b does not sleep";
}

TEST_F(VmCoreToken, AWaitEndsAfterItsTime) {
  a.want();
  b.want();
  const std::uint64_t start = FakeSystem::time;
  EXPECT_FALSE(b.wait(700));
  EXPECT_EQ(FakeSystem::time, start + 700);
}

TEST_F(VmCoreToken, WhatHasArrivedBeforeTheSleepNeedsNoSleep) {
  a.want();
  b.want();
  a.hand_over();
  EXPECT_TRUE(b.wait(700));
  EXPECT_TRUE(FakeSystem::waits.empty());
}

TEST_F(VmCoreToken, IsWantedByWhoeverElseSitsThere) {
  a.want();
  EXPECT_FALSE(a.is_wanted());
  b.want();
  EXPECT_TRUE(a.is_wanted());
  b.leave();
  EXPECT_FALSE(a.is_wanted());
}

TEST_F(VmCoreToken, WhoLeavesLeavesItBehind) {
  a.want();
  b.want();
  a.leave();
  EXPECT_TRUE(b.is_mine());
  EXPECT_EQ(core.seats[2].wanter, 0U);
  b.leave();
  EXPECT_EQ(core.holder, 0U);
}

TEST_F(VmCoreToken, IsOvertakenOnlyWhenHeldTooLongWhileWanted) {
  a.want();
  FakeSystem::time += 10 * kStale;  // no rank wanted it
  b.want();
  FakeSystem::time += kStale - 1;
  EXPECT_FALSE(b.overtake(kStale));
  FakeSystem::time += 1;
  EXPECT_TRUE(b.overtake(kStale));
  EXPECT_TRUE(b.is_mine());
  EXPECT_FALSE(a.hand_over()) << "the old holder has nothing to give";
  EXPECT_TRUE(b.is_mine());
}

TEST_F(VmCoreToken, ALongWaitIsNoReasonWhileItGoesRound) {
  a.want();
  b.want();
  c.want();
  FakeSystem::time += 10 * kStale;
  a.hand_over();
  EXPECT_FALSE(c.overtake(kStale)) << "b has had it for no time at all";
}

TEST_F(VmCoreToken, OvertakingTakesWhatIsFree) {
  a.want();
  b.want();
  core.holder = 0;  // the agent has taken it away
  EXPECT_TRUE(b.overtake(kStale));
}

TEST_F(VmCoreToken, AGrantInTheFutureDoesNotKeepIt) {
  core.holder = 4711;
  core.granted_ns = ~std::uint64_t{0};
  a.want();
  FakeSystem::time += kStale;
  EXPECT_TRUE(a.overtake(kStale));
}

TEST_F(VmCoreToken, WhoComputesKeepsItsSeatAndGetsItBack) {
  a.want();
  b.want();
  for (int i = 0; i < 3; ++i) {
    FakeSystem::time += kStale;
    FakeSystem::processes[kA] += 1000;
    b.want();
    FakeSystem::time += kStale;
    ASSERT_TRUE(b.overtake(kStale));
    ASSERT_TRUE(b.hand_over());
    ASSERT_TRUE(a.is_mine()) << "in its turn";
  }
}

TEST_F(VmCoreToken, WhoDoesNotRunLosesItsSeatTheSecondTime) {
  a.want();  // and sleeps outside of MPI, or is stopped
  for (int i = 0; i < 2; ++i) {
    b.want();
    FakeSystem::time += kStale;
    ASSERT_TRUE(b.overtake(kStale));
    EXPECT_EQ(b.hand_over(), i == 0);
  }
  EXPECT_EQ(core.seats[2].wanter, 0U);
  EXPECT_TRUE(a.want());
  EXPECT_EQ(core.seats[2].wanter, kA) << "back again";
}

TEST_F(VmCoreToken, ADeadRankLosesItsSeatAtOnce) {
  a.want();
  b.want();
  FakeSystem::processes.erase(kA);
  FakeSystem::time += kStale;
  EXPECT_TRUE(b.overtake(kStale));
  EXPECT_EQ(core.seats[2].wanter, 0U);
}

TEST_F(VmCoreToken, NonsenseInEverySeatStopsNobodyForEver) {
  a.want();
  for (std::uint32_t i = 0; i < REPLAY_VM_SEATS; ++i) {
    if (i != 2) core.seats[i] = {.wanter = 0xfffffff0U + i % 8, .turn = 0xffffffffU};
  }
  int grants = 0;
  for (; grants < 100 && a.hand_over(); ++grants) {
    EXPECT_FALSE(a.want());
    FakeSystem::time += kStale;
    ASSERT_TRUE(a.overtake(kStale));
  }
  EXPECT_LE(grants, 8) << "each dead pid costs one wait";
  EXPECT_FALSE(a.is_wanted());
}

TEST_F(VmCoreToken, AClearedSeatIsTakenAgain) {
  a.want();
  b.want();
  core.seats[7].wanter = 0;
  EXPECT_FALSE(b.overtake(kStale));
  EXPECT_EQ(core.seats[7].wanter, kB);
}

/// Calls `at_grant` just before the holder changes, `at_wake` just after it.
struct Late : FakeSystem {
  static inline std::function<void()> at_grant, at_wake;
  static std::uint64_t now() {
    if (at_grant) at_grant();
    return FakeSystem::now();
  }
  static void wake(std::uint32_t& word) {
    if (at_wake) at_wake();
    FakeSystem::wake(word);
  }
};

TEST_F(VmCoreToken, WhoSitsDownWhileItBecomesFreeIsNotForgotten) {
  CoreToken<Late> giver{core, 2, kA};
  giver.want();
  core.seats[7] = {.wanter = kB, .turn = 1};  // b sleeps
  Late::at_wake = [this] {
    core.seats[7].wanter = 0;   // b leaves while the token is handed to it: no rank is left to take it
    core.seats[4].wanter = kC;  // c takes a seat that the giver has already checked, and sees that the token is taken
    Late::at_wake = nullptr;
  };
  EXPECT_TRUE(giver.hand_over());
  EXPECT_EQ(core.holder, kC);
}

TEST_F(VmCoreToken, WhoLeavesWhileItIsHandedTheTokenDoesNotKeepIt) {
  CoreToken<Late> giver{core, 2, kA};
  giver.want();
  core.seats[7].wanter = kB;
  Late::at_grant = [this] { core.seats[7].wanter = 0; };
  EXPECT_FALSE(giver.hand_over());
  Late::at_grant = nullptr;
  EXPECT_EQ(core.holder, 0U);
}

TEST_F(VmCoreToken, WhoIsOvertakenWhileHandingOverChangesNothing) {
  CoreToken<Late> giver{core, 2, kA};
  giver.want();
  b.want();
  Late::at_grant = [this] { core.holder = kC; };
  EXPECT_FALSE(giver.hand_over());
  Late::at_grant = nullptr;
  EXPECT_EQ(core.holder, kC);
}

// ---- moving ----

/// Two cores in one array, as in the segment.
class VmCurrentToken : public ::testing::Test {
 public:
  VmCurrentToken() {
    FakeSystem::reset();
    seat.use({.first = cores, .count = 2}, kA);
  }
  replay_vm_core cores[2]{};
  CurrentToken<FakeSystem> seat;
};

TEST_F(VmCurrentToken, AMovedRankGetsUpFromItsOldCore) {
  seat.at(replay_vm_place(0, 3))->want();
  EXPECT_EQ(cores[0].holder, kA);
  CoreToken<FakeSystem>* token = seat.at(replay_vm_place(1, 4));
  EXPECT_EQ(cores[0].holder, 0U);
  EXPECT_EQ(cores[0].seats[3].wanter, 0U);
  EXPECT_TRUE(token->want());
  EXPECT_EQ(cores[1].holder, kA);
  EXPECT_EQ(cores[1].seats[4].wanter, kA);
  EXPECT_EQ(seat.at(replay_vm_place(1, 4)), token) << "the same until it moves";
}

TEST_F(VmCurrentToken, APlaceThatDoesNotExistHasNoToken) {
  for (const std::uint64_t place :
       {replay_vm_place(2, 0), replay_vm_place(0, REPLAY_VM_SEATS), replay_vm_place(0, REPLAY_VM_NO_SEAT),
        replay_vm_place(0xffffffff, 0), ~std::uint64_t{0}}) {
    seat.at(replay_vm_place(0, 3))->want();
    EXPECT_EQ(seat.at(place), nullptr) << place;
    EXPECT_EQ(cores[0].holder, 0U);
    EXPECT_FALSE(seat.is_seated());
  }
}

TEST_F(VmCurrentToken, WithoutASegmentThereIsNoToken) {
  CurrentToken<FakeSystem> none;
  none.use({}, kA);
  EXPECT_EQ(none.at(replay_vm_place(0, 0)), nullptr);
  none.leave();
}

}  // namespace
}  // namespace replay::vm
