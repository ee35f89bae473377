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

TEST(SizeText, HasTheLargestUnitThatFits) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(1023), "1023 bytes");
  EXPECT_EQ(size_text(1024), "1.0 KiB");
  EXPECT_EQ(size_text(160e6), "153 MiB");
  EXPECT_EQ(size_text(8.6e6), "8.2 MiB");
}

}  // namespace
}  // namespace replay
