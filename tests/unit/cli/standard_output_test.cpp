// Tests with standard output that cannot be written: a full disk, a closed descriptor, a closed pipe. Every command
// reports it by its exit status, and still writes its files.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

class StandardOutput : public testing::Test {
 protected:
  void SetUp() override {
    write_text(folder_ / "t.swf",
               "; MaxProcs: 4\n"
               "1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "2 5 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
    for (const char* run : {"a", "b"}) {
      const ShellResult made = replay(fmt::format("simulate --trace t.swf --policy easy --out {}", run));
      ASSERT_EQ(made.status, 0) << made.err;
    }
  }
  ShellResult replay(const std::string& arguments) { return shell(REPLAY_PROGRAM " " + arguments, folder_.path()); }

  // Status 1 of `diff` means that the runs differ.
  static int status_of_loss(const std::string& command) { return command.starts_with("diff") ? 2 : 1; }

  // `diff` detects the error itself, and its message has no reason.
  static std::string complaint_of(const std::string& command, const std::string& reason) {
    return "replay: standard output: cannot be written" + (command.starts_with("diff") ? "" : ": " + reason) + "\n";
  }

  // Each of these prints something.
  const std::vector<std::string> commands_ = {"--help",
                                              "help",
                                              "simulate --help",
                                              "--version",
                                              "policies",
                                              "models",
                                              "benchmarks",
                                              "--trace t.swf --policy easy --dry-run --machine emulated:1x2x2",
                                              "simulate --trace t.swf --policy easy --outputs none",
                                              "simulate --trace t.swf --policy easy --outputs none --json",
                                              "simulate --trace t.swf --policy fcfs-malleable --seeds 1-3",
                                              "generate lublin --jobs 10",
                                              "trace info t.swf",
                                              "trace cut t.swf --jobs 1-2",
                                              "trace sort t.swf",
                                              "trace scale t.swf --load 0.5 --by arrivals",
                                              "trace clean t.swf",
                                              "trace merge t.swf t.swf",
                                              "trace convert t.swf --to csv",
                                              "trace declare t.swf --estimates perfect",
                                              "trace validate t.swf",
                                              "audit a --rule easy",
                                              "why a 2",
                                              "diff a b",
                                              "rerun a --out again"};
  TemporaryFolder folder_;
};

TEST_F(StandardOutput, OnAFullDiskIsSaidAndIsExitStatusOneForEveryCommand) {
  for (const std::string& command : commands_) {
    const ShellResult written = replay(command + " >out.txt");
    ASSERT_TRUE(written.status == 0) << command << ": " << written.err;
    ASSERT_FALSE(text_of(folder_ / "out.txt").empty()) << command << " prints nothing";
    std::filesystem::remove_all(folder_ / "again");
    const ShellResult result = replay(command + " >/dev/full");
    EXPECT_EQ(result.status, status_of_loss(command)) << command << ": " << result.err;
    EXPECT_NE(result.err.find(complaint_of(command, "No space left on device")), std::string::npos)
        << command << ": " << result.err;
    std::filesystem::remove_all(folder_ / "again");
  }
}

TEST_F(StandardOutput, ThatIsClosedIsSaidAndIsExitStatusOneForEveryCommand) {
  for (const std::string& command : commands_) {
    const ShellResult result = replay(command + " >&-");
    EXPECT_EQ(result.status, status_of_loss(command)) << command << ": " << result.err;
    EXPECT_NE(result.err.find(complaint_of(command, "Bad file descriptor")), std::string::npos)
        << command << ": " << result.err;
    std::filesystem::remove_all(folder_ / "again");
  }
}

TEST_F(StandardOutput, WhoseReaderHasGoneIsNotComplainedAbout) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  ASSERT_LT(ends[1], 10) << "one digit, for the shell";
  for (const std::string& command : commands_) {
    const ShellResult result = replay(fmt::format("{} >&{}", command, ends[1]));
    EXPECT_EQ(result.status, command.starts_with("diff") ? 2 : 128 + SIGPIPE) << command << ": " << result.err;
    EXPECT_EQ(result.err.find("cannot"), std::string::npos) << command << ": " << result.err;
    std::filesystem::remove_all(folder_ / "again");
  }
  ::close(ends[1]);
}

TEST_F(StandardOutput, ThatIsLostLosesNoResultFile) {
  const ShellResult result = replay("simulate --trace t.swf --policy easy --out c >/dev/full");
  EXPECT_EQ(result.status, 1);
  for (const char* file : {"jobs.csv", "schedule.swf", "metrics.json", "series.csv", "events.log"})
    EXPECT_EQ(text_of(folder_ / "c" / file), text_of(folder_ / "a" / file)) << file;
}

TEST_F(StandardOutput, ThatIsNotUsedMayBeClosed) {
  const ShellResult result = replay("trace cut t.swf --jobs 1-1 -o cut.swf >&-");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_FALSE(text_of(folder_ / "cut.swf").empty());
}

TEST_F(StandardOutput, AndStandardErrorThatCannotBeWrittenDoNotAbort) {
  EXPECT_EQ(replay("simulate --trace missing.swf --policy easy >/dev/full 2>/dev/full").status, 1);
  EXPECT_EQ(replay("--policy nonsense >/dev/full 2>/dev/full").status, 2);
}

}  // namespace
}  // namespace replay::test
