// Tests of `replay validate` with real runs: a tiny trace on emulated cores, the stored cell, Ctrl-C. Tests wait for
// events, never for a fixed time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/validate/result.hpp"
#include "tests/support/background.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Consecutive decisions are nearly a second apart. Job 1 is shrunk when job 2 comes and expanded again when job 2 ends;
// so is job 3.
constexpr const char* kFourJobs =
    "; MaxProcs: 2\n"
    "1 0 -1 3 2 1.8 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "2 1 -1 1 1 1.0 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "3 5 -1 3 2 1.8 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "4 6 -1 1.5 1 1.5 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n";

// What a log says of starts and resizes, in its order: "1:7" for job 1 on 7 cores.
std::vector<std::string> sizes_in(const fs::path& log) {
  std::vector<std::string> sizes;
  std::istringstream lines(text_of(log));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string at, what, job, cores;
    words >> at >> what >> job >> cores;
    if (what == "start" || what == "resize")
      sizes.push_back(job.substr(std::string("job=").size()) + ':' + cores.substr(std::string("cores=").size()));
  }
  return sizes;
}

class ValidateForReal : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    write_text(folder_ / "t.swf", kFourJobs);
  }
  ShellResult validate(const std::string& more) {
    return shell(fmt::format("{} validate --trace t.swf --machine emulated:1x1x2 --policy fcfs-malleable --out v {}",
                             REPLAY_PROGRAM, more),
                 folder_.path());
  }
  ShellResult replay(const std::string& arguments) {
    return shell(fmt::format("{} {}", REPLAY_PROGRAM, arguments), folder_.path());
  }
  void expect_nothing_left() const {
    const std::string mark = "REPLAY_TEST_RUN=" + folder_.path().string();
    EXPECT_TRUE(comes_true([&] { return processes_marked(mark).empty(); })) << processes_marked(mark);
  }
  TemporaryFolder folder_;
};

TEST_F(ValidateForReal, ATinyTraceSideBySide) {
  const ShellResult result = validate("--tolerance 2 --json");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const ordered_json table = ordered_json::parse(result.out);
  ASSERT_EQ(table["cells"].size(), 1u);
  const auto cell = validate::cell_result_of(table["cells"][0], "cell");
  EXPECT_EQ(cell.cell, "fcfs-malleable");
  EXPECT_EQ(cell.real.jobs, 4u);
  EXPECT_EQ(cell.real.failed, 0u);
  EXPECT_GE(cell.real.shrinks, 1);
  EXPECT_EQ(cell.simulated_errors.jobs, 4u);
  EXPECT_FALSE(cell.divergence) << *cell.divergence;
  // By hand: no job waits. Job 1 is shrunk from 1 s to 2 s, s(2) = 1.2: 3 + 1/6 s; job 3 from 6 s to 7.5 s: 3.25 s.
  EXPECT_NEAR(cell.simulated.figures[0], 0, 1e-9);
  EXPECT_NEAR(cell.simulated.figures[1], (3 + 1.0 / 6 + 1 + 3.25 + 1.5) / 4, 1e-5);
  // P is the real run in the simulator: each job has the work that it did in the real run.
  ASSERT_TRUE(cell.measured);
  EXPECT_EQ(cell.measured->jobs, 4u);
  EXPECT_LE(cell.measured_errors->execution.max, cell.simulated_errors.execution.max + 0.5);
  // The cells' folders are ordinary run folders.
  const std::string folder = "v/cells/fcfs-malleable";
  EXPECT_LE(replay("diff " + folder + "/sim " + folder + "/real --tolerance 2").status, 1);  // 2: trouble
  EXPECT_EQ(replay("rerun " + folder + "/sim --out again").status, 0);
  EXPECT_EQ(replay("rerun " + folder + "/measured --out measured-again").status, 0);
  EXPECT_EQ(replay("why " + folder + "/real 4").status, 0);

  // A second call runs nothing; one with other inputs reuses no result.
  const auto written = fs::last_write_time(folder_ / folder / "result.json");
  const ShellResult again = validate("--tolerance 2");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.out.find("1 of them finished already"), std::string::npos) << again.out;
  EXPECT_EQ(fs::last_write_time(folder_ / folder / "result.json"), written);
  const ShellResult other = validate("--time-scale 0.5");
  EXPECT_EQ(other.status, 1) << other.out;
  EXPECT_NE(other.err.find("time_scale: 1.0 then, 0.5 now"), std::string::npos) << other.err;
  expect_nothing_left();
}

TEST_F(ValidateForReal, AMoldableJobEndsWhenItsCurveSays) {
  // Job 2 offers 4 to 16 processes and takes the 7 that job 1 leaves of 8: 6 S(4) / S(7) = 3.668 s by Downey's curve,
  // S(4) = 40 / 10.75, S(7) = 70 / 11.5.
  write_text(folder_ / "t.swf",
             "; MaxProcs: 8\n"
             "1 0 -1 6 1 5.4 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 1 -1 6 4 5.4 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  write_text(folder_ / "t.jobs.csv",
             "job,flexibility,least_processes,most_processes,speedup\n1,rigid,,,\n"
             "2,moldable,4,16,downey:a=10:sigma=0.5\n");
  const ShellResult result =
      shell(fmt::format("{} validate --trace t.swf --machine emulated:2x2x2 --policy greedy-moldable --out v --json",
                        REPLAY_PROGRAM),
            folder_.path());
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const ordered_json table = ordered_json::parse(result.out);
  const auto cell = validate::cell_result_of(table["cells"][0], "cell");
  const double by_hand = 6 * (40 / 10.75) / (70 / 11.5);
  EXPECT_NEAR(cell.simulated.figures[1], (6 + by_hand) / 2, 1e-5);
  EXPECT_NEAR(cell.real.figures[1], (6 + by_hand) / 2, 0.05 * by_hand / 2);
  EXPECT_FALSE(cell.divergence) << *cell.divergence;
  const std::string log = text_of(folder_ / "v/cells/greedy-moldable/real/events.log");
  EXPECT_NE(log.find(" launch job=2 cores=7 mpl=1 on=4-7:1,1-3:1 processes=7"), std::string::npos) << log;
  EXPECT_NE(log.find(" speedup=downey:a=10:sigma=0.5"), std::string::npos) << log;
  EXPECT_EQ(text_of(folder_ / "v/cells/greedy-moldable/real/jobs/2/command").find("-n 4"), std::string::npos);
  expect_nothing_left();
}

TEST_F(ValidateForReal, ScojoPChoosesTheSizesOfTheSimulator) {
  // Job 1 (N_opt = 6) alone: load 6 / 8 at factor 1, so that it gets the factor 1.2 and 7 of 8. Job 3, short and with the
  // least time at its optimum, takes the last one. When job 1 ends, jobs 2 and 4 start together below their optimum.
  write_text(folder_ / "t.swf",
             "; MaxProcs: 8\n"
             "1 0 -1 6 4 5.4 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 1 -1 4 2 3.6 -1 2 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 2 -1 3 4 2.7 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "4 3 -1 4 2 3.6 -1 2 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "5 9 -1 4 3 3.6 -1 3 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "6 10 -1 3 1 2.7 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
  write_text(folder_ / "t.jobs.csv",
             "job,flexibility,least_processes,most_processes,speedup\n"
             "1,moldable,1,8,downey:a=6:sigma=0.5\n2,moldable,1,8,downey:a=8:sigma=1\n"
             "3,moldable,1,8,downey:a=5:sigma=0.5\n4,moldable,1,8,downey:a=4:sigma=0\n"
             "5,moldable,1,8,downey:a=7:sigma=0.5\n6,rigid,,,\n");
  const ShellResult result =
      shell(fmt::format("{} validate --trace t.swf --machine emulated:2x2x2 --policy scojo-p:predict=off "
                        "--time-scale 0.5 --out v --json",
                        REPLAY_PROGRAM),
            folder_.path());
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const auto cell = validate::cell_result_of(ordered_json::parse(result.out)["cells"][0], "cell");
  EXPECT_EQ(cell.real.jobs, 6u);
  EXPECT_EQ(cell.real.failed, 0u);
  EXPECT_NEAR(cell.real.figures[1], cell.simulated.figures[1], 0.05 * cell.simulated.figures[1]);
  EXPECT_FALSE(cell.divergence) << *cell.divergence;
  const fs::path folder = folder_ / "v/cells/scojo-p,predict=off";
  const std::vector<std::string> sizes{"1:7", "3:1", "2:4", "4:3", "5:6", "6:1"};
  EXPECT_EQ(sizes_in(folder / "sim/events.log"), sizes);
  EXPECT_EQ(sizes_in(folder / "real/events.log"), sizes);
  expect_nothing_left();
}

TEST_F(ValidateForReal, ScojoResizesRunningJobsAsInTheSimulator) {
  // Three jobs with N_opt = 4 come in turn: f = 2, 1, 2/3. The first two are shrunk by levels, 8 processes on 4 cores and on
  // 2 of 8; the first one is expanded at 800 s, 300 s after the last resize. A second of the trace is 8 ms.
  write_text(folder_ / "t.swf",
             "; MaxProcs: 8\n"
             "1 0 -1 700 4 630 -1 4 720 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 200 -1 400 4 360 -1 4 420 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 500 -1 400 4 360 -1 4 420 -1 1 1 1 -1 -1 -1 -1 -1\n");
  write_text(folder_ / "t.jobs.csv",
             "job,flexibility,least_processes,most_processes,speedup\n1,malleable,1,8,three-point:n=4\n"
             "2,malleable,1,8,three-point:n=4\n3,malleable,1,8,three-point:n=4\n");
  const ShellResult result =
      shell(fmt::format("{} validate --trace t.swf --machine emulated:2x2x2 --policy scojo:resize=levels "
                        "--time-scale 0.008 --out v --json",
                        REPLAY_PROGRAM),
            folder_.path());
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const auto cell = validate::cell_result_of(ordered_json::parse(result.out)["cells"][0], "cell");
  EXPECT_EQ(cell.real.failed, 0u);
  EXPECT_EQ(cell.real.shrinks, 3);
  EXPECT_EQ(cell.real.expands, 1);
  EXPECT_NEAR(cell.real.figures[1], cell.simulated.figures[1], 0.05 * cell.simulated.figures[1]);
  EXPECT_FALSE(cell.divergence) << *cell.divergence;
  const fs::path folder = folder_ / "v/cells/scojo,resize=levels";
  const std::vector<std::string> sizes{"1:8", "1:4", "2:4", "1:2", "2:2", "3:4", "1:4"};
  EXPECT_EQ(sizes_in(folder / "sim/events.log"), sizes);
  EXPECT_EQ(sizes_in(folder / "real/events.log"), sizes);
  expect_nothing_left();
}

TEST_F(ValidateForReal, CtrlCEndsTheRunAndTheCellHasNoResult) {
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 600 2 360 -1 2 900 -1 1 1 1 -1 -1 -1 -1 -1\n");
  Background command(REPLAY_PROGRAM,
                     {"validate", "--trace", (folder_ / "t.swf").string(), "--machine", "emulated:1x1x2", "--policy",
                      "easy", "--out", (folder_ / "v").string()},
                     folder_ / "out", folder_ / "err");
  ASSERT_TRUE(comes_true([&] {
    return text_of(folder_ / "v/cells/easy/real/events.log").find(" launch ") != std::string::npos;
  })) << command.out()
      << command.err();
  command.send(SIGINT);
  EXPECT_EQ(command.wait(), 130) << command.err();
  EXPECT_NE(command.err().find("0 of 1 cells have a result"), std::string::npos) << command.err();
  EXPECT_FALSE(fs::exists(folder_ / "v/cells/easy/result.json"));
  expect_nothing_left();
}

TEST_F(ValidateForReal, ARunThatCannotStartSaysWhy) {
  const ShellResult result = validate("--program 'no-such-program {n}'");
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("there is no program 'no-such-program'"), std::string::npos) << result.err;
  EXPECT_FALSE(fs::exists(folder_ / "v/cells/fcfs-malleable/result.json"));
}

}  // namespace
}  // namespace replay::test
