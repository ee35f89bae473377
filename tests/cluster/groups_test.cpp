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

TEST(GroupsAndSlices, ComeOnEmulatedNodesAsInTheSimulator) {
  if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
  const TemporaryFolder folder;
  ::setenv("REPLAY_TEST_RUN", folder.path().c_str(), 1);  // marks every process of this test
  // Short, medium and long jobs on eight nodes of four cores; no job starts or resumes shortly before its slice ends. A second of
  // the trace is 2 ms.
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
                  "--runtime-model pairs --time-scale 0.002 --out v --json",
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

}  // namespace
}  // namespace replay::test
