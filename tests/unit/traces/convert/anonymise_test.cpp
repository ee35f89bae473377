// Tests that an anonymised log contains no names of people and places: numbers in order of appearance, a header without
// names, a date that is coarse while weekday and hour stay.
#include "traces/convert/anonymise.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace replay {
namespace {

SwfHeader header_of_a_site() {
  SwfHeader header;
  header.add("Version", "2.2");
  header.add("Computer", "Bigmachine");
  header.add("Installation", "Some Centre");
  header.add("Acknowledge", "Ann Example");
  header.add("MaxProcs", "100 (two racks at Some Centre)");
  header.add("UnixStartTime", "843480031");
  header.add("TimeZoneString", "Europe/Stockholm");
  header.add("StartTime", "Mon Sep 23 14:00:31 CEST 1996");
  header.add("Queue", "1 secret-project");
  header.add("Program", "3 /home/ann/a.out");
  header.add_line(";   made by Ann");
  header.add_line(";");
  header.add_line("; Ann");
  return header;
}

std::string all_lines(const SwfHeader& header) {
  std::string text;
  for (const std::string& line : header.lines()) text += line + "\n";
  return text;
}

TEST(Anonymiser, OfTheHeaderOnlyWhatNamesNobodyStays) {
  Anonymiser anonymiser;
  EXPECT_EQ(all_lines(anonymiser.header(header_of_a_site())),
            "; Version: 2.2\n; MaxProcs: 100\n; TimeZoneString: Europe/Stockholm\n; UnixStartTime: 841665631\n"
            "; StartTime: Mon Sep 02 14:00:31 CEST 1996\n");
  EXPECT_EQ(anonymiser.removed(),
            (std::vector<std::string>{"Computer", "Installation", "Acknowledge", "Queue", "Program", "free text"}));
}

TEST(Anonymiser, OfAConversionOnlyOursStaysWhichNamesAFormat) {
  for (const auto& [conversion, stays] : {std::pair{"from pbs", true}, {"Ann Example (ann@example.org)", false}}) {
    SwfHeader header;
    header.add("Conversion", conversion);
    Anonymiser anonymiser;
    EXPECT_EQ(anonymiser.header(header).find("Conversion").has_value(), stays) << conversion;
  }
}

TEST(Anonymiser, AcknowledgementsStayOnRequest) {
  Anonymiser anonymiser({.keep_acknowledgement = true});
  EXPECT_EQ(anonymiser.header(header_of_a_site()).find("Acknowledge"), "Ann Example");
}

TEST(Anonymiser, NumbersFollowTheOrderOfAppearanceAndUnknownAndInteractiveStay) {
  Anonymiser anonymiser;
  std::vector<SwfRecord> records;
  for (const auto& [user, queue] : {std::pair{501, 7}, std::pair{12, 0}, std::pair{501, 3}, std::pair{-1, -1}}) {
    TraceEntry entry;
    entry.record.user = user, entry.record.queue = queue;
    anonymiser.apply(entry);
    records.push_back(entry.record);
  }
  EXPECT_EQ(records[0].user, 1);
  EXPECT_EQ(records[1].user, 2);
  EXPECT_EQ(records[2].user, 1);
  EXPECT_EQ(records[3].user, -1);
  EXPECT_EQ(records[0].queue, 1);
  EXPECT_EQ(records[1].queue, 0);
  EXPECT_EQ(records[2].queue, 2);
  EXPECT_EQ(records[3].queue, -1);
}

}  // namespace
}  // namespace replay
