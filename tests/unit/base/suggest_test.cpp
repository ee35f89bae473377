#include "scheduler/base/text/suggest.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

constexpr std::string_view kNames[] = {"fcfs", "easy", "fcfs-malleable"};

TEST(Suggestions, NameTheNearest) {
  EXPECT_EQ(nearest("fcfs-maleable", kNames), "fcfs-malleable");
  EXPECT_EQ(nearest("esy", kNames), "easy");
}

TEST(Suggestions, NameAllWhenNothingIsNear) {
  EXPECT_EQ(nearest("conservative", kNames), "");
  EXPECT_EQ(suggestion("conservative", kNames), "; known: fcfs, easy, fcfs-malleable");
}

}  // namespace
}  // namespace replay
