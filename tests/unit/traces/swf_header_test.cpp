#include "traces/swf_header.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using test::message_of;

SwfHeader header_of(std::initializer_list<const char*> lines) {
  SwfHeader header("log.swf");
  std::size_t number = 0;
  for (const char* line : lines) header.add_line(line, ++number);
  return header;
}

TEST(SwfHeader, FindsLabelsWithoutRegardToCase) {
  const SwfHeader header =
      header_of({"; Computer: IBM SP2", ";maxprocs:100", "; MaxNodes: 50 (8-way)", "; UnixStartTime: 843480031"});
  EXPECT_EQ(header.computer(), "IBM SP2");
  EXPECT_EQ(header.max_procs(), 100);
  EXPECT_EQ(header.max_nodes(), 50);
  EXPECT_EQ(header.unix_start_time(), 843480031);
  EXPECT_EQ(header.machine_size(), 100);
  EXPECT_FALSE(header.find("Version").has_value());
}

TEST(SwfHeader, MachineSizeIsMaxNodesWhereMaxProcsIsMissingOrNoCount) {
  EXPECT_EQ(header_of({"; MaxNodes: 256"}).machine_size(), 256);
  EXPECT_EQ(header_of({"; MaxProcs: -1", "; MaxNodes: 256"}).machine_size(), 256);
  EXPECT_EQ(header_of({"; MaxProcs: many"}).machine_size(), std::nullopt);
}

TEST(SwfHeader, KeepsRepeatedLabelsInOrder) {
  const SwfHeader header = header_of({"; Queue:  0  interactive", "; Note: a", "; Queue:  1  batch   "});
  const auto queues = header.find_all("Queue");
  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(queues[0], "0  interactive");
  EXPECT_EQ(queues[1], "1  batch");
}

TEST(SwfHeader, JoinsContinuationLinesToTheLabelAbove) {
  const SwfHeader header = header_of(
      {"; Information: http://www.pdc.kth.se/", ";              http://www.cs.huji.ac.il/", "; Note: Curie has nodes,",
       ";\tsee: http://www-hpc.cea.fr", ";", ";   not a continuation: a blank comment stands between"});
  EXPECT_EQ(header.find("Information"), "http://www.pdc.kth.se/\nhttp://www.cs.huji.ac.il/");
  EXPECT_EQ(header.find("Note"), "Curie has nodes,\nsee: http://www-hpc.cea.fr");
  EXPECT_EQ(header.labels().size(), 2U);
}

TEST(SwfHeader, LeavesFreeTextAlone) {
  const SwfHeader header =
      header_of({";   --- SWF file converted from SACCT ---", "; http://example.org", "; MaxProcs: 4"});
  ASSERT_EQ(header.labels().size(), 1U);
  EXPECT_EQ(header.labels()[0].line, 3U);
  EXPECT_EQ(header.lines().size(), 3U);
}

TEST(SwfHeader, SetReplacesAValueWithItsContinuationLinesWhereItStands) {
  SwfHeader header = header_of({"; Note: a", ";       b", "; MaxRecords: 10", "; MaxProcs: 4"});
  header.set("Note", "one\ntwo\nthree");
  header.set("MaxRecords", "7");
  header.set("Computer", "new");
  EXPECT_EQ(header.lines(), (std::vector<std::string>{"; Note: one", ";       two", ";       three", "; MaxRecords: 7",
                                                      "; MaxProcs: 4", "; Computer: new"}));
  EXPECT_EQ(header.find("Note"), "one\ntwo\nthree");
  EXPECT_EQ(header.max_records(), 7);
}

TEST(SwfHeader, ProgramLabelMapsExecutableNumbersToCommands) {
  const auto programs =
      header_of({"; Program: 3 cg --class W --repeat 40", "; Program: 12   ft --class S", ";           --repeat 2"})
          .programs();
  EXPECT_EQ(programs,
            (std::map<std::int32_t, std::string>{{3, "cg --class W --repeat 40"}, {12, "ft --class S --repeat 2"}}));
}

TEST(SwfHeader, BrokenProgramLabelNamesItsLine) {
  EXPECT_EQ(message_of<InputError>([] { static_cast<void>(header_of({"; Program: cg"}).programs()); }),
            "log.swf:1: header label Program: expected 'NUMBER COMMAND' such as '3 cg --class W', found 'cg'");
  EXPECT_EQ(
      message_of<InputError>([] {
        static_cast<void>(header_of({";", "; Program: 3"}).programs());
      }),
      "log.swf:2: header label Program: expected 'NUMBER COMMAND' such as '3 cg --class W', found no command for 3");
  EXPECT_EQ(message_of<InputError>([] {
              static_cast<void>(header_of({"; Program: 3 a", "; Program: 3 b"}).programs());
            }),
            "log.swf:2: header label Program: expected 'NUMBER COMMAND' such as '3 cg --class W', found a second entry "
            "for 3");
  EXPECT_NE(message_of<InputError>([] {
              static_cast<void>(header_of({"; Program: 3cg x"}).programs());
            }).find("found '3cg x'"),
            std::string::npos);
}

}  // namespace
}  // namespace replay
