#include "scheduler/base/text/suggest.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

constexpr std::string_view kNames[] = {"fcfs", "easy", "fcfs-malleable"};

TEST(Suggestions, NameTheNearest) {
  EXPECT_EQ(nearest("fcfs-maleable", kNames), "fcfs-malleable");
  EXPECT_EQ(nearest("esy", kNames), "easy");
  EXPECT_EQ(nearest("esay", kNames), "easy") << "letters exchanged";
}

TEST(Suggestions, NameOnlyWhatIsAlike) {
  constexpr std::string_view kOptions[] = {"--live-page", "--out", "--machine-size"};
  EXPECT_EQ(nearest("--time-scale", kOptions), "");
  EXPECT_EQ(nearest("--format", kOptions), "");
  EXPECT_EQ(nearest("-out", kOptions), "--out");
  EXPECT_EQ(nearest("--machine", kOptions), "--machine-size") << "its first word";
}

TEST(Suggestions, NameAllWhenNothingIsNear) {
  EXPECT_EQ(nearest("conservative", kNames), "");
  EXPECT_EQ(suggestion("conservative", kNames), "; known: fcfs, easy, fcfs-malleable");
}

}  // namespace
}  // namespace replay
