// Parts of machines for policies that need equal nodes.
#include "scheduler/policy/machine_part.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace replay {
namespace {

struct Cut {
  std::string machine;
  std::vector<std::int32_t> cores;
  std::string note;
};

Cut cut(const char* machine) {
  const auto part = part_for("it", {.needs_equal_nodes = true}, Machine::parse(machine));
  if (!part) return {};
  std::vector<std::int32_t> cores;
  for (const CoreId core : part->cores) cores.push_back(number(core));
  return {part->machine.to_text(), cores, part->note};
}

TEST(MachineParts, HaveTheFirstCoresOfEachPackage) {
  const Cut part = cut("1x2x3+2x2x2");
  EXPECT_EQ(part.machine, "3x2x2");
  EXPECT_EQ(part.cores, (std::vector{0, 1, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(part.note, "it needs equal nodes: of 1x2x3+2x2x2 it has 3x2x2, and 2 of 14 cores are left out");
}

TEST(MachineParts, OfOtherPackagesHaveTheFirstCoresOfTheNode) {
  const Cut part = cut("2x2x3+1x1x4");
  EXPECT_EQ(part.machine, "3x1x4");
  EXPECT_EQ(part.cores, (std::vector{0, 1, 2, 3, 6, 7, 8, 9, 12, 13, 14, 15}));
  EXPECT_EQ(cut("1x2x4+1x1x8").machine, "2x1x8") << "no core is left out, but a node has two packages";
}

TEST(MachineParts, AreForPoliciesThatNeedEqualNodesWhereNodesDiffer) {
  EXPECT_EQ(cut("2x2x4").machine, "");
  EXPECT_EQ(cut("flat:7").machine, "");
  EXPECT_FALSE(part_for("it", {}, Machine::parse("1x2x3+2x2x2")));
}

}  // namespace
}  // namespace replay
