#include "scheduler/model/machine.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/model/allocation.hpp"

namespace replay {
namespace {

TEST(Machines, AreReadAsTheyAreWritten) {
  for (const char* text : {"flat:128", "16x2x2", "1x1x2", "3x2x4+1x1x8", "1x1x2+1x2x1+1x1x2"})
    EXPECT_EQ(Machine::parse(text).to_text(), text);
  EXPECT_EQ(Machine::parse("4x8").to_text(), "4x1x8");
  EXPECT_EQ(Machine::parse("emulated:8x2x2").to_text(), "8x2x2");
  EXPECT_EQ(Machine::parse("emulated:1x4+2x1x4+1x2").to_text(), "3x1x4+1x1x2") << "neighbours that are alike";
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

TEST(Machines, OfNodesThatDifferHaveEachNodesOwnCores) {
  const Machine machine = Machine::parse("2x2x4+3x1x1+1x2x3");
  EXPECT_EQ(machine.size(), 25);
  EXPECT_EQ(machine.nodes(), 6);
  EXPECT_FALSE(machine.has_equal_nodes());
  const std::vector<CoreCount> sizes{8, 8, 1, 1, 1, 6};
  const std::vector<int> packages{2, 2, 1, 1, 1, 2};
  CoreId core{0};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto node = static_cast<NodeId>(i);
    EXPECT_EQ(machine.cores_of(node).first, core);
    EXPECT_EQ(machine.cores_of(node).size(), sizes[i]);
    EXPECT_EQ(machine.packages_of(node), packages[i]);
    for (CoreCount at = 0; at < sizes[i]; ++at, core = next(core)) {
      EXPECT_EQ(machine.node_of(core), node);
      EXPECT_EQ(machine.package_of(core), static_cast<std::size_t>(at / (sizes[i] / packages[i]))) << number(core);
    }
  }
}

TEST(Machines, ThatDifferInPackagesOnlyAreNotEqual) {
  EXPECT_FALSE(Machine::parse("1x2x4+1x1x8").has_equal_nodes());
  EXPECT_TRUE(Machine::parse("1x2x4+1x2x4").has_equal_nodes());
  EXPECT_TRUE(Machine::parse("flat:3").has_equal_nodes());
}

TEST(Machines, OfDifferentNodesAreRefusedWithThePartThatIsWrong) {
  const auto error_of = [](const char* text) -> std::string {
    try {
      return Machine::parse(text).to_text();
    } catch (const InputError& error) {
      return error.what();
    }
  };
  for (const auto& [text, part] : {std::pair{"2x2+", "found ''"},
                                   {"+2x2", "found ''"},
                                   {"2x2++1x2", "found ''"},
                                   {"2x2+4", "found '4'"},
                                   {"2x2+1x2x2x2", "found '1x2x2x2'"},
                                   {"2x2+1x0", "found '0'"},
                                   {"2x2+flat:4", "found 'flat:4'"},
                                   {"flat:4+1x2", "found '4+1x2'"},
                                   {"2x2+emulated:1x2", "found 'emulated:1'"},
                                   {"1x60000000+1x60000000", "has more than 100000000 cores"}}) {
    EXPECT_NE(error_of(text).find(part), std::string::npos) << error_of(text);
    EXPECT_NE(error_of(text).find(fmt::format("machine '{}'", text)), std::string::npos) << error_of(text);
  }
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
  for (const char* text : {"flat:128", "emulated:8x2x2", "16x2x2", "4x8", "1x4+1x2", "nonsense"})
    EXPECT_TRUE(Machine::is_for_parse(text)) << text;
  for (const char* text : {"local", "local:0-3", "package:2 core:4"}) EXPECT_FALSE(Machine::is_for_parse(text)) << text;
}

}  // namespace
}  // namespace replay
