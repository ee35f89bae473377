// An event log as a file: long lines, cut logs, other files, full disks, and a log that is followed while it is written.
#include "tests/unit/log/log_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/log/text.hpp"

namespace replay::log {
namespace {

using namespace std::chrono_literals;

TEST(EventLogText, ALineLongerThanTheBufferIsReadWhole) {
  const TemporaryFile file;
  const std::string text(3'000'000, 'x');
  {
    TextWriter writer(file.path());
    writer.header({});
    for (int i = 0; i < 3; ++i) writer.record({at(1s), Note{text}});
    writer.close();
  }
  Collected read;
  EXPECT_TRUE(read_text(file.path(), read));
  ASSERT_EQ(read.lines.size(), 3u);
  EXPECT_EQ(read.lines[2], "1 note text=\"" + text + "\"");
}

TEST(EventLogText, FlushedRecordsAreInTheFileBeforeTheWriterIsClosed) {
  const TemporaryFile file;
  TextWriter writer(file.path());
  writer.header({});
  writer.record({at(1s), SuspendDecided{JobId{1}}});
  writer.flush();
  EXPECT_EQ(file.text(), "#replay-events 1\n1 suspend job=1\n");
}

TEST(EventLogText, ALogCutOffByACrashEndsAtItsLastWholeLine) {
  Collected read;
  EXPECT_FALSE(read_text("#replay-events 1\n#machine flat:8\n1 suspend job=1\n2 suspend jo", "events.log", read));
  ASSERT_EQ(read.headers.size(), 1u);
  EXPECT_EQ(read.headers[0].value("machine"), "flat:8");
  EXPECT_EQ(read.lines, std::vector<std::string>{"1 suspend job=1"});
}

TEST(EventLogText, ALogCutOffInItsHeaderStillHandsTheHeaderOver) {
  Collected read;
  EXPECT_FALSE(read_text("#replay-events 1\n#machine fl", "events.log", read));
  EXPECT_EQ(read.headers.size(), 1u);
}

TEST(EventLogText, LinesOfOtherSystemsEndWithCarriageReturns) {
  Collected read;
  EXPECT_TRUE(read_text("#replay-events 1\r\n1 suspend job=1\r\n", "events.log", read));
  EXPECT_EQ(read.lines, std::vector<std::string>{"1 suspend job=1"});
}

TEST(EventLogText, AFutureVersionIsRefusedAndSaysSo) {
  Collected read;
  EXPECT_EQ(error_of([&] { read_text("#replay-events 2\n", "events.log", read); }),
            "events.log:1: event log of format version 2; this program reads version 1: read it with the newer replay");
}

TEST(EventLogText, AnotherFileIsRefusedAtItsFirstLine) {
  Collected read;
  EXPECT_EQ(error_of([&] { read_text("; Version: 2.2\n", "a.swf", read); }),
            "a.swf:1: expected '#replay-events 1' (an event log), found '; Version: 2.2'");
  EXPECT_EQ(error_of([&] { read_text("", "empty.log", read); }),
            "empty.log:1: expected '#replay-events 1' (an event log), found no whole line");
}

TEST(EventLogText, RecordsOutOfTimeOrderAreRefused) {
  Collected read;
  EXPECT_EQ(error_of([&] { read_text("#replay-events 1\n2 suspend job=1\n1.5 resume job=1\n", "events.log", read); }),
            "events.log:3: field 1 (time): expected 2 or later, as records are in time order, found 1.5");
}

TEST(EventLogText, HeadersComeOnceAndBeforeTheRecords) {
  Collected read;
  EXPECT_TRUE(has(error_of([&] { read_text("#replay-events 1\n#seed 1\n#seed 2\n", "f", read); }), "'seed' twice"));
  EXPECT_TRUE(has(error_of([&] { read_text("#replay-events 1\n1 suspend job=1\n#seed 2\n", "f", read); }),
                  "f:3: expected a record, found a header line '#seed 2'"));
}

TEST(EventLogText, ALogOfHeaderLinesOrOfOneLineWithoutEndIsRefused) {
  std::string text = "#replay-events 1\n";
  for (int i = 0; i < 1001; ++i) text += fmt::format("#h{} x\n", i);
  Collected read;
  EXPECT_EQ(error_of([&] { read_text(text, "f", read); }), "f:1002: expected at most 1000 header lines, found more");
  EXPECT_EQ(error_of([&] { read_text(std::filesystem::path("/dev/zero"), read); }),
            "/dev/zero:1: expected at most 67108864 bytes in a line, found more");
}

TEST(EventLogText, AFileThatCannotBeMadeOrReadIsNamed) {
  EXPECT_EQ(error_of([] { TextWriter writer("/nowhere/events.log"); }),
            "/nowhere/events.log: cannot write the event log: No such file or directory");
  Collected read;
  EXPECT_EQ(error_of([&] { read_text(std::filesystem::path("/nowhere/events.log"), read); }),
            "/nowhere/events.log: cannot read the event log: No such file or directory");
  EXPECT_EQ(error_of([&] { read_text(std::filesystem::path("/"), read); }),
            "/: cannot read the event log: Is a directory");
}

TEST(EventLogText, AFullDiskIsNoticed) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  TextWriter writer("/dev/full");
  writer.header({});
  EXPECT_EQ(error_of([&] { writer.flush(); }), "/dev/full: cannot write the event log: No space left on device");
}

TEST(TextFollower, HandsOnWhatIsWrittenMeanwhileAndWaitsForTheRestOfALine) {
  const TemporaryFile file;
  std::ofstream out(file.path(), std::ios::binary);
  out << "#replay-events 1\n#body live\n1 note text=\"a\"\n2 no" << std::flush;
  Collected collected;
  TextFollower follower{file.path(), collected};
  EXPECT_FALSE(follower.read());
  ASSERT_EQ(collected.headers.size(), 1U);
  EXPECT_EQ(collected.headers[0].value("body"), "live");
  EXPECT_EQ(collected.lines, std::vector<std::string>{"1 note text=\"a\""});
  EXPECT_FALSE(follower.read());
  EXPECT_EQ(collected.lines.size(), 1U) << "nothing has come";
  out << "te text=\"b\"\n3 note text=\"c\"\n" << std::flush;
  EXPECT_FALSE(follower.read());
  EXPECT_EQ(collected.lines, (std::vector<std::string>{"1 note text=\"a\"", "2 note text=\"b\"", "3 note text=\"c\""}));
  EXPECT_TRUE(follower.finish().is_whole);
}

TEST(TextFollower, HandsOnTheHeaderOfALogWithoutRecords) {
  const TemporaryFile file;
  std::ofstream out(file.path(), std::ios::binary);
  out << "#replay-events 1\n#body li" << std::flush;
  Collected collected;
  TextFollower follower{file.path(), collected};
  EXPECT_FALSE(follower.read());
  EXPECT_TRUE(collected.headers.empty()) << "it may not be all";
  out << "ve\n" << std::flush;
  EXPECT_FALSE(follower.read());
  ASSERT_EQ(collected.headers.size(), 1U);
  EXPECT_EQ(collected.headers[0].value("body"), "live");
  out << "1 note text=\"a\"\n" << std::flush;
  EXPECT_FALSE(follower.read());
  EXPECT_EQ(collected.headers.size(), 1U) << "once";
  EXPECT_EQ(collected.lines.size(), 1U);
}

TEST(TextFollower, ReadsAFileOfAnySizeInPieces) {
  const TemporaryFile file;
  std::string text = "#replay-events 1\n#body live\n";
  for (int i = 0; i < 30'000; ++i) text += std::to_string(i) + " note text=\"abcdefghij\"\n";
  file.write(text);
  Collected collected;
  TextFollower follower{file.path(), collected};
  int pieces = 1;
  while (follower.read()) ++pieces;
  EXPECT_EQ(collected.lines.size(), 30'000U);
  EXPECT_GT(pieces, 2);
  EXPECT_TRUE(follower.finish().is_whole);
}

TEST(TextFollower, ErrorsNameFileAndLineAlsoOfWhatCameLater) {
  const TemporaryFile file;
  std::ofstream out(file.path(), std::ios::binary);
  out << "#replay-events 1\n#body live\n1 note text=\"a\"\n" << std::flush;
  Collected collected;
  TextFollower follower{file.path(), collected};
  EXPECT_FALSE(follower.read());
  out << "nonsense\n" << std::flush;
  EXPECT_NE(error_of([&] { (void)follower.read(); }).find(file.path().string() + ":4:"), std::string::npos);
  EXPECT_NE(error_of([&] {
              TextFollower{"/nowhere/events.log", collected};
            }).find("/nowhere/events.log: cannot read"),
            std::string::npos);
}

TEST(TextFollower, ALogThatEndsInALineWasCutOff) {
  const TemporaryFile file;
  file.write("#replay-events 1\n#body live\n1 note text=\"a\"\n2 no");
  Collected collected;
  TextFollower follower{file.path(), collected};
  EXPECT_FALSE(follower.read());
  EXPECT_FALSE(follower.finish().is_whole);
}

}  // namespace
}  // namespace replay::log
