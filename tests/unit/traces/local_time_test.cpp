// Tests of local time against the output of date(1) for the same zone.
#include "traces/local_time.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

using namespace std::chrono_literals;

SwfHeader kth() {
  SwfHeader header;
  header.add("UnixStartTime", "843480031");
  header.add("TimeZone", "3600");
  header.add("TimeZoneString", "Europe/Stockholm");
  header.add("StartTime", "Mon Sep 23 14:00:31 CEST 1996");
  return header;
}

TEST(LogClock, KnowsTheZoneAndItsDaylightSaving) {
  const auto clock = LogClock::of(kth());
  ASSERT_TRUE(clock);
  EXPECT_TRUE(clock->has_time_zone());
  EXPECT_EQ(to_date_text(clock->local(0s)), "1996-09-23 14:00:31");
  // TZ=Europe/Stockholm date -d @846374400: Sun Oct 27 01:00:00 CET 1996 UTC+1, after the change
  EXPECT_EQ(to_date_text(clock->local(std::chrono::seconds{846378000 - 843480031})), "1996-10-27 02:00:00");
  EXPECT_EQ(clock->since_zero(*parse_local_time("1996-09-23T14:00:31")), Duration{});
  EXPECT_EQ(clock->since_zero(*parse_local_time("1996-10-01")), std::chrono::seconds{844120800 - 843480031});
  EXPECT_EQ(clock->since_zero(*parse_local_time("1996-11-01")), std::chrono::seconds{846802800 - 843480031});
}

TEST(LogClock, AnHourThatComesTwiceIsTheFirstAndOneLeftOutIsTheChange) {
  const auto clock = LogClock::of(kth());
  ASSERT_TRUE(clock);
  const auto unix_of = [&](const char* text) {
    return clock->since_zero(*parse_local_time(text)).count() / 1'000'000 + 843480031;
  };
  EXPECT_EQ(unix_of("1996-10-27T02:30"), 846376200) << "02:30 CEST; it comes again as CET";
  EXPECT_EQ(unix_of("1997-03-30T02:30"), 859683600) << "02:00 CET, when 03:00 CEST begins";
}

TEST(LogClock, WithoutAZoneTheOffsetIsThatOfStartTime) {
  SwfHeader header = kth();
  header.remove("TimeZoneString");
  const auto clock = LogClock::of(header);
  ASSERT_TRUE(clock);
  EXPECT_FALSE(clock->has_time_zone());
  EXPECT_EQ(to_date_text(clock->local(0s)), "1996-09-23 14:00:31");
  EXPECT_EQ(clock->start_time_text(24h), "Tue Sep 24 14:00:31 CEST 1996");
  header.set("TimeZoneString", "Europe/Nowhere");
  EXPECT_FALSE(LogClock::of(header)->has_time_zone()) << "an unknown zone is none";
}

TEST(LogClock, WithoutStartTimeAndZoneThereIsNone) {
  SwfHeader header;
  header.add("UnixStartTime", "843480031");
  EXPECT_FALSE(LogClock::of(header).has_value());
  header.add("StartTime", "once upon a time");
  EXPECT_FALSE(LogClock::of(header).has_value());
}

TEST(LocalTime, DatesAreReadAndNonsenseIsNot) {
  EXPECT_EQ(parse_local_time("1970-01-02"), 86400);
  EXPECT_EQ(parse_local_time("1970-01-01T12:30"), 45000);
  EXPECT_EQ(parse_local_time("1970-01-01 12:30:05"), 45005);
  for (const char* text : {"", "1970", "1970-13-01", "1970-02-30", "1970-01-01T", "1970-01-01T25", "70-01-01",
                           "1970-01-01T1:2:3:4", "1970-01-01Tnoon", "1970-01-01T-1"})
    EXPECT_FALSE(parse_local_time(text)) << text;
  const auto december = parse_local_month("1996-12");
  ASSERT_TRUE(december);
  EXPECT_EQ(to_date_text(december->first), "1996-12-01 00:00:00");
  EXPECT_EQ(to_date_text(december->next), "1997-01-01 00:00:00");
  for (const char* text : {"1996", "1996-00", "1996-13", "96-01", "1996-1-1", ""})
    EXPECT_FALSE(parse_local_month(text)) << text;
}

TEST(LocalTime, HoursAndDaysCountFromMidnightAndMonday) {
  EXPECT_EQ(day_of_week(0), 3) << "1970-01-01 was a Thursday";
  EXPECT_EQ(day_of_week(-1), 2);
  EXPECT_EQ(hour_of_day(-1), 23);
  EXPECT_EQ(hour_of_day(3600), 1);
}

TEST(MoveZero, StartTimeFollowsIntoWinterTime) {
  SwfHeader header = kth();
  move_zero(header, std::chrono::seconds{846802800 - 843480031});
  EXPECT_EQ(header.unix_start_time(), 846802800);
  EXPECT_EQ(header.find("StartTime"), "Fri Nov 01 00:00:00 CET 1996");
}

TEST(MoveZero, AStartTimeThatCannotBeReadGoes) {
  SwfHeader header;
  header.add("StartTime", "unknown");
  move_zero(header, 10s);
  EXPECT_FALSE(header.find("StartTime"));
}

}  // namespace
}  // namespace replay
