// Tests of every tool on every log of the archive, through the real program: twice, with the same bytes, and chained by
// pipes. The logs are not part of the source; without them these tests skip. Where a tool runs many times, only the
// first records of the largest logs are used.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/archive_logs.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

const std::string kTrace = std::string(REPLAY_PROGRAM) + " trace ";

std::vector<fs::path> all_logs() {
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(archive_folder()))
    if (entry.path().extension() == ".gz") logs.push_back(entry.path());
  std::ranges::sort(logs);
  return logs;
}

class EveryLog : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT(archive_folder()); }

  /// The first records of an archive log, plain text, few enough for a test of at most a minute.
  std::string head_of(const fs::path& log) {
    const std::string head = (folder_ / "head.swf").string();
    const ShellResult result = shell(kTrace + "cut --first 20000 --force -o " + head + " " + log.string());
    EXPECT_EQ(result.status, 0) << result.err;
    return head;
  }

  /// The output of a command that must succeed.
  std::string output_of(const std::string& command) {
    ShellResult result = shell(command, folder_.path());
    EXPECT_EQ(result.status, 0) << command << "\n" << result.err;
    return std::move(result.out);
  }

  void expect_same_twice(const std::string& command) {
    const std::string once = output_of(command);
    EXPECT_GT(once.size(), 1000U) << command;
    EXPECT_TRUE(once == output_of(command)) << command << ": other bytes the second time";
  }

  TemporaryFolder folder_;
};

TEST_F(EveryLog, EachToolTwiceGivesTheSameBytes) {
  for (const fs::path& log : all_logs()) {
    const std::string head = head_of(log);
    for (const char* tool : {"cut --jobs 100- --first 5000", "scale --arrivals 0.8", "scale --load 0.7 --by runtimes",
                             "scale --sizes 512 --powers-of-two", "clean", "sort --renumber", "convert --to csv",
                             "convert --to swf --anonymise", "info", "info --json"})
      expect_same_twice(kTrace + tool + " " + head);
    expect_same_twice(kTrace + "match --time-scale 0.001 --profile " + REPLAY_SOURCE_DIR +
                      "/traces/samples/profile.json " + head);
    const ShellResult once = shell(kTrace + "validate --schedule --json " + head);
    EXPECT_LE(once.status, 1) << log << once.err;
    EXPECT_EQ(once.out, shell(kTrace + "validate --schedule --json " + head).out) << log;
  }
}

// A cleaned log is correct: it has no error, and none of the warnings about what cleaning changes.
TEST_F(EveryLog, CleanedItIsRight) {
  for (const fs::path& log : all_logs()) {
    const ShellResult result = shell(kTrace + "clean " + log.string() + " | " + kTrace + "validate -", folder_.path());
    EXPECT_EQ(result.status, 0) << log << "\n" << result.out << result.err;
    for (const char* rule : {"over-request", "size-missing", "request-missing", "runtime-missing", "cpu-use-clamped",
                             "oversize", "max-records", "duplicate-number", "out-of-order"})
      EXPECT_EQ(result.out.find(std::string(" ") + rule + ":"), std::string::npos) << log << "\n" << result.out;
  }
}

TEST_F(EveryLog, APipeGivesWhatFilesGive) {
  for (const fs::path& log : all_logs()) {
    const std::string head = head_of(log);
    const std::string piped = output_of("cat " + head + " | " + kTrace + "clean - | " + kTrace +
                                        "scale --sizes 256 - | " + kTrace + "scale --load 0.6 --by arrivals - | " +
                                        kTrace + "cut --first 3000 --rebase - | " + kTrace + "sort -");
    output_of(kTrace + "clean --force -o 1.swf " + head);
    output_of(kTrace + "scale --sizes 256 --force -o 2.swf 1.swf");
    output_of(kTrace + "scale --load 0.6 --by arrivals --force -o 3.swf 2.swf");
    output_of(kTrace + "cut --first 3000 --rebase --force -o 4.swf 3.swf");
    EXPECT_TRUE(piped == output_of(kTrace + "sort 4.swf")) << log;
  }
}

TEST_F(EveryLog, GivesTheSameJobSetTwice) {
  for (const fs::path& log : all_logs())
    expect_same_twice(std::string(REPLAY_PROGRAM) + " generate from-log --jobs 10000 " + log.string());
}

TEST_F(EveryLog, GoesToCsvAndBackThroughPipes) {
  for (const fs::path& log : all_logs()) {
    const std::string head = head_of(log);
    const std::string back = output_of("cat " + head + " | " + kTrace + "convert --from swf --to csv - | " + kTrace +
                                       "convert --from csv --to swf - | grep -v '^;'");
    EXPECT_TRUE(back == output_of(kTrace + "cut --first 20000 " + head + " | grep -v '^;'")) << log;
  }
}

TEST_F(EveryLog, AllMergeIntoOneThatIsRight) {
  std::string files;
  for (const fs::path& log : all_logs()) {
    const std::string name = log.stem().stem().string() + ".clean.swf";
    output_of(kTrace + "cut --first 5000 " + log.string() + " | " + kTrace + "clean --flurries ignore --force -o " +
              name + " -");
    files += " " + name;
  }
  const std::string merge = kTrace + "merge" + files;
  expect_same_twice(merge);
  const ShellResult result = shell(merge + " | " + kTrace + "validate -", folder_.path());
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(result.out.find("number-gap"), std::string::npos) << result.out;
  const std::string merged = output_of(merge);
  for (const char* thanks : {"Lars Malinowsky", "Victor Hazlewood", "Curt Canada", "Joseph Emeras", "Moe Jette"})
    EXPECT_NE(merged.find(std::string("; Acknowledge: ") + thanks), std::string::npos) << thanks;
}

// WORKLOADS: "by submit time (Stockholm time)", September 1996 to August 1997.
TEST_F(EveryLog, KthHasTheJobsOfEachMonthThatAreKnown) {
  constexpr std::array<int, 12> kJobs = {106, 2407, 1984, 2308, 2931, 2924, 2081, 2854, 4081, 2702, 2185, 1927};
  for (int i = 0; i < 12; ++i) {
    const int month = 9 + i;
    const std::string name = month <= 12 ? "1996-" + std::string(month < 10 ? "0" : "") + std::to_string(month)
                                         : "1997-0" + std::to_string(month - 12);
    const std::string text = output_of(kTrace + "cut --rebase --month " + name + " " + archive_log("KTH-SP2-1996-2"));
    std::istringstream lines(text);
    int jobs = 0;
    for (std::string line; std::getline(lines, line);)
      if (!line.empty() && line.front() != ';') ++jobs;
    EXPECT_EQ(jobs, kJobs[static_cast<std::size_t>(i)]) << name;
  }
}

}  // namespace
}  // namespace replay::test
