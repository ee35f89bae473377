#include "scheduler/model/machine.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <limits>
#include <type_traits>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/model/allocation.hpp"

namespace replay {
namespace {

TEST(Machines, AreReadAsTheyAreWritten) {
  for (const char* text : {"flat:128", "16x2x2", "1x1x2"}) EXPECT_EQ(Machine::parse(text).to_text(), text);
  EXPECT_EQ(Machine::parse("4x8").to_text(), "4x1x8");
  EXPECT_EQ(Machine::parse("emulated:8x2x2").to_text(), "8x2x2");
  EXPECT_EQ(Machine::parse("16x2x2").size(), 64);
  EXPECT_EQ(Machine::parse("16x2x2").node_of(CoreId{63}), NodeId{15});
  EXPECT_FALSE(Machine::parse("flat:128").names_cores());
}

TEST(Machines, ThatCannotBeAreRefusedWithWhatWasExpected) {
  for (const char* text : {"", "flat:", "flat:0", "flat:2x2", "2", "0x2", "2x-1", "2x2x2x2",
                           "emulated:", "emulated:flat:2", "99999x99999", "axb", "99999999999999999999x1"}) {
    EXPECT_THROW(
        {
          try {
            (void)Machine::parse(text);
          } catch (const InputError& error) {
            EXPECT_NE(std::string{error.what()}.find(text), std::string::npos);
            throw;
          }
        },
        InputError)
        << text;
  }
}

TEST(Machines, NumberTheirCoresNodeByNode) {
  const Machine machine = Machine::parse("3x2x2");
  EXPECT_EQ(machine.cores(), first_cores(12));
  EXPECT_EQ(machine.cores_of(NodeId{0}), first_cores(4));
  EXPECT_EQ(machine.cores_of(NodeId{2}), (CoreRange{CoreId{8}, CoreId{11}}));
  for (const NodeId node : {NodeId{0}, NodeId{1}, NodeId{2}})
    for (const CoreId core : machine.cores_of(node)) EXPECT_EQ(machine.node_of(core), node) << number(core);
}

TEST(CoreIds, AreNotTakenForCountsOrNodes) {
  EXPECT_FALSE((std::is_convertible_v<CoreCount, CoreId>));
  EXPECT_FALSE((std::is_convertible_v<CoreId, CoreCount>));
  EXPECT_FALSE((std::is_convertible_v<CoreId, NodeId>));
  EXPECT_FALSE((std::is_convertible_v<NodeId, CoreId>));
  EXPECT_EQ(fmt::format("{}", CoreId{17}), "17") << "in text a core is its number";
}

TEST(CoreRanges, GoFromTheFirstToTheLast) {
  const auto passed = [](CoreRange range) {
    std::vector<std::int32_t> numbers;
    for (const CoreId core : range) numbers.push_back(number(core));
    return numbers;
  };
  constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(passed({CoreId{3}, CoreId{5}}), (std::vector{3, 4, 5}));
  EXPECT_EQ(passed(first_cores(0)), std::vector<std::int32_t>{});
  EXPECT_EQ(passed({CoreId{kHighest - 1}, CoreId{kHighest}}), (std::vector{kHighest - 1, kHighest}));
  EXPECT_EQ((CoreRange{CoreId{3}, CoreId{5}}.size()), 3);
  EXPECT_TRUE(first_cores(4).contains(CoreId{3}));
  EXPECT_FALSE(first_cores(4).contains(CoreId{4}));
  EXPECT_FALSE(first_cores(4).contains(CoreId{-1}));
}

TEST(Machines, AreToldFromHardwareByTheirText) {
  for (const char* text : {"flat:128", "emulated:8x2x2", "16x2x2", "4x8", "nonsense"})
    EXPECT_TRUE(Machine::is_for_parse(text)) << text;
  for (const char* text : {"local", "local:0-3", "package:2 core:4"}) EXPECT_FALSE(Machine::is_for_parse(text)) << text;
}

}  // namespace
}  // namespace replay
