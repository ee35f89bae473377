// Tests of emulated cores through the program: `replay --machine emulated:2x2x2`, and `phases` on such cores. No test
// asserts a speed: they wait for counts, and compare work with work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"
#include "scheduler/log/text.hpp"
#include "tests/support/background.hpp"
#include "tests/support/cores_fixture.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"

namespace replay::launcher {
namespace {

class EmulatedPhases : public SharedCores {
 protected:
  void SetUp() override {
    SharedCores::SetUp();
    use_emulated_cores(4);
  }
  static std::vector<std::string> phases(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), REPLAY_PHASES);
    return arguments;
  }
  [[nodiscard]] std::uint64_t work(std::uint32_t rank) const { return slot(kFirst, rank).report.burst_ns; }
  /// The value in a row of its report; nan if there is no such row.
  [[nodiscard]] double row(const std::string& name) const {
    const std::string text = "\n" + output(kFirst, "stdout");
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? std::nan("") : std::stod(text.substr(at + 1 + name.size()));
  }
};

TEST_F(EmulatedPhases, RanksOfOneCoreWorkAtTheSameRateAndNoFasterThanTheCore) {
  start();
  const std::uint64_t begin = monotonic_ns();
  launch_on(kFirst, phases({"--runtime", "600", "--message-size", "0"}), {1, 1});
  ASSERT_TRUE(starts(kFirst));
  ASSERT_TRUE(until([&] { return work(0) > 0 && work(1) > 0; }));
  const std::uint64_t first = work(0);
  const std::uint64_t second = work(1);
  const std::uint64_t handovers = token(1).handovers;
  ASSERT_TRUE(until([&] { return token(1).handovers > handovers + 100; }, std::chrono::seconds{60}));
  const auto done = static_cast<double>(work(0) - first);
  const auto others = static_cast<double>(work(1) - second);
  EXPECT_GT(done, (done + others) / 3) << "of " << (done + others) * 1e-9 << " s";
  EXPECT_GT(others, (done + others) / 3) << "of " << (done + others) * 1e-9 << " s";
  const std::uint64_t all = work(0) + work(1);
  EXPECT_LE(all, monotonic_ns() - begin) << "a core has no more time than there is";
  executor_->end(kFirst, Outcome::kKilled);
  ASSERT_TRUE(ends(kFirst));
}

TEST_F(EmulatedPhases, LaunchingAndEndingAreTakenOffTheWorkAndReported) {
  start();
  launch_on(kFirst, phases({"--runtime", "2"}), {0, 1, 2});
  expect_verified(kFirst);
  EXPECT_NE(output(kFirst, "stdout").find("emulated           yes\n"), std::string::npos) << output(kFirst, "stdout");
  EXPECT_GT(row("start_up_s"), 0);
  EXPECT_GT(row("end_cost_s"), 0);
  EXPECT_NEAR(row("deducted_s"), std::min(2.0, row("start_up_s") + row("end_cost_s")), 1e-6);
  EXPECT_NEAR(row("computed_s"), 2 - row("deducted_s"), 1e-3);
}

TEST_F(EmulatedPhases, AJobShorterThanItsLaunchHasNothingLeftToDoAndIsRight) {
  start();
  launch_on(kFirst, phases({"--runtime", "0.001"}), {0, 1, 2});
  expect_verified(kFirst);
  EXPECT_LT(row("computed_s"), 0.001);  // one exchange of messages
  EXPECT_EQ(row("deducted_s"), 0.001);
}

TEST_F(EmulatedPhases, AJobToldToFailDoesSoEvenIfNothingIsLeftToDo) {
  start();
  launch_on(kFirst, phases({"--runtime", "0.001", "--fail-at", "0.0005"}), {0, 1});
  ASSERT_TRUE(ends(kFirst));
  EXPECT_EQ(seen_.ended[kFirst].outcome, Outcome::kFailed);
  EXPECT_EQ(seen_.ended[kFirst].exit_code, 3) << seen_.ended[kFirst].reason;
}

TEST_F(EmulatedPhases, BothPatternsAreRightOnSharedCoresAndWhileTheyAreResized) {
  start();
  for (const char* pattern : {"independent", "bsp"}) {
    seen_.started.clear();
    seen_.ended.clear();
    launch_on(kFirst, phases({"--runtime", "2", "--cpu-use", "0.6", "--pattern", pattern}), {0, 1, 2, 3});
    ASSERT_TRUE(starts(kFirst));
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(moves(kFirst, {0, 0, 1, 1})) << pattern;
      ASSERT_TRUE(hands_off(kFirst, 4)) << pattern;
      ASSERT_TRUE(moves(kFirst, {0, 1, 2, 3})) << pattern;
    }
    expect_verified(kFirst);
  }
}

}  // namespace
}  // namespace replay::launcher

namespace replay::test {
namespace {

class Emulation : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
  }

  ShellResult run(const std::string& trace, const std::string& arguments = "",
                  const std::string& policy = "fcfs-malleable") {
    return shell(fmt::format("REPLAY_TEST_RUN={} {} --trace {} --machine emulated:2x2x2 --policy {} --out r {}",
                             folder_.path().string(), REPLAY_PROGRAM, trace, policy, arguments),
                 folder_.path());
  }
  [[nodiscard]] MemoryLog log() const {
    MemoryLog log;
    EXPECT_TRUE(log::read_text(folder_ / "r/events.log", log));
    return log;
  }
  void expect_in(const std::string& file, const std::string& text) const {
    EXPECT_NE(text_of(folder_ / ("r/" + file)).find(text), std::string::npos) << file << " without " << text;
  }
  void expect_nothing_left() const {
    const std::string mark = "REPLAY_TEST_RUN=" + folder_.path().string();
    EXPECT_TRUE(comes_true([&] { return processes_marked(mark).empty(); })) << processes_marked(mark);
  }

  TemporaryFolder folder_;
};

TEST_F(Emulation, EightRanksRunOnWhateverMachineAndEverythingSaysEmulated) {
  write_text(folder_ / "t.swf", "; MaxProcs: 8\n1 0 -1 1.5 8 0.9 -1 8 30 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const ShellResult result = run("t.swf", "--quantum 5ms");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(what_is_wrong(log(), Machine::parse("2x2x2")), "");
  EXPECT_NE(result.out.find("8 emulated cores (2x2x2, quantum 5 ms)"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("machine emulated:2x2x2"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("verification passed for 1 job"), std::string::npos) << result.out;
  expect_in("events.log", "#machine emulated:2x2x2\n");
  expect_in("run.json", "\"machine\": \"emulated:2x2x2\"");
  expect_in("run.json", "\"back_end\": \"token\"");
  expect_in("run.json", "\"quantum_ms\": \"5\"");
  expect_in("schedule.swf", "emulated:2x2x2");
  expect_in("jobs/1/stdout", "emulated           yes\n");
  expect_nothing_left();
}

TEST_F(Emulation, TheSmallTraceShrinksAndExpandsJobsAndEveryResultIsVerified) {
  const ShellResult result = run(REPLAY_SOURCE_DIR "/traces/emulated-small.swf");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const MemoryLog log = this->log();
  EXPECT_EQ(what_is_wrong(log, Machine::parse("2x2x2")), "");
  EXPECT_EQ(log.verified(), 12);
  EXPECT_GE(log.resizes().shrinks, 1);
  EXPECT_GE(log.resizes().expands, 1);
  expect_nothing_left();
}

TEST_F(Emulation, JobsOfTwoClassesTakeTurnsAndBothAreVerified) {
  // Slices of a second, a tenth of it for the exchange; each job needs all cores, and more than two slices.
  write_text(folder_ / "t.swf",
             "; MaxProcs: 8\n"
             "1 0 -1 2.2 8 2.2 -1 8 6 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0 -1 2.5 8 2.5 -1 8 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const ShellResult result =
      run("t.swf", "", "scojo-pect:interval=2s:short-slice=500ms:overhead=100ms:shares=1/1:short=1s:medium=6s");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const MemoryLog log = this->log();
  EXPECT_EQ(what_is_wrong(log, Machine::parse("2x2x2")), "");
  EXPECT_EQ(log.verified(), 2);
  std::map<JobId, int> suspended, resumed;
  for (const log::Record& record : log.records()) {
    if (const auto* what = std::get_if<log::SuspendDone>(&record.what)) ++suspended[what->job];
    if (const auto* what = std::get_if<log::ResumeDone>(&record.what)) ++resumed[what->job];
  }
  for (const JobId job : {JobId{1}, JobId{2}}) {
    EXPECT_GE(suspended[job], 2) << "job " << number(job);
    EXPECT_EQ(resumed[job], suspended[job]) << "job " << number(job);
  }
  expect_nothing_left();
}

TEST_F(Emulation, DecidesWhatTheSimulatorDecidesHoweverBusyTheMachineIs) {
  // Consecutive decisions are nearly a second apart.
  write_text(folder_ / "t.swf",
             "; MaxProcs: 2\n"
             "1 0 -1 3 2 1.5 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 1 -1 1 1 1.0 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 5 -1 2 2 1.0 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "4 6 -1 2 1 2.0 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const std::string common = "--trace t.swf --policy easy,fcfs-malleable --runtime-model isolated";
  const ShellResult real =
      shell(fmt::format("{} {} --machine emulated:1x1x2 --out r", REPLAY_PROGRAM, common), folder_.path());
  ASSERT_EQ(real.status, 0) << real.out << real.err;
  const ShellResult simulated =
      shell(fmt::format("{} simulate {} --machine 1x1x2 --out s", REPLAY_PROGRAM, common), folder_.path());
  ASSERT_EQ(simulated.status, 0) << simulated.out << simulated.err;
  for (const char* policy : {"easy", "fcfs-malleable"}) {
    MemoryLog live;
    MemoryLog sim;
    ASSERT_TRUE(log::read_text(folder_ / fmt::format("r/{}/events.log", policy), live));
    ASSERT_TRUE(log::read_text(folder_ / fmt::format("s/{}/events.log", policy), sim));
    EXPECT_EQ(live.decisions(), sim.decisions()) << policy;
  }
}

TEST_F(Emulation, AProgramThatComputesForRealIsRefusedAndTheUserReadsWhy) {
  write_text(folder_ / "t.swf", "; MaxProcs: 8\n1 0 -1 1 2 1 -1 2 30 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const ShellResult result = run("t.swf", "--program ep");
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_NE(result.out.find("ep computes for real"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("vm_burst"), std::string::npos) << result.out;
  EXPECT_EQ(log().outcome(JobId{1}), Outcome::kFailed);
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::test
