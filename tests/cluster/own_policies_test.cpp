// Tests of user-written policies in a real run, on this machine's first two cores or on emulated ones: the examples
// schedule MPI programs; one that throws, crashes or hangs in the middle ends the run and its jobs, and leaves nothing behind.

#include <fmt/core.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <utility>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/log/text.hpp"
#include "tests/support/background.hpp"
#include "tests/support/two_cores.hpp"
#include "tests/unit/plugin/own_policy.hpp"

namespace replay::test {
namespace {

// The second job is submitted when the first one, a long one, has certainly started.
constexpr const char* kLongAndShort =
    "; MaxProcs: 2\n"
    "1 0 -1 100 2 100 -1 2 200 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "2 3 -1 1 2 1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n";

class OwnPolicyForReal : public OwnPolicy {
 protected:
  void SetUp() override {
    const auto [cores, missing] = two_cores();
    if (!missing.empty()) GTEST_SKIP() << missing;
    machine_ = "local:" + cores;
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    write_text(folder_ / "t.swf",
               "; MaxProcs: 2\n"
               "1 0 -1 0.6 2 0.6 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "2 0.2 -1 0.6 2 0.6 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "3 0.4 -1 0.5 1 0.5 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  }
  std::vector<std::string> arguments(const std::string& policy) const {
    return {"--trace", (folder_ / "t.swf").string(), "--policy", policy, "--machine", machine_,
            "--out",   (folder_ / "r").string(),     "--force"};
  }
  int run(const std::string& policy) {
    Background replay{REPLAY_PROGRAM, arguments(policy), folder_ / "out", folder_ / "out"};
    return replay.wait();
  }
  MemoryLog log() const {
    MemoryLog log;
    if (std::filesystem::exists(folder_ / "r" / "events.log")) (void)log::read_text(folder_ / "r" / "events.log", log);
    return log;
  }
  std::string output() const { return text_of(folder_ / "out"); }
  void expect_nothing_left() const {
    const auto left = [this] { return processes_marked(folder_.path().string()); };
    EXPECT_TRUE(comes_true([&] { return left().empty(); }, std::chrono::seconds{10})) << left();
  }
  void expect_a_good_run(const std::string& policy) {
    machine_ = "emulated:1x1x2";
    ASSERT_EQ(run(policy), 0) << output();
    EXPECT_EQ(what_is_wrong(log(), Machine::parse("1x1x2")), "") << policy;
    EXPECT_EQ(log().verified(), 3) << output();
    expect_nothing_left();
  }

  TemporaryFolder folder_;
  std::string machine_;
};

TEST_F(OwnPolicyForReal, TheSharedObjectsOfTheExamplesScheduleMpiPrograms) {
  expect_a_good_run(example("small_first.so"));
  expect_a_good_run(example("fcfs_library.so"));
}

TEST_F(OwnPolicyForReal, TheProgramOfTheExamplesSchedulesMpiPrograms) {
  expect_a_good_run("exec:" + example("fcfs_program"));
}

TEST_F(OwnPolicyForReal, TheScriptOfTheExamplesSchedulesMpiPrograms) {
  if (!has_python()) GTEST_SKIP() << "python3 is not on the PATH";
  expect_a_good_run(python_example("--order=narrowest"));
}

// Job 1 is submitted with 2 processes and fastest with 4, job 3 with 4 and runs on 1 or 2 only. Job 2 is rigid.
class MoldingForReal : public OwnPolicyForReal {
 protected:
  void SetUp() override {
    OwnPolicyForReal::SetUp();
    machine_ = "emulated:1x1x4";
    write_text(folder_ / "t.swf",
               "; MaxProcs: 4\n"
               "1 0 -1 2 2 2 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "2 0.2 -1 1 2 1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "3 0.4 -1 0.5 4 0.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
    write_text(folder_ / "t.jobs.csv",
               "job,flexibility,sizes,speedup\n1,moldable,,linear\n2,rigid,,\n3,moldable,1|2,linear\n");
  }
  void expect_chosen_sizes(const std::string& policy) {
    ASSERT_EQ(run(policy), 0) << output();
    const MemoryLog what_happened = log();
    EXPECT_EQ(what_is_wrong(what_happened, Machine::parse("1x1x4")), "");
    EXPECT_EQ(what_happened.verified(), 3) << output();
    std::map<JobId, std::pair<CoreCount, ProcessCount>> launched;  // cores and processes; 0: the submitted ones
    for (const log::Record& record : what_happened.records())
      if (const auto* launch = std::get_if<log::Launched>(&record.what))
        launched[launch->job] = {launch->allocation.cores, launch->allocation.processes};
    const std::map<JobId, std::pair<CoreCount, ProcessCount>> expected{
        {JobId{1}, {4, 4}}, {JobId{2}, {2, 0}}, {JobId{3}, {2, 2}}};
    EXPECT_EQ(launched, expected);
    EXPECT_NE(text_of(folder_ / "r/jobs/1/stdout").find("processes          4\n"), std::string::npos)
        << text_of(folder_ / "r/jobs/1/stdout");
    expect_nothing_left();
  }
};

TEST_F(MoldingForReal, TheScriptOfTheExamplesChoosesTheSizesOfMpiPrograms) {
  if (!has_python()) GTEST_SKIP() << "python3 is not on the PATH";
  expect_chosen_sizes(molding_python_example());
}

TEST_F(MoldingForReal, TheSharedObjectOfTheExamplesDoesTheSame) { expect_chosen_sizes(example("molding_library.so")); }

TEST_F(OwnPolicyForReal, OneThatHangsWhileAJobRunsEndsTheRunAndTheJob) {
  write_text(folder_ / "t.swf", kLongAndShort);
  EXPECT_EQ(run("exec:{" + built_for_tests("faulty_program") + " hangs-in-second-run " + (folder_ / "pids").string() +
                "}:timeout=500ms"),
            1)
      << output();
  EXPECT_NE(output().find("expected an answer within 500 ms"), std::string::npos) << output();
  EXPECT_NE(log().start(static_cast<JobId>(1)), kNever) << "the log goes up to the fault";
  EXPECT_NE(text_of(folder_ / "r" / "jobs.csv"), "") << "and so do the other outputs";
  EXPECT_EQ(text_of(folder_ / "r" / "run.json").find("\"fault\": null"), std::string::npos);
  EXPECT_FALSE(text_of(folder_ / "r" / "run.json").empty());
  expect_nothing_left();
}

TEST_F(OwnPolicyForReal, OneThatThrowsWhileAJobRunsEndsTheRunAndTheJob) {
  write_text(folder_ / "t.swf", kLongAndShort);
  EXPECT_EQ(
      run(built_for_tests("faulty_library.so:fault=throws-in-second-run:runs={") + (folder_ / "runs").string() + "}"),
      1)
      << output();
  EXPECT_NE(output().find("tired of it"), std::string::npos) << output();
  EXPECT_NE(log().start(static_cast<JobId>(1)), kNever) << "the log goes up to the fault";
  EXPECT_NE(text_of(folder_ / "r" / "jobs.csv"), "") << "and so do the other outputs";
  EXPECT_EQ(text_of(folder_ / "r" / "run.json").find("\"fault\": null"), std::string::npos);
  expect_nothing_left();
}

TEST_F(OwnPolicyForReal, ASharedObjectThatCrashesTakesReplayWithItAndTheAgentEndsTheJob) {
  write_text(folder_ / "t.swf", kLongAndShort);
  const std::string runs = ":runs={" + (folder_ / "runs").string() + "}";
  EXPECT_EQ(run(built_for_tests("faulty_library.so:fault=crashes-in-second-run") + runs), 128 + SIGSEGV) << output();
  expect_nothing_left();
}

TEST_F(OwnPolicyForReal, OneThatFailsInTheForesightStartsNothing) {
  EXPECT_EQ(run(built_for_tests("faulty_library.so:fault=throws")), 1);
  EXPECT_NE(output().find("index 7"), std::string::npos) << output();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r"));
  expect_nothing_left();
}

TEST_F(OwnPolicyForReal, AnInterruptedRunLeavesNoProgramBehind) {
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 100 2 100 -1 2 200 -1 1 1 1 -1 -1 -1 -1 -1\n");
  Background replay{REPLAY_PROGRAM, arguments("exec:" + example("fcfs_program")), folder_ / "out", folder_ / "out"};
  ASSERT_TRUE(comes_true([this] {
    return text_of(folder_ / "r" / "events.log").find(" launch ") != std::string::npos;
  })) << output();
  replay.send(SIGINT);
  EXPECT_EQ(replay.wait(), 130) << output();
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::test
