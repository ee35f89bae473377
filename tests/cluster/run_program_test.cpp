// Tests of `replay run` with MPI programs on this machine's first two cores, shrunk, expanded, suspended and
// interrupted while they run. Runs are short and wait for events; effects are counted in hand-offs and calls, never in
// time.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/background.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/two_cores.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

class RunProgram : public testing::Test {
 protected:
  void SetUp() override {
    const auto [cores, missing] = two_cores();
    if (!missing.empty()) GTEST_SKIP() << missing;
    cores_ = cores;
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    ::setenv("TMPDIR", folder_.path().c_str(), 1);           // the program's output is written there while it runs
  }
  void TearDown() override { ::unsetenv("TMPDIR"); }

  /// Runs `replay run` with `words` after the common options; the report is in report().
  ShellResult run(const std::string& words) const {
    return shell(fmt::format("{} run --cores {} --json --report report.json {}", REPLAY_PROGRAM, cores_, words),
                 folder_.path());
  }
  [[nodiscard]] nlohmann::json report() const { return nlohmann::json::parse(text_of(folder_ / "report.json")); }

  void expect_nothing_left() const {
    EXPECT_TRUE(
        comes_true([this] { return processes_marked(folder_.path().string()).empty(); }, std::chrono::seconds{3}))
        << processes_marked(folder_.path().string());
    for (const auto& entry : fs::directory_iterator{folder_.path()})
      EXPECT_FALSE(entry.path().filename().string().starts_with("replay-run-")) << entry.path();
  }

  TemporaryFolder folder_;
  std::string cores_;
};

TEST_F(RunProgram, IsShrunkAndExpandedWhileItRunsAndVerifies) {
  const ShellResult result = run("--shrink-at 200ms --expand-at 400ms phases --runtime 2 --cpu-use 0.5 --pattern bsp");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(result.out.ends_with("\nVERIFICATION SUCCESSFUL\n")) << result.out;
  const nlohmann::json report = this->report();
  EXPECT_EQ(report["outcome"], "completed");
  EXPECT_EQ(report["verification"], "passed");
  EXPECT_EQ(report["malleable"], true);
  EXPECT_EQ(report["mode"], "progress");
  ASSERT_EQ(report["changes"].size(), 2U);
  for (const auto& change : report["changes"]) EXPECT_EQ(change["refused"], "") << change;
  const nlohmann::json& phases = report["phases"];
  ASSERT_EQ(phases.size(), 3U) << phases;
  EXPECT_EQ(phases[1]["phase"], "shrunk to 1 core, 2 ranks on it");
  EXPECT_EQ(phases[0]["handoffs"], 0) << "on a core of its own a rank keeps it";
  EXPECT_GT(phases[1]["handoffs"], 0);
  EXPECT_GT(phases[1]["mpi_calls"], 0);
  EXPECT_GT(phases[2]["mpi_calls"], 0);
  expect_nothing_left();
}

TEST_F(RunProgram, LabelledLinesBeginWithHostAndRankAndTheVerificationIsFound) {
  const fs::path phases = fs::path{REPLAY_PROGRAM}.parent_path().parent_path() / "lib/replay/phases";
  const ShellResult result = run(fmt::format("--label sh -c 'echo here; exec {} --runtime 0.1'", phases.string()));
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string host = shell("hostname").out;
  for (const int rank : {0, 1})
    EXPECT_NE(result.out.find(fmt::format("[{} {}] here\n", host.substr(0, host.find('\n')), rank)), std::string::npos)
        << result.out;
  EXPECT_EQ(report()["verification"], "passed");
}

// What MPICH says of it itself: "No resources are available to initiate the operation".
TEST_F(RunProgram, TooLittleSharedMemoryIsTheReasonThatIsNamed) {
  const std::string with_little =
      "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=64k tmpfs /dev/shm && {}'";
  if (shell(fmt::format(fmt::runtime(with_little), "true")).status != 0) GTEST_SKIP() << "needs user namespaces";
  const std::string run =
      fmt::format("{} run -n 2 --cores {} --json --report report.json phases --runtime 0.1", REPLAY_PROGRAM, cores_);
  const ShellResult result = shell(fmt::format(fmt::runtime(with_little), run), folder_.path());
  EXPECT_NE(result.status, 0) << result.out << result.err;
  const std::string reason = report()["reason"];
  // A rank that is ending may hold some of the 64 KB still.
  EXPECT_NE(reason.find("; /dev/shm may be why: "), std::string::npos) << reason;
  EXPECT_NE(reason.find(" free there, and MPI needs some 8.2 MiB for 2 ranks"), std::string::npos) << reason;
}

// MPICH then fails with an error of shared memory.
TEST_F(RunProgram, TooFewOpenFilesAreRaisedWhereThatIsPermittedAndElseRefused) {
  const std::string run =
      fmt::format("{} run -n 2 --cores {} --json --report report.json phases --runtime 0.1", REPLAY_PROGRAM, cores_);
  const ShellResult raised = shell("ulimit -Sn 20; " + run, folder_.path());
  EXPECT_EQ(raised.status, 0) << raised.out << raised.err;
  const ShellResult refused = shell("ulimit -n 24; " + run, folder_.path());
  EXPECT_EQ(refused.status, 127) << refused.out;
  EXPECT_NE(refused.err.find("replay: the limit of open files (ulimit -n) is 24, and jobs on "), std::string::npos)
      << refused.err;
}

// Of another user, whose processes are counted; root's are not. With one process there is no agent, with four no rank.
TEST_F(RunProgram, TooFewProcessesAreNoEndOfTheProgram) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has a user to spare";
  const uid_t id = 1'000'000'000 + static_cast<uid_t>(::getpid());
  ASSERT_EQ(::chown(folder_.path().c_str(), id, id), 0);
  for (const int processes : {1, 2, 3, 4}) {
    const ShellResult refused = shell(
        fmt::format("setpriv --reuid {0} --regid {0} --clear-groups -- prlimit --nproc={1} {2} run -n 1 --cores {3} "
                    "--job-network host phases --runtime 0.1",
                    id, processes, REPLAY_PROGRAM, cores_),
        folder_.path());
    EXPECT_EQ(refused.status, 127) << processes << ": " << refused.out << refused.err;
    const auto has = [&refused](const char* text) { return refused.err.find(text) != std::string::npos; };
    EXPECT_TRUE(has("cannot fork") || has("could not fork") || has("no process can be made")) << refused.err;
  }
}

TEST_F(RunProgram, IsShrunkAndExpandedInTurnForAsLongAsItRuns) {
  const ShellResult result = run("--every 50ms phases --runtime 2 --cpu-use 0.3 --pattern bsp");
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json report = this->report();
  EXPECT_EQ(report["verification"], "passed");
  ASSERT_GE(report["changes"].size(), 10U);
  for (std::size_t i = 0; i < report["changes"].size(); ++i)
    EXPECT_EQ(report["changes"][i]["change"], i % 2 == 0 ? "shrink" : "expand");
}

TEST_F(RunProgram, FourRanksGoFromTwoCoresToOneAndBack) {
  const ShellResult result =
      run("-n 4 --shrink-at 200ms --expand-at 400ms phases --runtime 1 --cpu-use 0.2 --pattern bsp");
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json phases = report()["phases"];
  ASSERT_EQ(phases.size(), 3U) << phases;
  EXPECT_EQ(phases[0]["phase"], "on 2 cores, 2 ranks on each");
  EXPECT_EQ(phases[1]["phase"], "shrunk to 1 core, 4 ranks on it");
  EXPECT_TRUE(phases[0]["cpu_use"].is_null()) << "never a core for each rank";
}

TEST_F(RunProgram, EveryByteArrivesWhileRanksAreMoved) {
  for (const char* pattern : {"pingpong", "allreduce", "barrier"}) {
    const ShellResult result =
        run(fmt::format("--every 20ms messages --pattern {} --size 4096 --count 20000", pattern));
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_EQ(report()["verification"], "passed") << pattern;
  }
}

TEST_F(RunProgram, MakesNoProgressWhileItIsSuspended) {
  const ShellResult result = run("--suspend-at 200ms --resume-at 600ms phases --runtime 1 --cpu-use 0.5 --pattern bsp");
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json phases = report()["phases"];
  ASSERT_EQ(phases.size(), 3U) << phases;
  EXPECT_EQ(phases[1]["suspended"], true);
  EXPECT_LE(phases[1]["mpi_calls"], 12) << "an iteration of each rank has 3 calls; a stop takes a moment";
  EXPECT_EQ(report()["verification"], "passed");
}

TEST_F(RunProgram, TheProgramsOutputAndStatusAreOurs) {
  const ShellResult result = run("-n 1 sh -c 'echo one; echo two >&2; exit 3'");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out.substr(0, 4), "one\n");  // more follows: Hydra's messages about a program that fails
  EXPECT_NE(result.err.find("two\n"), std::string::npos) << result.err;
  EXPECT_EQ(run("-n 1 sh -c 'echo one'").out, "one\n");
  EXPECT_EQ(report()["outcome"], "completed");
}

TEST_F(RunProgram, JsonOnStdoutIsAllThereIs) {
  const ShellResult result = shell(fmt::format("{} run --json -n 1 sh -c 'echo one'", REPLAY_PROGRAM), folder_.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["outcome"], "completed");
  EXPECT_NE(result.err.find("one\n"), std::string::npos) << result.err;
}

TEST_F(RunProgram, JsonIsJsonWhateverTheProgramPrints) {
  EXPECT_EQ(run("-n 1 sh -c 'printf \"\\377\\n\" >&2; exit 1'").status, 1);
  EXPECT_EQ(report()["outcome"], "failed");
}

TEST_F(RunProgram, ThreadsThatShareTheCoreOfTheirRankHaveANote) {
  const auto said_with = [this](const char* variables) {
    return shell(fmt::format("{} run -n 1 {} sh -c true", REPLAY_PROGRAM, variables), folder_.path()).err;
  };
  EXPECT_NE(said_with("--env OMP_NUM_THREADS=2").find("replay: note: OMP_NUM_THREADS=2: a rank has one core"),
            std::string::npos);
  EXPECT_EQ(said_with("--env OMP_NUM_THREADS=1").find("OMP_NUM_THREADS"), std::string::npos);
}

TEST_F(RunProgram, AFailureOfTheProgramIsNamed) {
  const ShellResult result =
      shell(fmt::format("{} run phases --runtime 2 --fail-at 0.1", REPLAY_PROGRAM), folder_.path());
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_NE(result.err.find("failed after"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("reason "), std::string::npos) << result.err;
  expect_nothing_left();
}

TEST_F(RunProgram, ARankWithoutVmlibMakesTheProgramRigid) {
  const ShellResult result =
      run("--env REPLAY_VM_OFF=1 --shrink-at 200ms --expand-at 400ms phases --runtime 7 --cpu-use 0.1");
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json report = this->report();
  EXPECT_EQ(report["malleable"], false);
  EXPECT_EQ(report["rigid_because"], "REPLAY_VM_OFF is set");
  EXPECT_TRUE(report["changes"].empty()) << report["changes"];
  EXPECT_EQ(report["verification"], "passed");
}

TEST_F(RunProgram, StockRanksShareACoreFromTheStart) {
  const ShellResult result = shell(fmt::format("{} run --no-vm --cores {} sh -c 'taskset -pc $$'", REPLAY_PROGRAM,
                                               cores_.substr(0, cores_.find(','))),
                                   folder_.path());
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string line = fmt::format(": {}\n", cores_.substr(0, cores_.find(',')));
  EXPECT_NE(result.out.find(line), result.out.rfind(line)) << "both ranks on one core: " << result.out;
  EXPECT_NE(result.err.find("vmlib       not used"), std::string::npos) << result.err;
}

TEST_F(RunProgram, CtrlCEndsTheProgramAndStillReports) {
  Background replay{REPLAY_PROGRAM, {"run", "sh", "-c", "echo here; sleep 1000"}, folder_ / "out", folder_ / "err"};
  ASSERT_TRUE(comes_true([&] { return replay.out() == "here\nhere\n"; }))
      << "output comes while the program runs: " << replay.out();
  replay.send(SIGINT);
  EXPECT_EQ(replay.wait(), 130);
  EXPECT_NE(replay.err().find("killed after"), std::string::npos) << replay.err();
  expect_nothing_left();
}

TEST_F(RunProgram, CtrlCKeepsThePhasesSoFar) {
  Background replay{
      REPLAY_PROGRAM,
      {"run", "--cores", cores_, "--shrink-at", "100ms", "phases", "--runtime", "1000", "--pattern", "bsp"},
      folder_ / "out",
      folder_ / "err"};
  ASSERT_TRUE(comes_true([&] { return replay.err().find("shrink: shrunk to 1 core") != std::string::npos; }))
      << replay.err();
  replay.send(SIGINT);
  EXPECT_EQ(replay.wait(), 130);
  EXPECT_NE(replay.err().find("\nexpanded on 2 cores "), std::string::npos) << replay.err();
  expect_nothing_left();
}

TEST_F(RunProgram, WhatIsKilledWithAllItsProcessesLeavesItsFolderToTheNextOne) {
  Background replay{REPLAY_PROGRAM, {"run", "sh", "-c", "echo here; sleep 1000"}, folder_ / "out", folder_ / "err"};
  ASSERT_TRUE(comes_true([&] { return replay.out() == "here\nhere\n"; })) << replay.out();
  replay.send(SIGKILL);
  EXPECT_EQ(replay.wait(), 137);
  ASSERT_TRUE(comes_true([this] { return processes_marked(folder_.path().string()).empty(); }));
  const auto folders = [this] {
    return std::ranges::count_if(fs::directory_iterator{folder_.path()},
                                 [](const auto& entry) { return entry.is_directory(); });
  };
  EXPECT_EQ(folders(), 1);
  EXPECT_EQ(run("true").status, 0);
  EXPECT_EQ(folders(), 0);
  expect_nothing_left();
}

TEST_F(RunProgram, AReaderThatHasGoneEndsTheProgram) {
  const ShellResult result =
      shell(fmt::format("{{ {} run yes; echo $? > status; }} | head -n 1", REPLAY_PROGRAM), folder_.path());
  EXPECT_EQ(result.out, "y\n");
  ASSERT_TRUE(comes_true([&] { return !text_of(folder_ / "status").empty(); }));
  EXPECT_EQ(text_of(folder_ / "status"), "141\n");
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::test
