#include "scheduler/model/units.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

using namespace std::chrono_literals;

TEST(Seconds, AreReadExactlyToTheMicrosecond) {
  EXPECT_EQ(parse_seconds("12"), 12s);
  EXPECT_EQ(parse_seconds("0.1"), 100ms);
  EXPECT_EQ(parse_seconds("-1"), -1s);
  EXPECT_EQ(parse_seconds("0.000001"), 1us);
  EXPECT_EQ(parse_seconds("1.9999995"), 2s) << "the seventh digit rounds half up";
  EXPECT_EQ(parse_seconds("31656837"), 31656837s);
}

TEST(Seconds, ThatAreNoNumberAreNothing) {
  for (const char* text : {"", "-", ".", "1e3", "nan", "inf", "12s", " 1", "1,5", "99999999999999999999"})
    EXPECT_FALSE(parse_seconds(text)) << text;
}

TEST(Seconds, AreWrittenAsTheyAreRead) {
  for (const char* text : {"0", "12", "12.5", "-0.000001", "86400.25"}) EXPECT_EQ(to_text(*parse_seconds(text)), text);
}

TEST(Durations, TakeTheUnitsThatPeopleWrite) {
  EXPECT_EQ(parse_duration("90"), 90s);
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("5min"), 300s);
  EXPECT_EQ(parse_duration("2h"), 7200s);
  EXPECT_EQ(parse_duration("1d"), 86400s);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_FALSE(parse_duration("2 weeks"));
}

TEST(Durations, HaveTwoUnitsAtMostForPeople) {
  EXPECT_EQ(length_text(360us), "0.00036 s");
  EXPECT_EQ(length_text(16'007'565us), "16.01 s");
  EXPECT_EQ(length_text(59'999ms), "1 min");
  EXPECT_EQ(length_text(725s), "12 min 5 s");
  EXPECT_EQ(length_text(3h + 10min + 20s), "3 h 10 min");
  EXPECT_EQ(length_text(53h), "2 d 5 h");
  EXPECT_EQ(about_text(12.4), "12 s");
  EXPECT_EQ(about_text(3599.6), "1 h");
}

}  // namespace
}  // namespace replay
