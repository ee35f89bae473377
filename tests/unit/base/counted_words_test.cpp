#include "scheduler/base/text/counted_words.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

TEST(CountedWords, AreInTheSingularForOneOnly) {
  EXPECT_EQ(counted(0, "job"), "0 jobs");
  EXPECT_EQ(counted(1U, "job"), "1 job");
  EXPECT_EQ(counted(2, "more finding"), "2 more findings");
  EXPECT_EQ(counted(1, "process", "processes"), "1 process");
  EXPECT_EQ(counted(3, "process", "processes"), "3 processes");
  EXPECT_EQ(noun_for(1, "core"), "core");
  EXPECT_EQ(noun_for(2, "core"), "cores");
}

}  // namespace
}  // namespace replay
