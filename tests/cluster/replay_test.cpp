// Tests of the main command with MPI programs on this machine's first two cores, shrunk, expanded, killed and
// interrupted. All runs are short, wait for events, and end with nothing left behind.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/background.hpp"
#include "tests/support/deciding_policies.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/two_cores.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

struct TraceJob {
  double submit;
  double run;
  int processes;
  double cpu_use = 1;
  double request = 60;
  int program = -1;
};

class MainCommand : public testing::Test {
 protected:
  void SetUp() override {
    const auto [cores, missing] = two_cores();
    if (!missing.empty()) GTEST_SKIP() << missing;
    machine_ = "local:" + cores;
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
  }

  void write_trace(const std::vector<TraceJob>& jobs, const std::string& header = "") {
    int widest = 2;
    for (const TraceJob& job : jobs) widest = std::max(widest, job.processes);
    std::string text = fmt::format("; MaxProcs: {}\n{}", widest, header);
    for (std::size_t i = 0; i < jobs.size(); ++i)
      text += fmt::format("{} {} -1 {} {} {} -1 {} {} -1 1 1 1 {} -1 -1 -1 -1\n", i + 1, jobs[i].submit, jobs[i].run,
                          jobs[i].processes, jobs[i].run * jobs[i].cpu_use, jobs[i].processes, jobs[i].request,
                          jobs[i].program);
    write_text(folder_ / "t.swf", text);
  }

  std::vector<std::string> arguments(const std::string& policy, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"--trace", (folder_ / "t.swf").string(), "--policy", policy, "--machine", machine_,
                                 "--out",   (folder_ / "r").string(),     "--force"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  int run(const std::string& policy, std::vector<std::string> more = {}) {
    Background replay{REPLAY_PROGRAM, arguments(policy, std::move(more)), folder_ / "out", folder_ / "out"};
    return replay.wait();
  }

  MemoryLog log() const { return log_in("r"); }
  MemoryLog log_in(const std::string& run) const {
    MemoryLog log;
    EXPECT_TRUE(log::read_text(folder_ / run / "events.log", log));
    return log;
  }

  std::string left_behind() const { return processes_marked(folder_.path().string()); }
  void expect_nothing_left() {
    EXPECT_TRUE(comes_true([this] { return left_behind().empty(); }, std::chrono::seconds{2})) << left_behind();
  }

  std::string output() const { return text_of(folder_ / "out"); }
  // Of job 1. Before that a job that is ended is one that never ran.
  bool have_ranks_begun() const { return text_of(folder_ / "r/events.log").find(" ranks job=1") != std::string::npos; }

  // The result files of a run in `folder` that are missing, end in the middle of a line, or are no complete JSON.
  std::string broken_results(const fs::path& folder) const {
    std::string broken;
    for (const char* file : {"run.json", "events.log", "jobs.csv", "schedule.swf", "metrics.json", "series.csv"})
      if (const std::string text = text_of(folder / file); text.empty() || text.back() != '\n')
        broken += fmt::format("{} {}; ", file, text.empty() ? "is missing" : "is cut");
    if (text_of(folder / "run.json").find("\"ended\": null") != std::string::npos) broken += "run.json has no end; ";
    return broken;
  }

  TemporaryFolder folder_;
  std::string machine_;
};

TEST_F(MainCommand, ShrinksAndExpandsRunningMpiProgramsAndEveryResultIsVerified) {
  // The short job ends long before the wide one on any machine, so the wide one is shrunk and expanded again.
  write_trace({{0, 5, 2, 0.5}, {0.5, 0.6, 1}});
  ASSERT_EQ(run("fcfs-malleable"), 0) << output();
  const MemoryLog log = this->log();
  EXPECT_EQ(what_is_wrong(log, Machine::parse("1x1x2")), "");
  EXPECT_GE(log.resizes().shrinks, 1);
  EXPECT_GE(log.resizes().expands, 1);
  EXPECT_EQ(log.verified(), 2);
  EXPECT_EQ(broken_results(folder_ / "r"), "");
  const ShellResult made = shell(fmt::format("{} results r --out again", REPLAY_PROGRAM), folder_.path());
  EXPECT_EQ(made.status, 0) << made.err;
  for (const char* file : {"run.json", "jobs.csv", "schedule.swf", "metrics.json", "series.csv"})
    EXPECT_EQ(text_of(folder_ / "r" / file), text_of(folder_ / "again" / file)) << "from events.log: " << file;
  expect_nothing_left();
}

TEST_F(MainCommand, RunsEveryPolicyOfTheTable) {
  // On emulated cores, where jobs hardly compute, several runs at a time.
  constexpr std::size_t kAtATime = 4;
  machine_ = "emulated:1x2x2";
  write_trace({{0, 0.5, 4, 0.5}, {0.1, 0.5, 4}, {0.2, 0.3, 1}});
  const std::vector<PolicyEntry> all = deciding_policies();
  for (std::span rest{all}; !rest.empty(); rest = rest.subspan(std::min(kAtATime, rest.size()))) {
    std::map<std::string, std::unique_ptr<Background>> runs;
    for (const PolicyEntry& policy : rest.first(std::min(kAtATime, rest.size()))) {
      const std::string name{policy.name};
      const bool has_slices = name == "scojo-pect";
      std::vector<std::string> words =
          arguments(name + (has_slices ? ":interval=4s:short-slice=2s:overhead=100ms" : ""));
      std::ranges::replace(words, (folder_ / "r").string(), (folder_ / name).string());
      runs[name] =
          std::make_unique<Background>(REPLAY_PROGRAM, words, folder_ / (name + ".out"), folder_ / (name + ".out"));
    }
    for (const auto& [name, replay] : runs) {
      ASSERT_EQ(replay->wait(), 0) << name << ": " << replay->out();
      const MemoryLog log = log_in(name);
      EXPECT_EQ(what_is_wrong(log, Machine::parse("1x2x2")), "") << name;
      EXPECT_EQ(log.verified(), 3) << name;
    }
  }
  expect_nothing_left();
}

TEST_F(MainCommand, DecidesWhatTheSimulatorDecidesWhereDecisionsAreASecondApart) {
  // The times leave room for a machine of half the speed. Emulated cores test the same for other policies.
  write_trace({{0, 5, 2, 0.5}, {1.5, 1.5, 1}, {10, 3, 2, 0.5}, {11.5, 4, 1}});
  for (const char* policy : {"fcfs-malleable"}) {
    ASSERT_EQ(run(policy), 0) << output();
    const std::string live = log().decisions();
    const ShellResult simulated = shell(
        fmt::format("{} simulate --trace t.swf --policy {} --machine 1x2 --runtime-model isolated --out s --force",
                    REPLAY_PROGRAM, policy),
        folder_.path());
    ASSERT_EQ(simulated.status, 0) << simulated.err;
    MemoryLog sim;
    ASSERT_TRUE(log::read_text(folder_ / "s" / "events.log", sim));
    EXPECT_EQ(live, sim.decisions()) << policy;
  }
}

TEST_F(MainCommand, CgShrunkInTheMiddleOfItsRunVerifies) {
  write_trace({{0, 3, 2, 1, 60, 1}, {0.4, 3, 1, 1, 60}}, "; Program: 1 cg --class W --repeat 40\n");
  ASSERT_EQ(run("fcfs-malleable"), 0) << output();
  const MemoryLog log = this->log();
  EXPECT_EQ(log.decisions(JobId{1}).substr(0, 17), "start 2, resize 1");
  EXPECT_NE(text_of(folder_ / "r/jobs/1/stdout").find("VERIFICATION SUCCESSFUL"), std::string::npos);
}

TEST_F(MainCommand, AFailedJobIsNamedAndTheOthersGoOn) {
  write_trace({{0, 3, 2, 0.5, 60, 1}, {0.2, 1, 1}}, "; Program: 1 phases --runtime 3 --fail-at 0.5\n");
  EXPECT_EQ(run("easy"), 1);
  EXPECT_EQ(log().outcome(JobId{1}), Outcome::kFailed);
  EXPECT_EQ(log().outcome(JobId{2}), Outcome::kCompleted);
  expect_nothing_left();
}

TEST_F(MainCommand, AJobThatOutlivesItsEstimateIsEndedAndLeavesNothing) {
  write_trace({{0, 1, 2, 1, 1, 1}}, "; Program: 1 phases --runtime 600\n");
  EXPECT_EQ(run("easy"), 0) << output();
  EXPECT_EQ(log().outcome(JobId{1}), Outcome::kOverrun);
  expect_nothing_left();
}

TEST_F(MainCommand, CtrlCEndsEverythingAndKeepsTheResults) {
  write_trace({{0, 600, 2, 0.5, 1000}, {0, 600, 2, 1, 1000}});
  Background replay{REPLAY_PROGRAM, arguments("fcfs", {"--yes"}), folder_ / "out", folder_ / "out"};
  ASSERT_TRUE(comes_true([this] { return have_ranks_begun(); })) << replay.out();
  replay.send(SIGINT);
  EXPECT_EQ(replay.wait(), 130);
  EXPECT_EQ(log().outcome(JobId{1}), Outcome::kKilled);
  EXPECT_EQ(log().outcome(JobId{2}), Outcome::kCancelled);
  EXPECT_FALSE(text_of(folder_ / "r/jobs.csv").empty());
  expect_nothing_left();
}

TEST_F(MainCommand, CtrlCTwiceHurriesTheJobsAndLosesNoFile) {
  write_trace({{0, 600, 2, 0.5, 1000}, {0, 600, 2, 1, 1000}});
  Background replay{REPLAY_PROGRAM, arguments("fcfs", {"--yes"}), folder_ / "out", folder_ / "out"};
  ASSERT_TRUE(comes_true([this] { return have_ranks_begun(); })) << replay.out();
  replay.send(SIGINT);
  replay.send(SIGINT);
  EXPECT_EQ(replay.wait(), 130);
  EXPECT_EQ(broken_results(folder_ / "r"), "") << replay.out();
  EXPECT_EQ(log().outcome(JobId{1}), Outcome::kKilled);
  EXPECT_EQ(log().outcome(JobId{2}), Outcome::kCancelled);
  expect_nothing_left();
}

TEST_F(MainCommand, ASignalAfterTheLastJobsEndLosesNoFile) {
  write_trace({{0, 0.3, 1}});
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    Background replay{REPLAY_PROGRAM, arguments("fcfs", {"--plain"}), folder_ / "out", folder_ / "out"};
    ASSERT_TRUE(comes_true([&] { return replay.out().find("job 1 ended") != std::string::npos; })) << replay.out();
    replay.send(signal);
    const int status = replay.wait();
    EXPECT_TRUE(status == 128 + signal || status == 0) << status;  // 0: the run was complete when the signal came
    EXPECT_EQ(broken_results(folder_ / "r"), "") << signal << '\n' << replay.out();
    EXPECT_EQ(log().outcome(JobId{1}), Outcome::kCompleted);
  }
  expect_nothing_left();
}

TEST_F(MainCommand, ASimulationThatIsSignalledTwiceWritesWhatItHas) {
  const ShellResult made =
      shell(fmt::format("{} generate lublin --jobs 200000 --seed 1 -o t.swf", REPLAY_PROGRAM), folder_.path());
  ASSERT_EQ(made.status, 0) << made.err;
  Background replay{REPLAY_PROGRAM,
                    {"simulate", "--trace", (folder_ / "t.swf").string(), "--policy", "conservative", "--out",
                     (folder_ / "r").string()},
                    folder_ / "out",
                    folder_ / "out"};
  ASSERT_TRUE(comes_true([&] { return !text_of(folder_ / "r" / "events.log").empty(); })) << replay.out();
  replay.send(SIGHUP);
  replay.send(SIGINT);
  EXPECT_EQ(replay.wait(), 128 + SIGHUP) << replay.out();
  EXPECT_EQ(broken_results(folder_ / "r"), "") << replay.out();
}

TEST_F(MainCommand, OnAFullDiskNoFurtherJobIsStartedAndTheTableIsPrinted) {
  const fs::path disk = folder_ / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0)
    GTEST_SKIP() << "a small tmpfs cannot be mounted here (needs root)";
  write_trace({{0, 1.5, 2, 0.5}, {0, 600, 2, 1, 1000}, {0, 600, 2, 1, 1000}});
  std::vector<std::string> words = arguments("fcfs", {"--yes"});
  std::ranges::replace(words, (folder_ / "r").string(), (disk / "r").string());
  Background replay{REPLAY_PROGRAM, words, folder_ / "out", folder_ / "err"};
  const bool has_started = comes_true([&] { return replay.out().find("job 1 started") != std::string::npos; });
  std::ofstream{disk / "fill"} << std::string(std::size_t{1} << 20, 'x');
  EXPECT_EQ(has_started ? replay.wait() : -1, 1) << replay.out() << replay.err();
  EXPECT_NE(replay.err().find("no further job was started: "), std::string::npos) << replay.err();
  EXPECT_NE(replay.out().find("\nfcfs "), std::string::npos) << "the table is printed: " << replay.out();
  EXPECT_EQ(replay.out().find("job 3 started"), std::string::npos) << replay.out();
  fs::remove(disk / "fill");
  const ShellResult made = shell(fmt::format("{} results disk/r", REPLAY_PROGRAM), folder_.path());
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_FALSE(text_of(disk / "r" / "jobs.csv").empty()) << made.err;
  ::umount(disk.c_str());
  expect_nothing_left();
}

TEST_F(MainCommand, WhatEndsARunEndsItsRepetition) {
  write_trace({{0, 600, 2, 0.5, 1000}});
  {
    Background replay{REPLAY_PROGRAM, arguments("fcfs", {"--yes"}), folder_ / "out", folder_ / "out"};
    ASSERT_TRUE(comes_true([&] { return replay.out().find("job 1 started") != std::string::npos; })) << replay.out();
    replay.send(SIGINT);
    ASSERT_EQ(replay.wait(), 130);
  }
  for (const int signal : {SIGTERM, SIGHUP}) {
    const fs::path again = folder_ / fmt::format("again-{}", signal);
    Background rerun{
        REPLAY_PROGRAM, {"rerun", (folder_ / "r").string(), "--out", again.string()}, folder_ / "out", folder_ / "out"};
    ASSERT_TRUE(comes_true([&] { return text_of(again / "events.log").find(" ranks job=1") != std::string::npos; }))
        << rerun.out();
    rerun.send(signal);
    EXPECT_EQ(rerun.wait(), 128 + signal) << rerun.out();
    EXPECT_NE(text_of(again / "events.log").find("finish job=1 outcome=killed"), std::string::npos) << rerun.out();
    expect_nothing_left();
  }
}

TEST_F(MainCommand, AReaderThatGoesDoesNotEndTheRun) {
  write_trace({{.submit = 0, .run = 0.3, .processes = 1}, {.submit = 0, .run = 0.3, .processes = 1}});
  std::string words = REPLAY_PROGRAM;
  for (const std::string& word : arguments("fcfs", {"--plain"})) words += " " + word;
  const ShellResult result = shell(words + " | true", folder_.path());  // the pipe has no reader
  EXPECT_EQ(log().outcome(JobId{1}), Outcome::kCompleted) << result.err;
  EXPECT_EQ(log().outcome(JobId{2}), Outcome::kCompleted) << result.err;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "r" / "jobs.csv")) << result.err;
  expect_nothing_left();
}

TEST_F(MainCommand, KillNineOfTheDaemonLeavesNothing) {
  write_trace({{0, 600, 2, 0.5, 1000}});
  Background replay{REPLAY_PROGRAM, arguments("fcfs", {"--yes"}), folder_ / "out", folder_ / "out"};
  ASSERT_TRUE(comes_true([&] { return text_of(folder_ / "r/events.log").find(" ranks job=1") != std::string::npos; }))
      << replay.out();
  replay.send(SIGKILL);
  EXPECT_EQ(replay.wait(), 128 + SIGKILL);
  expect_nothing_left();
}

TEST_F(MainCommand, AProgramThatStartsNoMpiRunsRigidAndTheLogSaysSo) {
  write_trace({{0, 1, 2, 1, 30}});
  EXPECT_EQ(run("fcfs-malleable", {"--program", "sh -c 'sleep 7'"}), 0) << output();
  EXPECT_NE(text_of(folder_ / "r/events.log").find("malleable=no"), std::string::npos);
  EXPECT_NE(output().find("fcfs-malleable: 1 job ran as rigid: not yet shrinkable: no rank registered within"),
            std::string::npos)
      << output();
  expect_nothing_left();
}

TEST_F(MainCommand, SigtermBeforeTheFirstLaunchLeavesNothing) {
  write_trace({{0, 600, 2, 1, 1000}});
  Background replay{REPLAY_PROGRAM, arguments("fcfs", {"--yes"}), folder_ / "out", folder_ / "out"};
  ASSERT_TRUE(comes_true([&] { return fs::exists(folder_ / "r/events.log"); })) << replay.out();
  replay.send(SIGTERM);
  EXPECT_EQ(replay.wait(), 128 + SIGTERM) << replay.out();
  expect_nothing_left();
}

// Each file appears at one stage of the launches: the first job's folder; its mpiexec about to run; the second job's
// output.
TEST_F(MainCommand, SigtermInTheMiddleOfLaunchesEndsEachJobOnceAndLeavesNothing) {
  write_trace(std::vector<TraceJob>(6, {0, 600, 1, 1, 1000}));
  for (const char* file : {"r/jobs/1", "r/jobs/1/command", "r/jobs/2/stdout"}) {
    fs::remove_all(folder_ / "r");
    Background replay{REPLAY_PROGRAM, arguments("fcfs", {"--yes"}), folder_ / "out", folder_ / "out"};
    ASSERT_TRUE(comes_true([&] { return fs::exists(folder_ / file); })) << file << '\n' << replay.out();
    replay.send(SIGTERM);
    EXPECT_EQ(replay.wait(), 128 + SIGTERM) << file << '\n' << replay.out();
    std::map<JobId, int> ends;
    const MemoryLog log = this->log();
    for (const log::Record& record : log.records())
      if (const auto* finish = std::get_if<log::Finished>(&record.what)) ++ends[finish->job];
    for (const auto& [job, count] : ends) EXPECT_EQ(count, 1) << file << ", job " << static_cast<std::int64_t>(job);
    for (const log::Record& record : log.records()) {
      const auto* launch = std::get_if<log::Launched>(&record.what);
      EXPECT_TRUE(launch == nullptr || ends.contains(launch->job)) << file;
    }
    expect_nothing_left();
  }
}

}  // namespace
}  // namespace replay::test
