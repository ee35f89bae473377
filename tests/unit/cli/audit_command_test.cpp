// Tests of `replay audit`: every kind of schedule it reads, its output, and errors.

#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

const std::string kReplay = REPLAY_PROGRAM;
const std::string kKth = REPLAY_SOURCE_DIR "/traces/samples/kth-easy-1127.swf";

// On 4 processors: job 2, the head, waits for all of them until 100; job 3 may pass, job 4 may not.
const std::string kSwf =
    "; MaxProcs: 4\n"
    "1 0 0 100 3 -1 -1 3 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "2 10 90 100 4 -1 -1 4 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "3 20 0 30 1 -1 -1 1 80 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "4 60 0 30 1 -1 -1 1 80 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
const std::string kFinding =
    "60 s: job 4 started against the rule: it would delay head job 2 (4 processors, shadow time 100 s, extra nodes 0): "
    "it "
    "needs 1 processor until 140 s\n";

// The same schedule in Batsim's format, in tenths of a second.
const std::string kBatsim =
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata\n"
    "w0!1,w0,p,0,3,10,1,COMPLETED_SUCCESSFULLY,0,10,10,0,10,1,0-2,-1,\"\"\n"
    "w0!2,w0,p,1,4,1e1,1,COMPLETED_SUCCESSFULLY,10.0,10,20.000000,9,19,1.9,0-3,-1,\"a,b\"\n"
    "w0!3,w0,p,2,1,8,1,COMPLETED_SUCCESSFULLY,2,3.0,5,0,3,1,3,-1,\"\"\n"
    "w0!4,w0,p,6.5,1,8,0,COMPLETED_FAILED,6.5,3,9.5,0,3,1,3,-1,\"two\nlines, \"\"quoted\"\"\"\n"
    "w0!5,w0,p,7,9,8,0,REJECTED,-1,-1,-1,-1,-1,-1,,-1,\"\"\n";

class Audit : public testing::Test {
 protected:
  ShellResult audit(const std::string& arguments) { return shell(kReplay + " audit " + arguments, folder_.path()); }
  ShellResult audit_file(const std::string& text, const std::string& arguments) {
    write_text(folder_ / "schedule", text);
    return audit("schedule " + arguments);
  }
  void expect_complaint(const ShellResult& result, int status, std::initializer_list<const char*> words) {
    EXPECT_EQ(result.status, status) << result.out << result.err;
    for (const char* word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << "no '" << word << "' in: " << result.err;
  }
  TemporaryFolder folder_;
};

TEST_F(Audit, PrintsEachFindingAndThenTheSum) {
  const ShellResult result = audit_file(kSwf, "--rule easy");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, kFinding +
                            "\n"
                            "schedule: easy, pass=event on 4 processors\n"
                            "4 jobs checked; 1 finding about 1 job\n"
                            "        1  started against the rule\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(Audit, ReadsWhenAnotherSchedulerHasStartedAJob) {
  const std::string head =
      "job_id,submission_time,requested_number_of_resources,requested_time,starting_time,finish_time,since\n";
  const ShellResult result =
      audit_file(head + "2,100,3,100,100,140,40\n1,100,4,60,140,200,\n", "--rule easy --machine-size 4");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  expect_complaint(audit_file(head + "1,100,3,100,100,140,101\n", "--rule easy --machine-size 4"), 1,
                   {"schedule:2: column since: expected at most the start at 100, found '101'"});
}

// Job 2 could not start before 70 s, so job 4 did not overtake it.
TEST_F(Audit, AJobWaitsFromWhenItCouldStart) {
  write_text(folder_ / "schedule.jobs.csv", "job,eligible\n2,60\n");
  EXPECT_EQ(audit_file(kSwf, "--rule easy").status, 0);
  EXPECT_EQ(audit_file(kSwf, "--rule easy --queue-from eligible").status, 0);
  EXPECT_EQ(audit_file(kSwf, "--rule easy --queue-from submit").status, 1);
}

TEST_F(Audit, LeavesWithZeroWhenThereIsNoFinding) {
  const ShellResult result = audit(kKth + " --rule easy");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("1127 jobs checked; 0 findings\n"), std::string::npos) << result.out;
  EXPECT_EQ(audit(kKth + " --rule conservative").status, 1);
  EXPECT_EQ(audit(kKth + " --rule fcfs").status, 1);
}

TEST_F(Audit, ReadsStandardInputAndGzip) {
  write_text(folder_ / "schedule.swf", kSwf);
  const ShellResult piped = shell("cat schedule.swf | " + kReplay + " audit - --rule easy", folder_.path());
  EXPECT_EQ(piped.status, 1);
  EXPECT_NE(piped.out.find(kFinding), std::string::npos) << piped.out;
  const ShellResult zipped =
      shell("gzip schedule.swf && " + kReplay + " audit schedule.swf.gz --rule easy", folder_.path());
  EXPECT_EQ(zipped.status, 1);
  EXPECT_NE(zipped.out.find(kFinding), std::string::npos) << zipped.out;
}

TEST_F(Audit, ReadsWhatBatsimWrites) {
  const ShellResult result = audit_file(kBatsim, "--rule easy --machine-size 4");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out,
            "6.5 s: job w0!4 started against the rule: it would delay head job w0!2 (4 processors, shadow time 10 s, "
            "extra nodes 0): it needs 1 processor until 14.5 s\n"
            "\n"
            "schedule: easy, pass=event on 4 processors\n"
            "4 jobs checked; 1 finding about 1 job\n"
            "        1  started against the rule\n"
            "1 record left out: rejected\n");
}

TEST_F(Audit, ReadsARunsFolderAndItsFilesByThemselves) {
  const std::string simulate = kReplay + " simulate --trace " + kKth + " --policy ";
  ASSERT_EQ(shell(simulate + "easy --out one", folder_.path()).status, 0);
  for (const char* schedule : {"one", "one/jobs.csv", "one/schedule.swf"})
    EXPECT_EQ(audit(std::string{schedule} + " --rule easy").status, 0) << schedule;
  EXPECT_EQ(audit("one --rule fcfs").status, 1);

  ASSERT_EQ(shell(simulate + "fcfs,conservative --out two", folder_.path()).status, 0);
  EXPECT_EQ(audit("two/fcfs --rule fcfs").status, 0);
  EXPECT_EQ(audit("two/conservative --rule conservative").status, 0);
  expect_complaint(audit("two --rule fcfs"), 1, {"two", "jobs.csv", "two/conservative, two/fcfs"});
}

TEST_F(Audit, OfARunThatWasEndedEarlyCountsWhoStillWaited) {
  for (const std::string policy : {"fcfs", "easy", "conservative"}) {
    const std::string simulate = kReplay + " simulate --until 690000 --trace " + kKth + " --out " + policy;
    ASSERT_EQ(shell(simulate + " --policy " + policy, folder_.path()).status, 0) << policy;
    const ShellResult result = audit(policy + " --rule " + policy);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_NE(result.out.find("waited and never started"), std::string::npos) << result.out;
  }
}

TEST_F(Audit, JsonHasEveryFigureAndTheFirstFindings) {
  const ShellResult result = audit_file(kSwf, "--rule easy --json");
  EXPECT_EQ(result.status, 1);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("machine_size"), 4);
  EXPECT_EQ(json.at("follows_the_rule"), false);
  EXPECT_EQ(json.at("jobs_checked"), 4);
  EXPECT_EQ(json.at("findings").at("against-rule"), 1);
  EXPECT_EQ(json.at("findings").at("not-started"), 0);
  const auto& first = json.at("first_findings").at(0);
  EXPECT_EQ(first.at("job"), "4");
  EXPECT_EQ(first.at("at_s"), 60.0);
  EXPECT_EQ(first.at("kind"), "against-rule");
  EXPECT_TRUE(first.at("expected_s").is_null());
}

TEST_F(Audit, PrintsAsManyFindingsAsAskedFor) {
  const ShellResult result = audit(kKth + " --rule fcfs --max 2");
  EXPECT_NE(result.out.find("more findings\n"), std::string::npos) << result.out;
  EXPECT_NE(audit_file(kSwf, "--rule easy --max 0").out.find("... and 1 more finding\n"), std::string::npos);
}

TEST_F(Audit, AToleranceForgivesLateStarts) {
  std::string late = kSwf;
  late.replace(late.find("2 10 90"), 7, "2 10 92");
  late.resize(late.find("4 60"));
  EXPECT_EQ(audit_file(late, "--rule easy").status, 1);
  EXPECT_EQ(audit_file(late, "--rule easy --tolerance 1.5").status, 1);
  EXPECT_EQ(audit_file(late, "--rule easy --tolerance 2").status, 0);
}

TEST_F(Audit, SaysWhatItLeavesOut) {
  const ShellResult result = audit_file(
      "; MaxProcs: 4\n"
      "1 0 0 100 3 -1 -1 3 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
      "1 0 0 50 3 -1 -1 3 100 -1 2 -1 -1 -1 -1 -1 -1 -1\n"
      "2 5 -1 -1 -1 -1 -1 4 100 -1 5 -1 -1 -1 -1 -1 -1 -1\n"
      "3 6 -1 20 1 -1 -1 1 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
      "4 7 20 0 -1 -1 -1 4 100 -1 5 -1 -1 -1 -1 -1 -1 -1\n"
      "5 8 19 60 1 -1 -1 1 20 -1 1 -1 -1 -1 -1 -1 -1 -1\n",
      "--rule fcfs");
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_EQ(result.out,
            "schedule: fcfs, pass=instant on 4 processors\n"
            "2 jobs checked; 0 findings\n"
            "1 record left out: never started, and when they left the queue is not known\n"
            "1 record left out: parts of an execution (status 2, 3, 4)\n"
            "1 record left out: without a wait time\n"
            "1 job waited and never started\n"
            "1 job ran beyond the estimate\n");
}

TEST_F(Audit, ANegativeWaitIsAStartBeforeTheSubmission) {
  std::string early = kSwf;
  early.replace(early.find("4 60 0"), 6, "4 60 -50");
  const ShellResult result = audit_file(early, "--rule easy --max 1");
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("10 s: job 4 started before its submission: it is submitted at 60 s\n"), std::string::npos)
      << result.out;
}

TEST_F(Audit, WrongOrdersAreUsageErrors) {
  write_text(folder_ / "schedule", kSwf);
  expect_complaint(audit("schedule"), 2, {"--rule"});
  expect_complaint(audit("schedule --rule sjf"), 2, {"sjf", "fcfs", "conservative"});
  expect_complaint(audit("schedule --rule easy --compress arrival"), 2, {"--compress", "conservative"});
  expect_complaint(audit("schedule --rule easy --compress-at every-end"), 2, {"--compress-at", "conservative"});
  expect_complaint(audit("schedule --rule conservative --compress-at end"), 2, {"early-end", "every-end"});
  expect_complaint(audit("schedule --rule easy --pass often"), 2, {"often"});
  expect_complaint(audit("schedule --rule easy --tolerance soon"), 2, {"--tolerance", "soon"});
  expect_complaint(audit("schedule --rule easy --tolerance=-1"), 2, {"--tolerance", "-1"});
  expect_complaint(audit("schedule --rule easy --machine-size 0"), 2, {"--machine-size"});
  expect_complaint(audit_file(kSwf.substr(kSwf.find('\n') + 1), "--rule easy"), 2, {"schedule", "--machine-size"});
}

TEST_F(Audit, WhatIsNoScheduleIsNamedWithItsLineAndColumn) {
  expect_complaint(audit("nowhere --rule easy"), 1, {"nowhere"});
  expect_complaint(audit(". --rule easy"), 1, {"jobs.csv"});
  expect_complaint(audit_file("", "--rule easy"), 1, {"schedule"});
  expect_complaint(audit_file("job_id,submission_time\n1,0\n", "--rule easy"), 1,
                   {"schedule:1", "requested_number_of_resources"});
  expect_complaint(audit_file("#replay-events 1\n", "--rule easy"), 1, {"schedule", "event log", "folder"});
  std::string trace = kSwf.substr(0, kSwf.find('\n') + 1) + "1 0 -1 100 3 -1 -1 3 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
  expect_complaint(audit_file(trace, "--rule easy"), 1, {"schedule", "wait"});
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = kBatsim;
    text.replace(text.find(from), from.size(), to);
    return audit_file(text, "--rule easy --machine-size 4");
  };
  expect_complaint(broken("p,2,1,8", "p,x,1,8"), 1, {"schedule:4", "submission_time", "'x'"});
  expect_complaint(broken("p,2,1,8", "p,2,1.5,8"), 1, {"schedule:4", "requested_number_of_resources", "'1.5'"});
  expect_complaint(broken("p,2,1,8", "p,2,0,8"), 1, {"schedule:4", "requested_number_of_resources", "'0'"});
  expect_complaint(broken("p,2,1,8", "p,2,8"), 1, {"schedule:4", "17 cells", "16"});
  expect_complaint(broken("2,3.0,5,", "2,3.0,1,"), 1, {"schedule:4", "finish_time", "'1'"});
  expect_complaint(broken("quoted\"\"\"", "quoted"), 1, {"schedule", "quotation mark"});
}

TEST_F(Audit, ACellOfManyLinesWithoutEndIsRefused) {
  std::string text = kBatsim.substr(0, kBatsim.find('\n') + 1) + "1,\"";
  for (int i = 0; i < 300'000; ++i) text += "xxxx\n";
  expect_complaint(audit_file(text, "--rule easy --machine-size 4"), 1,
                   {"expected at most 1048576 characters in a row"});
}

}  // namespace
}  // namespace replay::test
