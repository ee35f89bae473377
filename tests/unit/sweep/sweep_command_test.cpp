// `replay sweep` as a user and an engine start it: shards, estimates, single cells, runs that are kept, workloads of logs.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>

#include "scheduler/base/error.hpp"
#include "tests/unit/sweep/sweep_fixture.hpp"

namespace replay::test {
namespace {

using namespace replay::sweep;
namespace fs = std::filesystem;

TEST_F(Sweep, OfOneAndTwoJobsAndOfSevenShardsGivesTheSame) {
  EXPECT_EQ(sweep("-o two --jobs 2").status, 0);
  EXPECT_EQ(results("two"), expected());
  for (const int shard : {3, 1, 7, 2, 6, 5, 4}) {
    const ShellResult one = sweep(fmt::format("-o seven --shard {}/7", shard));
    EXPECT_EQ(one.status, 0) << one.err;
  }
  EXPECT_EQ(results("seven"), expected());
  EXPECT_EQ(lines("seven"), kSmallCells) << "no cell is computed twice";
  EXPECT_EQ(gathered("seven"), gathered("two")) << "byte by byte";
  const StudyResults all = all_results("seven");
  EXPECT_EQ(all.planned, kSmallCells);
  EXPECT_EQ(all.axes.size(), 4u);
  EXPECT_EQ(all.axes[1], (Axis{"load", {"0.6", "0.9"}}));
  EXPECT_EQ(all.cells.front().metrics.size(), 2u);
}

TEST_F(Sweep, GivesTheSameWorkloadToAllPoliciesOfASeed) {
  write_text(
      folder_ / "study.toml",
      "metrics = [\"jobs_completed\", \"mean_execution\"]\n[axes]\npolicy = [\"fcfs\", \"easy\"]\nseed = [1, 2]\n"
      "[fixed]\nmodel = \"lublin\"\njobs = 50\nmachine = \"16x1x1\"\n");
  EXPECT_EQ(sweep("-o out").status, 0);
  const StudyResults all = all_results("out");
  ASSERT_EQ(all.cells.size(), 4u);
  EXPECT_EQ(all.cells[0].metrics, all.cells[2].metrics);
  EXPECT_EQ(all.cells[1].metrics, all.cells[3].metrics);
  EXPECT_NE(all.cells[0].metrics, all.cells[1].metrics);
}

TEST_F(Sweep, ListsCellsAndComputesOne) {
  const ShellResult list = sweep("-o out --list");
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(list.out, '\n')), kSmallCells);
  const std::string id = list.out.substr(0, 16);
  EXPECT_TRUE(list.out.starts_with(id + " replay sweep study.toml -o out --cell " + id + "\n")) << list.out;
  const std::string json = sweep("-o out --list --json").out;
  const auto first = nlohmann::json::parse(json.substr(0, json.find('\n')));
  EXPECT_EQ(first["id"], id);
  EXPECT_EQ(first["cell"]["policy"], "easy");
  EXPECT_EQ(sweep("-o out --cell " + id).status, 0);
  EXPECT_EQ(results("out").size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(sweep("-o out --gather --json").out)["missing"], kSmallCells - 1);
  expect_complaint("sweep study.toml -o none --gather", 75, {"none: expected cells of study.toml, found none"});
  const auto status = nlohmann::json::parse(sweep("-o out --status --json").out);
  EXPECT_EQ(status["done"], 1);
  EXPECT_EQ(status["missing_ids"].size(), kSmallCells - 1);
  EXPECT_EQ(sweep("-o out --status").status, 75);
  expect_complaint("sweep study.toml -o out --cell 0123", 2, {"--cell: expected the id of a cell", "'0123'"});
  for (const char* const more : {"", " --list"})
    expect_complaint(std::string{"sweep study.toml"} + more, 2, {"-o is missing: expected the folder of the sweep"});
  expect_complaint("sweep study.toml -o out --status --list", 2, {"found several"});
  expect_complaint("sweep study.toml -o out --cell-memory 3", 2,
                   {"--cell-memory: expected a size such as 512M or 2G, found '3'"});
}

TEST_F(Sweep, SaysWhatItWillTake) {
  const auto tried = nlohmann::json::parse(sweep("--dry-run --json").out);
  EXPECT_EQ(tried["cells"], kSmallCells);
  EXPECT_EQ(tried["missing"], kSmallCells);
  EXPECT_GT(tried["cpu_seconds"], 0);
  EXPECT_GT(tried["bytes"], 1000.0 * kSmallCells);
  (void)sweep("-o out --shard 1/2");
  const auto half = nlohmann::json::parse(sweep("-o out --dry-run --json").out);
  EXPECT_EQ(half["done"], kSmallCells / 2);
  EXPECT_EQ(half["missing"], kSmallCells / 2);
  const ShellResult words = sweep("-o out --dry-run --jobs 1");
  EXPECT_TRUE(std::regex_search(words.out, std::regex("expected: [0-9.]+ m?s on 1 core, [0-9.]+ m?s of CPU time; ")))
      << words.out;
  (void)sweep("-o out");
  EXPECT_EQ(sweep("-o out --dry-run").out, "study: 24 cells, 24 done, 0 to compute\n");
}

TEST_F(Sweep, AnEstimateSaysWhyCellsFailed) {
  write_wide_study("load = [0.5]\n", "");
  const ShellResult tried = sweep("--dry-run");
  EXPECT_NE(tried.out.find("1 of these failed, the first: wide.swf, load.swf: job 3 needs 40 processors"),
            std::string::npos)
      << tried.out;
}

TEST_F(Sweep, SaysWhyCellsHaveFailedAndComputesThemAgainIfAsked) {
  const ShellResult failed = sweep("-o out --cell-time 1ms");
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(failed.err.find(" failed: took longer than 1ms (--cell-time)"), std::string::npos) << failed.err;
  const ShellResult status = sweep("-o out --status");
  EXPECT_EQ(status.status, 1);
  EXPECT_NE(status.out.find(": took longer than 1ms (--cell-time); the first is "), std::string::npos) << status.out;
  EXPECT_EQ(sweep("-o out").status, 1) << "they would fail again";
  EXPECT_EQ(sweep("-o out --repeat-failed").status, 0);
  EXPECT_EQ(results("out"), expected());
}

TEST_F(Sweep, RefusesWhatIsNoFolderOfItsStudy) {
  write_text(folder_ / "file", "");
  for (const char* const out : {"file", "file/out"})
    for (const char* const more : {"", " --status", " --gather", " --dry-run"})
      expect_complaint(fmt::format("sweep study.toml -o {}{}", out, more), 2,
                       {"-o: expected a folder, found the file file"});
  ASSERT_EQ(sweep("-o out --shard 1/4").status, 0);
  write_text(folder_ / "other.toml", kSmallStudy);
  for (const char* const more : {"", " --status", " --gather", " --list"})
    expect_complaint(fmt::format("sweep other.toml -o out{}", more), 2,
                     {"-o: expected a folder of the study 'other', found that of 'study', out: take another one"});
  write_text(folder_ / "other.toml", std::string{"name = \"study\"\n"} + kSmallStudy);
  EXPECT_EQ(replay("sweep other.toml -o out").status, 0) << "the file's name is none of the study";
}

TEST_F(Sweep, OfAnotherVersionIsAMixtureThatIsRefusedUnlessTold) {
  (void)expected();
  const Plan plan{folder_ / "study.toml"};
  CellFile file{folder_ / "expected/cells/older.jsonl"};
  const CellLine line{
      .id = *plan.id(0, "0.0.9"), .version = "0.0.9", .failure = {}, .parameters = "{}", .seconds = 1, .results = {}};
  file.append(to_text(line, "{\"utilisation\":7.0}"));
  try {
    (void)results("expected");
    ADD_FAILURE() << "a mixture is taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("found those of 0.0.9 (1 cells), 0.1.0 (24 cells)"), std::string::npos)
        << error.what();
  }
  expect_complaint("sweep study.toml -o expected --gather", 1,
                   {"expected cells of one version", "--mixed-versions takes them all"});
  EXPECT_EQ(sweep("-o expected --gather --mixed-versions").status, 0);
  EXPECT_EQ(read_results(plan, folder_ / "expected", Versions::kMixed).cells, expected()) << "this version goes first";
  fs::create_directories(folder_ / "old/cells");
  fs::rename(folder_ / "expected/cells/older.jsonl", folder_ / "old/cells/older.jsonl");
  const std::vector<CellResult> old = results("old");
  ASSERT_EQ(old.size(), 1u) << "one version by itself is no mixture";
  EXPECT_EQ(old[0].metrics.at("utilisation"), 7);
  EXPECT_TRUE(std::isnan(old[0].metrics.at("mean_bounded_slowdown")));
}

TEST_F(Sweep, UnderMpiexecDealsItsCellsToTheProcesses) {
  if (shell("command -v mpiexec").status != 0) GTEST_SKIP() << "no mpiexec here";
  const ShellResult both = shell("mpiexec -n 2 " + kReplay + " sweep study.toml -o out --shard auto", folder_.path());
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_EQ(results("out"), expected());
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator{folder_ / "out/cells"})
    files += entry.path().filename().string().find("-of-2.") != std::string::npos ? 1u : 0u;
  EXPECT_EQ(files, 2u);
}

TEST_F(Sweep, LeavesWholeRunsIfAskedTo) {
  fs::create_directories(folder_ / "out/runs" / ".0123.elsewhere.1.1");
  const std::string host =
      replay::sweep::process_label("").substr(1, replay::sweep::process_label("").find('.', 1) - 1);
  fs::create_directories(folder_ / "out/runs" / (".0123." + host + ".1.1"));
  const ShellResult done = sweep("-o out --folders");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(results("out"), expected());
  std::ptrdiff_t runs = 0;
  for (const CellResult& cell : expected()) {
    const fs::path run = folder_ / "out/runs" / cell.id;
    ASSERT_TRUE(fs::exists(run / "events.log")) << run;
    const auto metrics = nlohmann::json::parse(text_of(run / "metrics.json"));
    EXPECT_EQ(metrics["metrics"]["utilisation"]["value"], cell.metrics.at("utilisation"));
    ++runs;
  }
  EXPECT_EQ(runs, std::ptrdiff_t{kSmallCells});
  const auto workloads = std::distance(fs::directory_iterator{folder_ / "out/workloads"}, {});
  EXPECT_EQ(workloads, 2 * 2 * 4) << "policies have theirs in common";
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_ / "out/runs"}, {}), runs + 1) << "another computer's";
  EXPECT_EQ(replay("rerun out/runs/" + expected()[0].id + " --out again").status, 0);
}

TEST_F(Sweep, MakesWorkloadsOfTracesToo) {
  ASSERT_EQ(replay("generate lublin --jobs 60 --machine-size 32 --seed 1 -o t.swf").status, 0);
  write_text(folder_ / "study.toml",
             "metrics = [\"jobs_completed\", \"utilisation\"]\n[axes]\nload = [0.5, 0.9]\nmoldable = [0, 1]\n"
             "[fixed]\npolicy = \"fcfs-malleable\"\ntrace = \"t.swf\"\njobs = 40\nspeedup = \"three-point\"\n"
             "estimates = \"tsafrir\"\n");
  const ShellResult done = sweep("-o out");
  EXPECT_EQ(done.status, 0) << done.err;
  const StudyResults all = all_results("out");
  ASSERT_EQ(all.cells.size(), 4u);
  for (const CellResult& cell : all.cells) EXPECT_EQ(cell.metrics.at("jobs_completed"), 40);
  EXPECT_LT(all.cells[0].metrics.at("utilisation"), all.cells[2].metrics.at("utilisation"));
}

// What is left out does not depend on whether there is a load, and is what `replay simulate` leaves out.
TEST_F(Sweep, OfJobsWiderThanTheMachineDoesWhatSimulateDoes) {
  const std::string wide = "job 3 needs 40 processors, the machine has 16 (1 of 20 jobs are too wide)";
  for (const char* const load : {"", "load = [0.5]\n"}) {
    write_wide_study(load, "");
    const std::string out = std::string{"out"} + (*load == 0 ? "" : "-load");
    const ShellResult refused = sweep("-o " + out);
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.err.find(wide), std::string::npos) << refused.err;
    EXPECT_EQ(refused.err.find("/tmp"), std::string::npos) << refused.err;
    for (const auto& [rules, jobs, line] :
         {std::tuple{
              "oversize = \"skip\"\nmachine-size = 16\n", 19,
              "Cleaning has left out 1 record of the log in 1 cell; of these 1 job wider than the machine in 1 cell."},
          {"oversize = \"clamp\"\nmachine-size = 16\n", 20, "Cleaning has narrowed 1 job to the machine in 1 cell."}}) {
      write_wide_study(load, rules);
      ASSERT_EQ(sweep("-o " + out).status, 0);
      EXPECT_EQ(results(out).at(0).metrics.at("jobs_completed"), jobs) << load << rules;
      EXPECT_NE(gathered(out).find(line), std::string::npos) << gathered(out);
    }
  }
  expect_complaint("simulate --trace wide.swf --policy easy --machine 16x1x1", 1, {wide.c_str()});
}

TEST_F(Sweep, MakesSetsOfALog) {
  std::string log = "; MaxProcs: 32\n";
  for (int job = 0; job < 21 * 8; ++job)
    log += fmt::format("{0} {1} -1 {2} {3} -1 -1 {3} {2} -1 1 1 1 -1 -1 -1 -1 -1\n", job + 1,
                       job / 8 * 86400 + 36000 + job % 8 * 1000, 3000 + job % 3 * 10, job % 2 + 7);
  write_text(folder_ / "log.swf", log);
  write_text(folder_ / "log.nodes.csv", "time,nodes,state\n0,n0,down\n");
  write_text(folder_ / "study.toml",
             "metrics = [\"jobs_completed\", \"mean_wait\", \"utilisation\"]\n[axes]\npolicy = [\"easy\", \"fcfs\"]\n"
             "load = [0.4, 0.8]\nseed = [1, 2]\n[fixed]\nmodel = \"from-log\"\ntrace = \"log.swf\"\njobs = 50\n"
             "tolerance = 20\nmachine = \"16x1x1\"\n");
  const ShellResult done = sweep("-o out --folders");
  EXPECT_EQ(done.status, 0) << done.err;
  const std::vector<CellResult> cells = results("out");
  ASSERT_EQ(cells.size(), 8u);
  for (const CellResult& cell : cells) EXPECT_EQ(cell.metrics.at("jobs_completed"), 50);
  EXPECT_LT(cells[0].metrics.at("utilisation"), cells[2].metrics.at("utilisation")) << "the load";
  EXPECT_NE(cells[0].metrics, cells[1].metrics) << "another seed is another set";
  // By hand: the same set, the same load, the same run.
  ASSERT_EQ(replay("generate from-log log.swf --jobs 50 --tolerance 20 --seed 2 -o set.swf").status, 0);
  ASSERT_EQ(replay("trace scale set.swf --load 0.8 --by arrivals --machine-size 16 -o load.swf").status, 0);
  ASSERT_EQ(replay("simulate --trace load.swf --policy fcfs --machine 16x1x1 --out by-hand").status, 0);
  const auto metrics = nlohmann::json::parse(text_of(folder_ / "by-hand/metrics.json"));
  EXPECT_EQ(metrics["metrics"]["mean_wait"]["value"], cells[7].metrics.at("mean_wait"));
}

}  // namespace
}  // namespace replay::test
