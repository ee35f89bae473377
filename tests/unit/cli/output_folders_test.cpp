// Tests of what the command line writes, keeps and replaces in folders of runs. No MPI here.

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/results/output_names.hpp"
#include "tests/unit/cli/command_line_fixture.hpp"

namespace replay::test {
namespace {

TEST_F(CommandLine, AnOutputFolderThatExistsIsKeptUnlessForced) {
  write_text(folder_ / "t.swf", kTwoJobs);
  EXPECT_EQ(replay("simulate --trace t.swf --policy easy --out r").status, 0);
  const std::string before = text_of(folder_ / "r/jobs.csv");
  EXPECT_FALSE(before.empty());
  expect_complaint("simulate --trace t.swf --policy fcfs --out r", 1, {"r: exists", "--force"});
  EXPECT_EQ(text_of(folder_ / "r/jobs.csv"), before);
  EXPECT_EQ(replay("simulate --trace t.swf --policy fcfs --out r --force").status, 0);
}

TEST_F(CommandLine, ForceRemovesNothingButRuns) {
  write_text(folder_ / "t.swf", kTwoJobs);
  std::filesystem::create_directory(folder_ / "precious");
  write_text(folder_ / "precious/thesis.tex", "years of work");
  expect_complaint("simulate --trace t.swf --policy easy --out precious --force", 1, {"precious", "results of a run"});
  EXPECT_EQ(text_of(folder_ / "precious/thesis.tex"), "years of work");
  std::filesystem::create_directories(folder_ / "applications/jobs");
  write_text(folder_ / "applications/jobs/letter.tex", "years of hope");
  expect_complaint("simulate --trace t.swf --policy easy --out applications --force", 1, {"letter.tex is none"});
  EXPECT_TRUE(std::filesystem::exists(folder_ / "applications/jobs/letter.tex"));
  // A folder that contains runs, or a file with the name of a run's, is not itself a run.
  expect_complaint("simulate --trace t.swf --policy easy --out precious/r", 0, {});
  expect_complaint("simulate --trace t.swf --policy easy --out precious --force", 1, {"thesis.tex is none"});
  write_text(folder_ / "precious/jobs.csv", "mine");
  expect_complaint("simulate --trace t.swf --policy easy --out precious --force", 1, {"thesis.tex is none"});
  EXPECT_EQ(text_of(folder_ / "precious/thesis.tex"), "years of work");
  expect_complaint("simulate --trace t.swf --policy easy,fcfs --out precious/r --force", 0, {});
  expect_complaint("simulate --trace t.swf --policy easy --out precious/r --force", 0, {});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "precious/r/fcfs"));
}

TEST_F(CommandLine, ForceRemovesOfTheJobsFoldersOnlyThoseOfJobsAndFollowsNoLink) {
  namespace fs = std::filesystem;
  write_text(folder_ / "t.swf", kTwoJobs);
  const std::string run = "simulate --trace t.swf --policy easy --force --out r";
  fs::create_directories(folder_ / "precious");
  write_text(folder_ / "precious/thesis.tex", "years of work");
  ASSERT_EQ(replay(run).status, 0);
  fs::create_directories(folder_ / "r/jobs/7");
  write_text(folder_ / "r/jobs/7/thesis.tex", "years of work");
  expect_complaint(run, 1, {"r/jobs/7 is none"});
  write_text(folder_ / "r/jobs/letter.tex", "years of hope");
  expect_complaint(run, 1, {"r/jobs/letter.tex is none"});
  EXPECT_EQ(text_of(folder_ / "r/jobs/7/thesis.tex"), "years of work");
  fs::remove(folder_ / "r/jobs/letter.tex");
  write_text(folder_ / "r/jobs/7/command", "mpiexec");
  fs::create_directories(folder_ / "r/jobs/7/of/the/program");
  fs::create_directory_symlink(folder_ / "precious", folder_ / "r/jobs/7/of/link");
  expect_complaint(run, 0, {});
  EXPECT_FALSE(fs::exists(folder_ / "r/jobs"));
  EXPECT_EQ(text_of(folder_ / "precious/thesis.tex"), "years of work");
}

TEST_F(CommandLine, AReportReplacesNothingOfTheTraceAndOthersWithForceOnly) {
  write_text(folder_ / "t.swf", kTwoJobs);
  write_text(folder_ / "r.json", "mine");
  expect_complaint("trace clean t.swf --report t.swf -o c.swf --force", 2, {"--report t.swf", "a file of the trace"});
  expect_complaint("trace clean t.swf --report r.json -o c.swf", 1, {"r.json: exists already", "--force"});
  EXPECT_EQ(text_of(folder_ / "t.swf"), kTwoJobs);
  EXPECT_EQ(text_of(folder_ / "r.json"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "c.swf"));
  expect_complaint("trace clean t.swf --report r.json -o c.swf --force", 0, {});
  EXPECT_TRUE(text_of(folder_ / "r.json").starts_with("{"));
}

TEST_F(CommandLine, AFullDiskIsAnErrorThatNamesTheFile) {
  const std::filesystem::path disk = folder_ / "disk";
  std::filesystem::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "a small tmpfs cannot be mounted here (needs root)";
  std::string trace = "; MaxProcs: 4\n";
  for (int i = 1; i <= 3000; ++i) trace += std::to_string(i) + " 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n";
  write_text(folder_ / "t.swf", trace);
  const ShellResult result = replay("simulate --trace t.swf --policy easy --out disk/r");
  const std::string log = text_of(disk / "r" / "events.log");
  std::string there;
  for (const auto& entry : std::filesystem::directory_iterator(disk / "r"))
    there += entry.path().filename().string() + " ";
  ::umount(disk.c_str());
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.out.find("\neasy "), std::string::npos) << "the table is printed: " << result.out;
  EXPECT_TRUE(log.ends_with("\n#cut No space left on device\n")) << log.substr(log.size() - 200);
  EXPECT_EQ(there.find("series.csv"), std::string::npos) << "a file is there as a whole or not at all: " << there;
  EXPECT_EQ(there.find("jobs.csv"), std::string::npos) << there;
  EXPECT_NE(result.err.find("No space left"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("disk/r/"), std::string::npos) << result.err;
}

TEST_F(CommandLine, AFileSizeLimitCutsNothingWithoutSayingSo) {
  std::string trace = "; MaxProcs: 4\n";
  for (int i = 1; i <= 3000; ++i) trace += std::to_string(i) + " 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n";
  write_text(folder_ / "t.swf", trace);
  const ShellResult result =
      shell("ulimit -f 64; " + kReplay + " simulate --trace t.swf --policy easy --out r", folder_.path());  // 32 KiB
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.out.find("\neasy "), std::string::npos) << "the table is printed: " << result.out;
  EXPECT_NE(result.err.find("events.log: cannot write the event log: File too large"), std::string::npos) << result.err;
  EXPECT_TRUE(text_of(folder_ / "r/events.log").ends_with("\n#cut File too large\n"));
  EXPECT_NE(text_of(folder_ / "r/run.json").find("events.log: cannot write the event log"), std::string::npos);
  const ShellResult why = replay("why r 1");
  EXPECT_NE(why.err.find("the log was cut off: File too large"), std::string::npos) << why.err;
  const ShellResult made = replay("results r --force");
  EXPECT_NE(made.err.find("the event log was cut off: File too large"), std::string::npos) << made.err;
}

// It was killed while its hosts were asked whether they see its folder.
TEST_F(CommandLine, ForceReplacesAFolderInWhichARunOnHostsHadJustBegun) {
  write_text(folder_ / "t.swf", kTwoJobs);
  const std::string run = "simulate --trace t.swf --policy easy --force --out r";
  std::filesystem::create_directory(folder_ / "r");
  write_text(folder_ / "r/.word-0123abcd", "0123abcd");
  expect_complaint(run, 0, {});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r/.word-0123abcd"));
  for (const char* other : {"r/.word-list", "r/.word-0123abcde", "r/.word-0123abcg"}) {
    write_text(folder_ / other, "mine");
    expect_complaint(run, 1, {other, " is none"});
    std::filesystem::remove(folder_ / other);
  }
}

TEST_F(CommandLine, ForceReplacesWhatAKilledRunLeft) {
  write_text(folder_ / "t.swf", kTwoJobs);
  std::filesystem::create_directory(folder_ / "r");
  const char* const unfinished = "r/jobs.csv.unfinished-0123456789abcdef";
  for (const char* left : {"r/run.json", "r/events.log", unfinished, "r/run.json.unfinished-fedcba9876543210"})
    write_text(folder_ / left, "");
  const std::string run = "simulate --trace t.swf --policy easy --force --out r";
  EXPECT_EQ(replay(run).status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / unfinished));
  write_text(folder_ / "r/jobs.csv.bak", "");
  expect_complaint(run, 1, {"jobs.csv.bak is none"});
  EXPECT_TRUE(std::filesystem::exists(folder_ / "r/jobs.csv"));
}

TEST_F(CommandLine, OnlyTheFilesThatWereAskedForAreWrittenAndEachIsWhole) {
  const auto files = [this](const char* run) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / run)) names.insert(entry.path().filename());
    return names;
  };
  const std::string run = "simulate --trace " + kSynth + " --policy easy --machine 1x2 --outputs ";
  ASSERT_EQ(replay(run + "jobs,metrics --out a").status, 0);
  EXPECT_EQ(files("a"), (std::set<std::string>{"jobs.csv", "metrics.json"}));
  ASSERT_EQ(replay(run + "all --until 20s --out b").status, 0);
  std::set<std::string> all;
  for (const results::OutputFile& output : results::output_files()) all.emplace(output.file);
  all.erase("nodes.csv");  // no node was closed
  EXPECT_EQ(files("b"), all);
  const std::string schedule = text_of(folder_ / "b/schedule.swf");
  const auto lines = std::ranges::count(text_of(folder_ / "b/jobs.csv"), '\n') - 1;
  EXPECT_LT(lines, std::ranges::count(text_of(folder_ / "a/jobs.csv"), '\n') - 1) << "the end came before some jobs";
  EXPECT_EQ(std::stol(schedule.substr(schedule.find("MaxJobs: ") + 9)), lines) << "those that came";
}

TEST_F(CommandLine, SeveralPoliciesHaveASubFolderEachAndDifferencesToTheFirst) {
  const ShellResult result =
      replay("simulate --trace " + kSynth + " --policy fcfs,easy,fcfs-malleable --machine 1x2 --out r");
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* policy : {"fcfs", "easy", "fcfs-malleable"})
    EXPECT_FALSE(text_of(folder_ / (std::string("r/") + policy + "/run.json")).empty()) << policy;
  EXPECT_NE(result.out.find("% to fcfs"), std::string::npos) << result.out;
}

TEST_F(CommandLine, PoliciesThatTurnOutToBeOneHaveASubFolderEach) {
  write_text(folder_ / "t.swf", kTwoJobs);  // hardly any waits: awt=conservative is 60 s
  const ShellResult result = replay("simulate --trace t.swf --policy slack:awt=conservative,slack:awt=60 --out r");
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* folder : {"slack,awt=conservative", "slack,awt=60"}) {
    EXPECT_NE(text_of(folder_ / "r" / folder / "run.json").find("slack:awt=60"), std::string::npos) << folder;
    EXPECT_FALSE(text_of(folder_ / "r" / folder / "jobs.csv").empty()) << folder;
  }
}

}  // namespace
}  // namespace replay::test
