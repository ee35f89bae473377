// Groups of jobs on shared nodes in time slices for real: `replay validate` on emulated nodes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/validate/result.hpp"
#include "tests/support/background.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

// By job, in seconds of the trace, from the event log in `folder`.
std::map<std::string, double> run_times(const fs::path& folder) {
  std::map<std::string, double> start, took;
  const std::string log = text_of(folder / "events.log");
  for (const std::string_view line : split(log, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 3) continue;
    const double at = std::strtod(std::string{words[0]}.c_str(), nullptr);
    const std::string job{words[2]};
    if (words[1] == "launch") start[job] = at;
    if (words[1] == "finish") took[job] = at - start[job];
  }
  return took;
}

TEST(GroupsAndSlices, ComeOnEmulatedNodesAsInTheSimulator) {
  if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
  const TemporaryFolder folder;
  ::setenv("REPLAY_TEST_RUN", folder.path().c_str(), 1);  // marks every process of this test
  // Short, medium and long jobs on eight nodes of four cores; no job starts or resumes shortly before its slice ends. A second of
  // the trace is 1 ms.
  write_text(folder / "t.swf",
             "; MaxProcs: 32\n; MaxNodes: 8\n"
             "1 150 -1 11202 16 10082 -1 16 13442 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 150 -1 474 2 427 -1 2 568 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 300 -1 1939 4 1745 -1 4 2326 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "4 300 -1 414 2 373 -1 2 496 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "5 360 -1 417 2 375 -1 2 500 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "6 360 -1 11322 16 10190 -1 16 13586 -1 1 1 1 -1 -1 -1 -1 -1\n");
  std::string traits = "job,flexibility,sl_scr,sl_sno\n";
  for (int job = 1; job <= 6; ++job) traits += fmt::format("{},rigid,1.4,1\n", job);
  write_text(folder / "t.jobs.csv", traits);
  const ShellResult result = shell(
      fmt::format("{} validate --trace t.swf --machine emulated:8x2x2 --policy 'scojo-pect:inner={{g-lomarc-ts}}' "
                  "--runtime-model pairs --time-scale 0.001 --out v --json",
                  REPLAY_PROGRAM),
      folder.path());
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const auto cell = validate::cell_result_of(nlohmann::ordered_json::parse(result.out)["cells"][0], "cell");
  EXPECT_EQ(cell.real.failed, 0u);
  EXPECT_NEAR(cell.real.figures[1], cell.simulated.figures[1], 0.05 * cell.simulated.figures[1]);
  EXPECT_FALSE(cell.divergence) << *cell.divergence;
  std::map<std::string, std::vector<std::string>> facts;
  for (const char* body : {"sim", "real"}) {
    const std::string log = text_of(folder / "v/cells/scojo-pect,inner=_g-lomarc-ts_" / body / "events.log");
    for (const std::string_view line : split(log, '\n'))
      for (const char* kind : {" group ", " ungroup ", " suspend ", " resume "})
        if (const std::size_t at = line.find(kind); at != line.npos) facts[body].emplace_back(line.substr(at));
  }
  EXPECT_EQ(std::ranges::count_if(facts["sim"], [](const std::string& fact) { return fact.starts_with(" group "); }),
            1);
  EXPECT_EQ(facts["real"], facts["sim"]);
  const std::string mark = "REPLAY_TEST_RUN=" + folder.path().string();
  EXPECT_TRUE(comes_true([&] { return processes_marked(mark).empty(); })) << processes_marked(mark);
}

TEST(GroupsAndSlices, AGroupIsAsSlowOnEmulatedNodesAsItsPairsSay) {
  if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
  const TemporaryFolder folder;
  ::setenv("REPLAY_TEST_RUN", folder.path().c_str(), 1);
  // Jobs 1 and 2 share four nodes. Job 2 takes 1.1 times its 2,500 s; job 1 runs at 1 / 1.2 of its speed until then and
  // ends at 4,458 s instead of 4,000 s. Job 3 fills the nodes afterwards, and its own processes slow it down by 1.2.
  write_text(folder / "t.swf",
             "; MaxProcs: 16\n; MaxNodes: 4\n"
             "1 0 -1 4000 8 3600 -1 8 4800 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0 -1 2500 8 2500 -1 8 3000 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 300 -1 1500 16 1500 -1 16 1800 -1 1 1 1 -1 -1 -1 -1 -1\n");
  write_text(folder / "t.jobs.csv", "job,flexibility,sl_scr,sl_sno\n1,rigid,1.4,1\n2,rigid,1.4,1\n3,rigid,1.2,1\n");
  write_text(folder / "t.pairs.csv", "job,beside,slowdown\n1,2,1.2\n2,1,1.1\n");
  const ShellResult result =
      shell(fmt::format("{} validate --trace t.swf --machine emulated:4x2x2 --policy g-lomarc-ts --runtime-model pairs "
                        "--time-scale 0.001 --out v --json",
                        REPLAY_PROGRAM),
            folder.path());
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const fs::path cell = folder / "v/cells/g-lomarc-ts";
  const auto simulated = run_times(cell / "sim"), real = run_times(cell / "real");
  ASSERT_EQ(simulated.size(), 3u);
  ASSERT_EQ(real.size(), 3u);
  std::vector<double> expected;
  for (const auto& [job, took] : simulated) {
    expected.push_back(took);
    EXPECT_NEAR(real.at(job), took, 0.05 * took) << job;
  }
  EXPECT_NEAR(expected.at(0), 4458.3, 1);
  EXPECT_NEAR(expected.at(1), 2750, 1);
  EXPECT_NEAR(expected.at(2), 1800, 1);
}

TEST(SharedCores, OfFcfsMalleableTakeAsLongOnEmulatedCoresAsInTheSimulator) {
  if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
  const TemporaryFolder folder;
  ::setenv("REPLAY_TEST_RUN", folder.path().c_str(), 1);
  // Job 2 runs on the cores of job 1, and both take 1.2 times as long meanwhile. Their CPU uses are equal: ranks take turns at a
  // token, so of two jobs with different ones the job that computes more would lose more than the model says.
  write_text(folder / "t.swf",
             "; MaxProcs: 4\n"
             "1 0 -1 10 4 6 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 2 -1 4 4 2 -1 4 8 -1 1 1 1 -1 -1 -1 -1 -1\n");
  write_text(folder / "t.jobs.csv", "job,flexibility,cpu_util\n1,malleable,0.6\n2,malleable,0.6\n");
  const ShellResult result =
      shell(fmt::format("{} validate --trace t.swf --machine emulated:1x2x2 --policy fcfs-malleable:share=first "
                        "--runtime-model isolated --time-scale 0.4 --out v --json",
                        REPLAY_PROGRAM),
            folder.path());
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const fs::path cell = folder / "v/cells/fcfs-malleable,share=first";
  const auto simulated = run_times(cell / "sim"), real = run_times(cell / "real");
  ASSERT_EQ(simulated.size(), 2u);
  ASSERT_EQ(real.size(), 2u);
  for (const auto& [job, took] : simulated) EXPECT_NEAR(real.at(job), took, 0.1 * took) << job;
  EXPECT_NE(text_of(cell / "real/events.log").find("shareable=yes"), std::string::npos);
  EXPECT_EQ(text_of(cell / "real/events.log").find(" resize "), std::string::npos) << "none is shrunk";
}

}  // namespace
}  // namespace replay::test
