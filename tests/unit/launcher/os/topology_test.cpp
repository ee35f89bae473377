// Tests of which cores a run gets, on synthetic machines, so that every kind of machine can be tested on any.
#include "launcher/os/topology.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/base/error.hpp"

namespace replay::launcher {
namespace {

std::vector<int> up_to(int count) { return numbers(emulated_pus(count)); }

LocalMachine on(const std::string& machine, const std::vector<int>& mask, const std::string& spec = "local",
                bool smt = false, std::optional<double> quota = std::nullopt) {
  return discover(load_synthetic(machine), {pus_of(mask), quota}, spec, smt);
}

std::string complaint(const std::string& machine, const std::vector<int>& mask, const std::string& spec) {
  try {
    (void)on(machine, mask, spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(CoreList, RangesAndSinglesInAnyOrder) {
  EXPECT_EQ(numbers(parse_core_list("5,0-3")), (std::vector<int>{0, 1, 2, 3, 5}));
  EXPECT_EQ(parse_core_list("7"), std::vector{PuId{7}});
}

TEST(CoreList, WhatIsNoListIsRefused) {
  for (const char* text :
       {"", ",", "0,", "3-1", "-1", "a", "0-", "1 2", "0x1", "99999999999", "0-9999999", "0,0,0", "5,0-3,2"})
    EXPECT_THROW((void)parse_core_list(text), InputError) << text;
}

TEST(LocalMachine, TakesAllCoresByPackage) {
  const LocalMachine local = on("pack:2 core:4 pu:1", up_to(8));
  EXPECT_EQ(local.machine.to_text(), "1x2x4");
  EXPECT_EQ(numbers(local.pu_of_core), up_to(8));
  EXPECT_TRUE(local.notes.empty());
}

TEST(LocalMachine, CountsCoresNotHardwareThreads) {
  EXPECT_EQ(numbers(on("pack:1 core:4 pu:2", up_to(8)).pu_of_core), (std::vector<int>{0, 2, 4, 6}));
  EXPECT_EQ(numbers(on("pack:1 core:4 pu:2", up_to(8), "local", true).pu_of_core), up_to(8));
}

TEST(LocalMachine, ACoreWhoseFirstThreadIsMaskedIsUsedByItsSecond) {
  EXPECT_EQ(numbers(on("pack:1 core:2 pu:2", {1, 2, 3}).pu_of_core), (std::vector<int>{1, 2}));
}

TEST(LocalMachine, AMaskThatLeavesUnequalPackagesMakesAFlatNode) {
  const LocalMachine local = on("pack:2 core:4 pu:1", {0, 1, 2, 4});
  EXPECT_EQ(local.machine.to_text(), "1x1x4");
  EXPECT_EQ(numbers(local.pu_of_core), (std::vector<int>{0, 1, 2, 4}));
}

// Many machines with two packages number their cores in turns.
TEST(LocalMachine, CoresOfAPackageAreNeighboursHoweverTheSystemNumbersThem) {
  const std::string in_turns = "pack:2 core:2 pu:1(indexes=0,2,1,3)";
  const LocalMachine local = on(in_turns, up_to(4));
  EXPECT_EQ(local.machine.to_text(), "1x2x2");
  EXPECT_EQ(numbers(local.pu_of_core), (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(numbers(on(in_turns, up_to(4), "local:0-3").pu_of_core), (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(numbers(on(in_turns, {1, 2, 3}, "local:1-2").pu_of_core), (std::vector<int>{2, 1}));
  EXPECT_EQ(numbers(on(in_turns, up_to(4), "local", false, 2.0).pu_of_core), (std::vector<int>{0, 2}))
      << "of one package";
}

TEST(LocalMachine, AListIsTakenAsOsIndices) {
  const LocalMachine local = on("pack:2 core:4 pu:1", up_to(8), "local:1-2,5,7");
  EXPECT_EQ(local.machine.to_text(), "1x2x2");
  EXPECT_EQ(numbers(local.pu_of_core), (std::vector<int>{1, 2, 5, 7}));
}

TEST(LocalMachine, TheQuotaOfAContainerLimitsTheCoresAndSaysSo) {
  const LocalMachine local = on("pack:1 core:8 pu:1", up_to(8), "local", false, 2.5);
  EXPECT_EQ(local.machine.size(), 2);
  ASSERT_EQ(local.notes.size(), 1U);
  EXPECT_EQ(local.notes[0], "the control group grants 2.5 cores' worth of time: using 2 of 8 cores");
  EXPECT_EQ(on("pack:1 core:8 pu:1", up_to(8), "local", false, 0.5).machine.size(), 1);
  EXPECT_EQ(on("pack:1 core:8 pu:1", up_to(8), "local", false, 8.0).notes.size(), 0U);
}

TEST(LocalMachine, WhatCannotBeHadIsNamed) {
  EXPECT_NE(complaint("pack:1 core:4 pu:1", up_to(4), "local:2,9").find("no core 9"), std::string::npos);
  EXPECT_NE(complaint("pack:1 core:4 pu:1", {0, 1}, "local:1-2").find("core 2 is outside"), std::string::npos);
  EXPECT_NE(complaint("pack:1 core:2 pu:2", up_to(4), "local:0,1").find("hardware threads of one core"),
            std::string::npos);
  EXPECT_NE(complaint("pack:1 core:2 pu:2", up_to(4), "locally").find("expected local or"), std::string::npos);
  EXPECT_NE(complaint("pack:1 core:2 pu:2", {}, "local").find("no core is left"), std::string::npos);
}

TEST(LocalMachine, ThisMachineHasAtLeastOneCore) {
  const LocalMachine local = discover_local("local");
  EXPECT_GE(local.machine.size(), 1);
  EXPECT_EQ(static_cast<std::size_t>(local.machine.size()), local.pu_of_core.size());
}

TEST(SyntheticMachine, TheFirstGroupsAreTheNodes) {
  EXPECT_EQ(synthetic_machine("group:16 pack:2 core:2 pu:1").to_text(), "16x2x2");
  EXPECT_EQ(synthetic_machine("group:4 pack:1 core:8 pu:2").to_text(), "4x1x8");
  EXPECT_EQ(synthetic_machine("group:3 core:2 pu:1").to_text(), "3x1x2");
  EXPECT_EQ(synthetic_machine("pack:2 core:4 pu:2").to_text(), "1x2x4");
  EXPECT_EQ(synthetic_machine("pu:8").to_text(), "1x1x8");
}

TEST(SyntheticMachine, NonsenseIsRefused) {
  for (const char* text : {"", "nodes of cores", "pack:0", "pack:x"})
    EXPECT_THROW((void)synthetic_machine(text), InputError) << text;
}

}  // namespace
}  // namespace replay::launcher
