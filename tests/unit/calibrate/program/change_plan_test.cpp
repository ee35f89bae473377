// Tests of the plan of shrinks and expands for a program run by hand, and of the cores of its ranks.

#include "scheduler/calibrate/program/change_plan.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"

namespace replay::calibrate {
namespace {

using namespace std::chrono_literals;

std::vector<Change> all_of(ChangePlan plan, std::size_t most = 100) {
  std::vector<Change> changes;
  while (changes.size() < most) {
    const auto change = plan.next();
    if (!change) break;
    changes.push_back(*change);
  }
  return changes;
}

ChangeTexts at(std::vector<std::string> shrinks, std::vector<std::string> expands = {}) {
  ChangeTexts texts;
  texts.shrink_at = std::move(shrinks);
  texts.expand_at = std::move(expands);
  return texts;
}

std::string complaint(const ChangeTexts& texts) {
  try {
    const ChangePlan plan{texts};
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool has_word(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

TEST(ChangePlan, ChangesComeInTheOrderOfTheirTimes) {
  const std::vector<Change> expected{
      {200ms, ChangeKind::kShrink}, {1s, ChangeKind::kExpand}, {60s, ChangeKind::kShrink}};
  EXPECT_EQ(all_of(ChangePlan{at({"1min", "200ms"}, {"1s"})}), expected);
}

TEST(ChangePlan, EveryShrinksAndExpandsInTurnForEver) {
  ChangeTexts texts;
  texts.every = "2s";
  const std::vector<Change> expected{{2s, ChangeKind::kShrink}, {4s, ChangeKind::kExpand}, {6s, ChangeKind::kShrink}};
  EXPECT_EQ(all_of(ChangePlan{texts}, 3), expected);
}

TEST(ChangePlan, ShrinkingWhatIsShrunkIsAMistake) {
  EXPECT_TRUE(has_word(complaint(at({"1s", "2s"})), "--shrink-at 2s")) << complaint(at({"1s", "2s"}));
  EXPECT_TRUE(has_word(complaint(at({}, {"2s"})), "no shrink before it"));
  ChangeTexts texts;
  texts.resume_at = {"1s"};
  EXPECT_TRUE(has_word(complaint(texts), "no suspend before it"));
}

TEST(ChangePlan, SuspendsDoNotCountAsTurnsOfShrinks) {
  ChangeTexts texts = at({"1s"}, {"4s"});
  texts.suspend_at = {"2s"};
  texts.resume_at = {"3s"};
  EXPECT_EQ(all_of(ChangePlan{texts}).size(), 4U);
}

TEST(ChangePlan, WhatIsNoTimeIsNamedWithItsOption) {
  for (const char* text : {"soon", "", "-1s", "5 parsecs"}) {
    const std::string said = complaint(at({text}));
    EXPECT_TRUE(has_word(said, "--shrink-at") && has_word(said, "'" + std::string{text} + "'")) << said;
  }
  ChangeTexts texts = at({"1s"});
  texts.every = "1s";
  EXPECT_TRUE(has_word(complaint(texts), "--every"));
  texts = {};
  texts.every = "1ms";
  EXPECT_TRUE(has_word(complaint(texts), "0.01 s or more")) << complaint(texts);
}

TEST(ChangePlan, ARigidJobKeepsItsSuspends) {
  ChangeTexts texts = at({"1s"}, {"4s"});
  texts.suspend_at = {"2s"};
  ChangePlan plan{texts};
  EXPECT_TRUE(plan.has_resizes());
  plan.drop_resizes();
  EXPECT_FALSE(plan.has_resizes());
  EXPECT_EQ(all_of(plan), (std::vector<Change>{{2s, ChangeKind::kSuspend}}));

  ChangeTexts every;
  every.every = "1s";
  ChangePlan for_ever{every};
  for_ever.drop_resizes();
  EXPECT_EQ(for_ever.next(), std::nullopt);
}

using Cores = std::vector<std::int32_t>;

TEST(PlaceRanks, NeighboursShareInBlocksAndStridesInCycles) {
  const std::vector<int> cores{3, 7};
  EXPECT_EQ(place_ranks(4, cores, Pairing::kBlock), (Cores{3, 3, 7, 7}));
  EXPECT_EQ(place_ranks(4, cores, Pairing::kCyclic), (Cores{3, 7, 3, 7}));
}

TEST(PlaceRanks, CoresGetEquallyManyRanksOrOneMoreOrLess) {
  const std::vector<int> cores{0, 1, 2};
  EXPECT_EQ(place_ranks(5, cores, Pairing::kBlock), (Cores{0, 0, 1, 1, 2}));
  EXPECT_EQ(place_ranks(5, cores, Pairing::kCyclic), (Cores{0, 1, 2, 0, 1}));
  EXPECT_EQ(place_ranks(2, cores, Pairing::kBlock), (Cores{0, 1}));
}

// Two nodes of two cores, 0 and 1, 2 and 3.
std::vector<int> numbers_of(const std::vector<CoreId>& cores) {
  std::vector<int> numbers;
  for (const CoreId core : cores) numbers.push_back(number(core));
  return numbers;
}

TEST(PlaceOnNodes, RanksOfANodeStandTogether) {
  const Machine machine = Machine::cluster(2, 1, 2);
  EXPECT_EQ(numbers_of(place_on_nodes(4, machine, Pairing::kBlock)), (Cores{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of(place_on_nodes(2, machine, Pairing::kBlock)), (Cores{0, 1}));
  EXPECT_EQ(numbers_of(place_on_nodes(8, machine, Pairing::kCyclic)), (Cores{0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(SpreadOnNodes, IsAsEvenAsTheNodesHaveRoom) {
  const Machine machine = Machine::parse("1x1x4+2x1x2");
  EXPECT_EQ(numbers_of(spread_on_nodes(4, 1, machine)), (Cores{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of(spread_on_nodes(3, 2, machine)), (Cores{0, 1, 4}));
  EXPECT_EQ(numbers_of(spread_on_nodes(3, 3, machine)), (Cores{0, 4, 6}));
  EXPECT_EQ(numbers_of(spread_on_nodes(7, 3, machine)), (Cores{0, 1, 2, 4, 5, 6, 7}));
}

TEST(ShrinkOnNodes, NoRankLeavesItsNode) {
  const Machine machine = Machine::cluster(2, 1, 2);
  const std::vector<CoreId> four = place_on_nodes(4, machine, Pairing::kBlock);
  EXPECT_EQ(nodes_of(four, machine), 2);
  EXPECT_EQ(numbers_of(shrink_on_nodes(four, 2, machine, Pairing::kBlock)), (Cores{0, 0, 2, 2}));
  EXPECT_EQ(numbers_of(shrink_on_nodes(four, 3, machine, Pairing::kBlock)), (Cores{0, 1, 2, 2}));
  const std::vector<CoreId> three = place_on_nodes(3, machine, Pairing::kBlock);
  EXPECT_EQ(numbers_of(shrink_on_nodes(three, 2, machine, Pairing::kBlock)), (Cores{0, 0, 2}));
}

TEST(ShrinkOnNodes, OnOneNodeIsAsPlaceRanks) {
  const Machine machine = Machine::cluster(1, 1, 4);
  for (const Pairing pairing : {Pairing::kBlock, Pairing::kCyclic}) {
    const std::vector<CoreId> all = place_on_nodes(6, machine, pairing);
    EXPECT_EQ(numbers_of(all), place_ranks(6, Cores{0, 1, 2, 3}, pairing));
    EXPECT_EQ(numbers_of(shrink_on_nodes(all, 2, machine, pairing)), place_ranks(6, Cores{0, 1}, pairing));
  }
}

}  // namespace
}  // namespace replay::calibrate
