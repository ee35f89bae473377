// Tests of the ledger of cores: what a Holding has between an order and the body's answer.

#include "scheduler/core/core_ledger.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

// On one node of four cores.
class CoreLedgerOnFourCores : public ::testing::Test {
 protected:
  static Allocation on(std::initializer_list<int> cores, ProcessCount each = 1) {
    Allocation allocation;
    for (const int core : cores) allocation.named.push_back({CoreId{core}, each});
    allocation.cores = static_cast<CoreCount>(cores.size());
    allocation.mpl = each;
    return allocation;
  }
  [[nodiscard]] CoreCount free() const { return ledger_.physical().total(); }

  const Machine machine_ = Machine::cluster(1, 1, 4);
  CoreLedger ledger_{machine_};
  Holding one_, two_;
};

TEST_F(CoreLedgerOnFourCores, APlanChangesNoPhysicalCore) {
  ledger_.plan(on({0, 1, 2}));
  EXPECT_EQ(ledger_.planned().total(), 1);
  EXPECT_EQ(free(), 4);
  ledger_.give_up(on({0, 1, 2}));
  EXPECT_EQ(ledger_.planned().total(), 4);
}

TEST_F(CoreLedgerOnFourCores, ACoreIsLaunchedOnOnlyAfterTheJobBeforeHasLeftIt) {
  ASSERT_TRUE(ledger_.launch(one_, on({0, 1})));
  EXPECT_FALSE(ledger_.launch(two_, on({1, 2})));
  EXPECT_EQ(two_.cores().cores, 0);
  EXPECT_EQ(free(), 2) << "a launch that is refused takes nothing";
  ledger_.end(one_);
  EXPECT_TRUE(ledger_.launch(two_, on({1, 2})));
}

TEST_F(CoreLedgerOnFourCores, AMovingJobHasItsOldAndItsNewCores) {
  ASSERT_TRUE(ledger_.launch(one_, on({0, 1})));
  ASSERT_TRUE(ledger_.begin_resize(one_, on({1, 2})));
  EXPECT_EQ(free(), 1);
  EXPECT_FALSE(ledger_.launch(two_, on({0}))) << "it has not left core 0 yet";
  ledger_.end_resize(one_);
  EXPECT_EQ(one_.cores(), on({1, 2}));
  EXPECT_TRUE(ledger_.launch(two_, on({0})));
}

TEST_F(CoreLedgerOnFourCores, AFailedResizeLeavesTheJobWhereItWas) {
  ASSERT_TRUE(ledger_.launch(one_, on({0, 1})));
  ASSERT_TRUE(ledger_.begin_resize(one_, on({2}, 2)));
  ledger_.undo_resize(one_);
  EXPECT_EQ(one_.cores(), on({0, 1}));
  EXPECT_EQ(free(), 2);
  EXPECT_TRUE(ledger_.launch(two_, on({2, 3})));
}

TEST_F(CoreLedgerOnFourCores, ASuspendedJobHasNoCoresAndResumesOnThoseItHad) {
  ASSERT_TRUE(ledger_.launch(one_, on({0, 1})));
  ledger_.suspend(one_);
  EXPECT_EQ(one_.cores().cores, 0);
  ASSERT_TRUE(ledger_.launch(two_, on({1})));
  EXPECT_FALSE(ledger_.resume(one_));
  ledger_.end(two_);
  EXPECT_TRUE(ledger_.resume(one_));
  EXPECT_EQ(one_.cores(), on({0, 1}));
  EXPECT_EQ(free(), 2);
}

}  // namespace
}  // namespace replay
