#include "scheduler/model/job_map.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace replay {
namespace {

JobId id(std::int64_t number) { return JobId{number}; }

TEST(JobMap, FindsWhatWasAddedUntilItIsErased) {
  JobMap<std::string> map;
  map.add(id(7)) = "seven";
  map.add(id(-3)) = "minus three";
  map.add(id(4'000'000'000'000)) = "far";
  EXPECT_EQ(*map.find(id(7)), "seven");
  EXPECT_EQ(map.at(id(-3)), "minus three");
  EXPECT_EQ(map.at(id(4'000'000'000'000)), "far");
  EXPECT_EQ(map.find(id(8)), nullptr);
  map.erase(id(7));
  map.erase(id(4'000'000'000'000));
  EXPECT_EQ(map.find(id(7)), nullptr);
  EXPECT_EQ(map.find(id(4'000'000'000'000)), nullptr);
  EXPECT_FALSE(map.erase_if_there(id(7)));
  EXPECT_EQ(map.size(), 1U);
}

TEST(JobMap, ANewValueIsEmptyThoughItsMemoryWasUsedBefore) {
  JobMap<std::string> map;
  map.add(id(1)) = "one";
  map.erase(id(1));
  EXPECT_EQ(map.add(id(2)), "");
  EXPECT_EQ(map.find(id(1)), nullptr);
}

TEST(JobMap, PointersStayWhereTheyAre) {
  JobMap<int> map;
  int* first = &map.add(id(1));
  *first = 17;
  for (std::int64_t i = 2; i < 1000; ++i) map.add(id(i)) = 0;
  EXPECT_EQ(map.find(id(1)), first);
  EXPECT_EQ(*first, 17);
}

// Near and far numbers in random order, compared with std::map.
TEST(JobMap, IsAMap) {
  std::mt19937 chance{1};
  JobMap<int> map;
  std::map<std::int64_t, int> expected;
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t number = static_cast<std::int64_t>(chance() % 3000) * (chance() % 4 == 0 ? 1'000'003 : 97);
    if (expected.contains(number)) {
      ASSERT_EQ(map.at(id(number)), expected.at(number));
      map.erase(id(number));
      expected.erase(number);
    } else {
      ASSERT_EQ(map.find(id(number)), nullptr);
      map.add(id(number)) = i;
      expected.emplace(number, i);
    }
  }
  std::map<std::int64_t, int> seen;
  map.for_each([&seen](JobId job, int value) { seen.emplace(static_cast<std::int64_t>(job), value); });
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(map.size(), expected.size());
}

}  // namespace
}  // namespace replay
