// Tests of the logs that commands are given: wrong ones, of other kinds, of accounting, and what is said of them. No MPI here.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/cli/command_line_fixture.hpp"

namespace replay::test {
namespace {

TEST_F(CommandLine, WrongTracesAreNamedWithWhatIsWrong) {
  write_text(folder_ / "empty.swf", "");
  write_text(folder_ / "binary.swf", std::string("\x7f"
                                                 "ELF\0\0\1\2",
                                                 8) +
                                         std::string(4000, '\0'));
  write_text(folder_ / "seventeen.swf", "1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1\n");
  write_text(folder_ / "huge.swf", "1 0 -1 999999999999999999999999 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
  write_text(folder_ / "negative.swf", "1 0 -1 10 -3 -1 -1 -3 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
  expect_complaint("simulate --policy easy --trace missing.swf", 1, {"missing.swf", "No such file"});
  expect_complaint("simulate --policy easy --trace empty.swf", 1, {"empty.swf"});
  expect_complaint("simulate --policy easy --trace binary.swf", 1, {"binary.swf"});
  expect_complaint("simulate --policy easy --trace .", 1, {"directory"});
  expect_complaint("simulate --policy easy --strict --trace seventeen.swf", 1, {"seventeen.swf:1", "18", "17"});
  expect_complaint("simulate --policy easy --strict --trace huge.swf", 1, {"huge.swf:1", "field 4"});
  expect_complaint("simulate --policy easy --trace negative.swf", 1, {"negative.swf"});
}

TEST_F(CommandLine, BrokenLinesAreSkippedCountedAndShownUnlessStrict) {
  write_text(folder_ / "t.swf", std::string(kTwoJobs) + "3 6 -1 ten 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const ShellResult result = replay("simulate --policy easy --trace t.swf --outputs none");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("1 broken line"), std::string::npos) << result.out;
}

TEST_F(CommandLine, AFileOfAnotherKindIsNamedWithWhatReadsIt) {
  write_text(folder_ / "t.swf", kTwoJobs);
  ASSERT_EQ(replay("simulate --policy easy --trace t.swf --out run").status, 0);
  ASSERT_EQ(replay("simulate --policy easy,fcfs --trace t.swf --out runs").status, 0);
  ASSERT_EQ(replay("trace convert t.swf -o t.csv").status, 0);
  write_text(folder_ / "t.jobs.csv", "job,flexibility\n1,rigid\n");
  write_text(folder_ / "t.pairs.csv", "job,beside,slowdown\n1,2,1.5\n");
  write_text(folder_ / "dump.txt",
             "JobID|User|Submit|Start|End|ElapsedRaw|AllocCPUS|State\n"
             "121|ann|2024-05-06T08:00:00|2024-05-06T08:00:00|2024-05-06T08:01:00|60|2|COMPLETED\n");
  write_text(folder_ / "table.txt",
             "JobID           JobName  Partition\n------------ ---------- ----------\n121 md batch\n");
  write_text(folder_ / "20240301",
             "03/01/2024 12:00:00;E;7.srv;user=ann ctime=1709290800 start=1709290810 exec_host=n1/0*2 end=1709290870 "
             "Exit_status=0\n");
  write_text(folder_ / "lsb.acct", "\"JOB_FINISH\" \"10.1\" 1700000070 7\n");
  const std::pair<const char*, const char*> files[] = {
      {"20240301", "PBS: `replay trace convert 20240301 --from pbs"},
      {"lsb.acct", "lsb.acct: `replay trace convert lsb.acct --from lsf"},
      {"dump.txt", "a dump of sacct: `replay trace convert dump.txt --from sacct"},
      {"table.txt", "`sacct --parsable2"},
      {"t.csv", "`replay trace convert t.csv --from csv"},
      {"t.jobs.csv", "--jobs-from"},
      {"t.pairs.csv", "--pairs"},
      {"run/events.log", "`replay report`"},
      {"run/run.json", "`replay report` and `rerun`"},
      {"run/series.csv", "`replay plot"},
  };
  for (const auto& [file, words] : files)
    for (const std::string command :
         {"simulate --policy easy --trace ", "--policy easy --trace ", "validate --policy easy --trace ",
          "simulate --strict --policy easy --trace ", "trace info ", "audit --rule easy "})
      expect_complaint(command + file, 1, {file, "expected a ", words});
  expect_complaint("simulate --policy easy --trace - <dump.txt", 1, {"standard input", "convert - --from sacct"});
  expect_complaint("simulate --policy easy --trace run/jobs.csv", 1, {"`replay audit run/jobs.csv`", "schedule.swf"});
  EXPECT_EQ(replay("audit --rule easy run/jobs.csv").status, 0) << "which reads it";
  for (const char* folder : {"run", "runs"}) {
    expect_complaint(std::string("simulate --policy easy --trace ") + folder, 1,
                     {"folder of a run", "`replay rerun run"});
    expect_complaint(std::string("run ") + folder, 127, {"expected a program", "`replay rerun run"});
  }
  EXPECT_EQ(replay("audit --rule easy run").status, 0);
  expect_complaint("run -n 2 ./t.swf", 127, {"./t.swf", "expected a program", "`replay --trace ./t.swf"});
  expect_complaint("run dump.txt", 127, {"expected a program", "`replay trace convert dump.txt --from sacct"});
  expect_complaint("submit t.csv", 1, {"expected a program", "--from csv"});
}

TEST_F(CommandLine, ConvertKnowsALogByItsContentWhereItsNameSaysNothing) {
  write_text(folder_ / "20240301",
             "03/01/2024 12:00:00;E;7.srv;user=ann ctime=1709290800 start=1709290810 exec_host=n1/0*2 end=1709290870 "
             "Exit_status=0\n");
  write_text(folder_ / "dump.txt", "JobID|Submit|Start|End|AllocCPUS\n1|1700000000|1700000000|1700000060|2\n");
  write_text(folder_ / "notes.txt", "not a log\n");
  EXPECT_NE(replay("trace convert 20240301").out.find("\n1 0 10 60 2 "), std::string::npos);
  EXPECT_NE(replay("trace convert dump.txt").out.find("\n1 0 0 60 2 "), std::string::npos);
  expect_complaint("trace convert notes.txt", 2, {"--from: expected swf, csv, sacct, pbs or lsf, as 'notes.txt'"});
  expect_complaint("trace convert 20240301 --cluster a", 2, {"--cluster goes with --from sacct"});
  expect_complaint("trace convert dump.txt --to lsf", 2, {"--to"});
}

// On 4 processors in order of arrival. 1 runs from 0 to 100. 3 is taken back after 70 s; 5 never could start, and stops no
// job. 4 starts behind 1. 2 comes 5 s after the end of 1 and waits for 4, 6 comes at its begin time and waits for 2.
TEST_F(CommandLine, ALogOfSacctIsSimulatedWithItsDependenciesAndCancellations) {
  write_text(folder_ / "site.sacct",
             "JobID|Submit|Eligible|Start|End|AllocCPUS|ReqCPUS|TimelimitRaw|State|SubmitLine\n"
             "1|1700000000|1700000000|1700000050|1700000150|4|4|10|COMPLETED|sbatch a.sh\n"
             "2|1700000010|1700000155|1700000160|1700000210|2|2|10|COMPLETED|sbatch -d afterok:1 b.sh\n"
             "3|1700000020|1700000020|None|1700000090|0|4|10|CANCELLED by 7|sbatch c.sh\n"
             "4|1700000030|1700000030|1700000210|1700000270|4|4|10|COMPLETED|sbatch d.sh\n"
             "5|1700000040|Unknown|None|1700000200|0|4|10|CANCELLED by 7|sbatch -H e.sh\n"
             "6|1700000050|1700000180|1700000270|1700000280|4|4|10|COMPLETED|sbatch --begin=now+130 f.sh\n");
  ASSERT_EQ(replay("trace convert site.sacct --machine-size 4 -o site.swf").status, 0);
  const auto schedule = [&](const std::string& options) {
    const ShellResult run = replay("simulate --trace site.swf --policy fcfs --force --out r " + options);
    EXPECT_EQ(run.status, 0) << run.err;
    std::string jobs = text_of(folder_ / "r/schedule.swf");
    return jobs.substr(jobs.find("\n1 ") + 1);
  };
  const std::string before =
      "1 0 0 100 4 -1 -1 4 600 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
      "3 20 70 -1 -1 -1 -1 4 600 -1 5 -1 -1 -1 -1 -1 -1 -1\n"
      "4 30 70 60 4 -1 -1 4 600 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
  const std::string after =
      "6 180 30 10 4 -1 -1 4 600 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
      "5 200 0 -1 -1 -1 -1 4 600 -1 5 -1 -1 -1 -1 -1 -1 -1\n";
  EXPECT_EQ(schedule("--closed-loop on"), before + "2 105 55 50 2 -1 -1 2 600 -1 1 -1 -1 -1 -1 -1 -1 -1\n" + after);
  EXPECT_EQ(schedule(""), before + "2 155 5 50 2 -1 -1 2 600 -1 1 -1 -1 -1 -1 -1 -1 -1\n" + after);
  EXPECT_EQ(schedule("--cancelled skip").find("\n3 "), std::string::npos);
  const ShellResult info = replay("trace info site.swf --json");
  EXPECT_NE(info.out.find("\"jobs\": 4"), std::string::npos) << "what was never run is no load: " << info.out;
}

TEST_F(CommandLine, WhatDecidesTheMachineIsSaidAboveTheTable) {
  const auto job = [](const char* number, const char* submit, const char* wait, const char* partition) {
    return fmt::format("{} {} {} 100 4 -1 -1 4 200 -1 1 1 1 -1 1 {} -1 -1\n", number, submit, wait, partition);
  };
  const std::string jobs = job("1", "0", "0", "1") + job("2", "0", "0", "2") + job("3", "10", "90", "1");
  write_text(folder_ / "t.swf", jobs);
  const ShellResult bare = replay("simulate --policy easy --trace t.swf --outputs none");
  EXPECT_NE(bare.out.find("note: the log has 2 partitions, which are one machine here: `replay trace cut --partition "
                          "NUMBER` keeps one\n"
                          "note: the size of the machine was taken from the log, whose header does not say it: 8 "
                          "processors, the most in use at one time; --machine sets another one\n"
                          "machine flat:8"),
            std::string::npos)
      << bare.out;
  const ShellResult given = replay("simulate --policy easy --trace t.swf --outputs none --machine flat:4");
  EXPECT_EQ(given.out.find("taken from the log"), std::string::npos) << given.out;
  EXPECT_EQ(given.out.find("MaxProcs"), std::string::npos) << given.out;
  ASSERT_EQ(replay("trace cut t.swf --partition 1 -o one.swf").status, 0);
  const ShellResult one = replay("simulate --policy easy --trace one.swf --outputs none");
  EXPECT_EQ(one.out.find("partitions"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("4 processors, the widest job;"), std::string::npos) << one.out;
}

}  // namespace
}  // namespace replay::test
