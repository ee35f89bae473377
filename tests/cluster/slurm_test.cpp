// Tests of `--machine slurm` and `replay sbatch` inside a real Slurm on three hosts (tests/support/slurm-cluster): a
// trace runs in a job of three nodes; the job is cancelled, or its time limit comes. Results are there, and nothing is
// left. `./dev slurm` runs a longer trace, and waits for a time limit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/log/text.hpp"
#include "tests/support/background.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

/// What `./dev slurm` asks for; 0: nothing.
int jobs_asked_for() {
  const char* const text = std::getenv("REPLAY_SLURM_JOBS");
  return text == nullptr ? 0 : std::atoi(text);
}

class Slurm : public testing::Test {
 protected:
  void SetUp() override {
    if (const ShellResult lacks = shell(REPLAY_SLURM_CLUSTER " missing"); lacks.status == 0)
      GTEST_SKIP() << "no Slurm can be made here: " << lacks.out;
    if (const ShellResult made = shell(REPLAY_HOST_CLUSTER " 1 true"); made.status != 0)
      GTEST_SKIP() << "no hosts can be made here: " << made.err;
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
  }
  /// Jobs of 1 to 6 processes, 0.5 to 1.7 s, five a second.
  void write_trace(int jobs) const {
    std::string text = "; MaxProcs: 12\n";
    for (int i = 1; i <= jobs; ++i)
      text += fmt::format("{} {:.1f} -1 {:.1f} {} {:.1f} -1 {} 60 -1 1 1 1 -1 -1 -1 -1 -1\n", i, i * 0.2,
                          0.5 + i % 5 * 0.3, 1 + i % 6, 0.5 + i % 5 * 0.3, 1 + i % 6);
    write_text(folder_ / "t.swf", text);
  }
  void write_long_jobs() const {
    write_text(folder_ / "t.swf",
               "; MaxProcs: 12\n"
               "1 0 -1 600 12 300 -1 12 1000 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "2 0.1 -1 600 4 300 -1 4 1000 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "3 0.2 -1 600 12 300 -1 12 1000 -1 1 1 1 -1 -1 -1 -1 -1\n");
  }
  /// Runs `script` beside Slurm with nodes of 4 CPUs. $RUN are the words of a run on the nodes of its job.
  void run(const std::string& script, const std::string& policy = "fcfs-malleable", int limit_s = 60) {
    write_text(folder_ / "script",
               fmt::format("RUN='--machine slurm:emulated=1x4 --trace t.swf --policy {} --out r --plain'\n"
                           "wait_for() {{ until grep -qs \"$1\" \"$2\"; do sleep 0.05; done; }}\n"
                           "queue_is_empty() {{ until [ -z \"$(squeue --noheader)\" ]; do sleep 0.05; done; }}\n"
                           "{}\nstatus=$?\n"
                           "cat /proc/[0-9]*/comm | grep -E 'replay|phases|mpiexec|hydra|srun' >left\n"
                           "exit $status\n",
                           policy, script));
    result_ = shell(
        fmt::format("TMPDIR=$PWD exec timeout {} " REPLAY_HOST_CLUSTER " 3 " REPLAY_SLURM_CLUSTER " 4 bash script",
                    limit_s),
        folder_.path());
    EXPECT_TRUE(comes_true([this] { return processes_marked(folder_.path().string()).empty(); }));
    EXPECT_EQ(text_of(folder_ / "left"), "");
  }
  [[nodiscard]] std::string events() const { return text_of(folder_ / "r/events.log"); }
  [[nodiscard]] std::string said() const { return text_of(folder_ / "out") + result_.out + result_.err; }
  [[nodiscard]] bool has_said(const std::string& text) const { return said().find(text) != std::string::npos; }
  void expect_results_of_a_run_that_was_cut(const std::string& how) const {
    EXPECT_NE(text_of(folder_ / "r/run.json").find(how), std::string::npos) << said();
    expect_results();
  }
  /// Slurm signals the run and its agents at the same time: what comes first is said.
  void expect_results_of_a_run_that_slurm_has_ended() const {
    const std::string run = text_of(folder_ / "r/run.json");
    EXPECT_TRUE(run.find(kInterrupted) != std::string::npos || run.find(kAgentsEnded) != std::string::npos)
        << run << said();
    expect_results();
  }
  void expect_results() const {
    EXPECT_EQ(events().find("outcome=completed"), std::string::npos) << events();
    for (const char* file : {"jobs.csv", "metrics.json", "series.csv", "schedule.swf"})
      EXPECT_TRUE(std::filesystem::exists(folder_ / "r" / file)) << file << said();
  }

  static constexpr const char* kInterrupted = "\"interrupted\": true";
  static constexpr const char* kAgentsEnded = "it was told to end (SIGTERM)";
  TemporaryFolder folder_;
  ShellResult result_;
};

TEST_F(Slurm, ATraceRunsOnTheNodesOfItsJob) {
  const int jobs = std::max(jobs_asked_for(), 10);
  write_trace(jobs);
  run(REPLAY_PROGRAM " sbatch --nodes 3 --time 5min -o job.sh -- $RUN && sbatch --quiet --wait --output=out job.sh",
      "fcfs-malleable", 120);
  EXPECT_EQ(result_.status, 0) << said();
  EXPECT_TRUE(has_said("12 emulated cores of 3 hosts of Slurm job 1")) << said();
  // Of the 5 minutes some seconds may have gone until the run looks, on a busy machine.
  EXPECT_TRUE(std::regex_search(said(), std::regex("the time limit of Slurm job 1 is about (5 min|4 min \\d+ s) away")))
      << said();
  MemoryLog log;
  ASSERT_TRUE(log::read_text(folder_ / "r/events.log", log));
  EXPECT_EQ(what_is_wrong(log, Machine::parse("3x1x4")), "");
  EXPECT_EQ(log.verified(), jobs);
}

TEST_F(Slurm, TheAgentsOfAJobWithFewCpusTakeNoMore) {
  write_text(folder_ / "t.swf", "; MaxProcs: 3\n1 0 -1 0.5 3 0.5 -1 3 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run("salloc --quiet --nodes=3 --ntasks=3 --time=5 " REPLAY_PROGRAM
      " --machine slurm --trace t.swf --policy easy --out r --plain");
  EXPECT_EQ(result_.status, 0) << said();
  EXPECT_NE(events().find("#machine 3x1x1\n"), std::string::npos) << said() << events();
}

TEST_F(Slurm, AJobThatIsCancelledLeavesResults) {
  write_long_jobs();
  run(REPLAY_PROGRAM
      " sbatch --nodes 3 --time 5min -o job.sh -- $RUN && id=$(sbatch --parsable --output=out job.sh) && "
      "wait_for ' ranks job=1' r/events.log && scancel \"$id\" && queue_is_empty");
  EXPECT_EQ(result_.status, 0) << said();
  expect_results_of_a_run_that_slurm_has_ended();
  EXPECT_NE(events().find("finish job=3 outcome=cancelled"), std::string::npos) << events();
}

TEST_F(Slurm, AnAllocationOfSallocThatIsCancelledLeavesResults) {
  write_long_jobs();
  run("salloc --quiet --nodes=3 --exclusive --time=5 " REPLAY_PROGRAM
      " $RUN >out 2>&1 & wait_for ' ranks job=1' r/events.log && scancel 1 && queue_is_empty; wait");
  expect_results_of_a_run_that_was_cut(kAgentsEnded);
  EXPECT_TRUE(has_said("the run ended early: node")) << said();
}

TEST_F(Slurm, ARunEndsBeforeTheTimeLimitOfItsJob) {
  if (jobs_asked_for() == 0) GTEST_SKIP() << "takes half a minute, as Slurm's limits are minutes: ./dev slurm";
  write_long_jobs();
  run(REPLAY_PROGRAM " sbatch --nodes 3 --time 1min -o job.sh -- $RUN && sbatch --quiet --wait --output=out job.sh",
      "easy", 120);
  EXPECT_EQ(result_.status, 1) << said();
  EXPECT_TRUE(has_said("no further job was started: the time limit of Slurm job 1 is 30 s away")) << said();
  EXPECT_NE(events().find("finish job=1 outcome=killed"), std::string::npos) << events();
  EXPECT_NE(events().find("finish job=3 outcome=cancelled"), std::string::npos) << events();
  expect_results_of_a_run_that_was_cut(kInterrupted);
}

TEST_F(Slurm, OneThatDoesNotKnowItsLimitIsEndedBySlurmAndLeavesResults) {
  if (jobs_asked_for() == 0) GTEST_SKIP() << "takes over a minute, as Slurm's limits are minutes: ./dev slurm";
  write_long_jobs();
  write_text(folder_ / "squeue", "#!/bin/sh\necho UNLIMITED\n");
  std::filesystem::permissions(folder_ / "squeue", std::filesystem::perms::owner_all);
  run(REPLAY_PROGRAM
      " sbatch --nodes 3 --time 1min -o job.sh -- $RUN && PATH=$PWD:$PATH sbatch --quiet --wait --output=out job.sh; "
      "queue_is_empty",
      "easy", 180);
  EXPECT_TRUE(has_said("note: Slurm job 1 has no time limit, or squeue does not say it")) << said();
  EXPECT_FALSE(has_said("no further job was started")) << said();
  expect_results_of_a_run_that_slurm_has_ended();
}

}  // namespace
}  // namespace replay::test
