// Tests of simulations with node events, through the real program: --nodes-from, --requeue-lost, and what they leave.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

// Job 1 runs on both nodes from 0 on.
constexpr const char* kNodes =
    "time,nodes,state,until,reason\n"
    "2,n1,down,20,disk\n"
    "500,n0,down,,beyond the end\n";

class NodesOption : public Comparing {
 protected:
  NodesOption() { write_text(folder_ / "t.nodes.csv", kNodes); }
  nlohmann::json json_of(const char* file) { return nlohmann::json::parse(text_of(folder_ / file)); }
  double metric(const char* file, const char* name) { return json_of(file)["metrics"][name]["value"]; }
};

const std::string kSimulate = "simulate --trace t.swf --machine 2x1x2 --policy easy ";

TEST_F(NodesOption, TheFileBesideTheTraceIsFoundAndSaid) {
  expect_says(kSimulate + "--out r", 1,
              {"note: node events: 2 rows of t.nodes.csv", "easy: 1 job lost", "6 core-seconds of work lost",
               "nodes closed for 36 core-seconds"});
  EXPECT_EQ(metric("r/metrics.json", "jobs_lost"), 1);
  EXPECT_EQ(metric("r/metrics.json", "requeues"), 0);
  EXPECT_EQ(metric("r/metrics.json", "closed_core_time"), 2 * 18);
  EXPECT_EQ(json_of("r/run.json")["inputs"][1]["path"], "t.nodes.csv");
  EXPECT_EQ(text_of(folder_ / "r" / "nodes.csv"), "time,nodes,state,until,reason\n2,n1,down,20,disk\n20,n1,up,,\n");
}

TEST_F(NodesOption, TheFileMayBeCompressed) {
  ASSERT_EQ(shell("gzip t.nodes.csv", folder_.path()).status, 0);
  expect_says(kSimulate + "--out r", 1, {"note: node events: 2 rows of t.nodes.csv.gz", "easy: 1 job lost"});
  EXPECT_EQ(json_of("r/run.json")["inputs"][1]["path"], "t.nodes.csv.gz");
}

TEST_F(NodesOption, ALostJobIsOneThatWasLostAndTheStatusIsThatOfARealRun) {
  const ShellResult run = replay(kSimulate + "--out r");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "replay: easy: 1 job lost; jobs.csv says which and why\n");
  EXPECT_EQ(metric("r/metrics.json", "jobs_failed"), 0);
  EXPECT_EQ(replay(kSimulate + "--requeue-lost --out again").status, 0) << "all of them have run to their ends";
}

TEST_F(NodesOption, TheFileThatARunLeavesGivesTheSameRun) {
  ASSERT_EQ(replay(kSimulate + "--out r").status, 1);
  ASSERT_EQ(replay(kSimulate + "--nodes-from r/nodes.csv --out again").status, 1);
  EXPECT_EQ(text_of(folder_ / "again" / "events.log"), text_of(folder_ / "r" / "events.log"));
  std::filesystem::remove(folder_ / "r" / "nodes.csv");
  expect_says("results r", 0, {"nodes.csv (made)"});
}

TEST_F(NodesOption, NoneLeavesThemOut) {
  ASSERT_EQ(replay(kSimulate + "--nodes-from none --out r").status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r" / "nodes.csv"));
  EXPECT_FALSE(json_of("r/metrics.json")["metrics"].contains("jobs_lost"));
  EXPECT_EQ(json_of("r/run.json")["inputs"].size(), 1U);
}

TEST_F(NodesOption, ALostJobWaitsAgainWhereThatIsAsked) {
  ASSERT_EQ(replay(kSimulate + "--requeue-lost --out r").status, 0);
  EXPECT_EQ(metric("r/metrics.json", "jobs_lost"), 0);
  EXPECT_EQ(metric("r/metrics.json", "requeues"), 1);
  EXPECT_EQ(metric("r/metrics.json", "lost_work"), 6);
  EXPECT_EQ(metric("r/metrics.json", "jobs_completed"), 5);
  const std::string table = text_of(folder_ / "r" / "jobs.csv");
  EXPECT_NE(table.find(",expected_turnaround_s,requeues\n1,"), std::string::npos) << table;
  EXPECT_EQ(std::ranges::count(table, '\n'), 6);
  for (const char* end : {",1\n2,t.swf", ",0\n3,t.swf"}) EXPECT_NE(table.find(end), std::string::npos) << end << table;
  expect_says("why r 1", 0,
              {"ran, and was lost: node 1 went down: disk", "node 1 is down until 20 s: disk",
               "by the estimates it could start at 00:00:20"});
  expect_says("rerun r", 0, {"byte for byte"});
}

TEST_F(NodesOption, ARepetitionOfALossIsTheSame) {
  ASSERT_EQ(replay(kSimulate + "--out r").status, 1);
  EXPECT_EQ(text_of(folder_ / "r" / "jobs.csv").find("requeues"), std::string::npos);
  expect_says("rerun r --out again", 0, {"byte for byte"});
}

TEST_F(NodesOption, ANodeThatGoesDownAgainAndAgainIsNamed) {
  write_text(folder_ / "t.nodes.csv", "time,nodes,state,until\n2,n1,down,20\n30,n1,down,40\n31,n0,down,40\n");
  expect_says(kSimulate + "--requeue-lost --out r", 0, {"easy: down again and again: node 1 2 times\n"});
}

TEST_F(NodesOption, EveryPolicyHasThem) {
  ASSERT_EQ(replay("simulate --trace t.swf --machine 2x1x2 --policy easy,fcfs --out r").status, 1);
  EXPECT_EQ(metric("r/easy/metrics.json", "jobs_lost"), 1);
  EXPECT_EQ(metric("r/fcfs/metrics.json", "jobs_lost"), 1);
  expect_says("why r/easy 1", 0, {"; it was lost at "});
  for (const char* schedule : {"r/easy", "r/easy/jobs.csv"})
    expect_says(std::string{"audit --rule easy "} + schedule, 1,
                {"expected a run in which all nodes were up, found node events"});
}

TEST_F(NodesOption, JobsThatNeverFitWhatIsLeftAreCancelledAndTheStatusIsOne) {
  write_text(folder_ / "t.nodes.csv", "time,nodes,state\n2,n1,down\n");
  expect_says(kSimulate + "--out r", 1,
              {"no further job was started: 1 job needs more cores than are left: nodes are closed"});
  EXPECT_NE(text_of(folder_ / "r" / "jobs.csv").find("needs 4 cores, 2 are left"), std::string::npos);
}

TEST_F(NodesOption, AMachineWithoutNodesIsRefusedWithTheWaysOut) {
  for (const char* machine : {"", "--machine flat:4 ", "--machine 2x1x2 --flat "})
    expect_says(
        std::string{"simulate --trace t.swf --policy easy "} + machine + "--out r", 1,
        {"t.nodes.csv: has node events, and the machine flat:4 has no nodes: expected one that names them, such as "
         "--machine 4x1x1; --nodes-from none leaves the node events out"});
}

TEST_F(NodesOption, AWrongRowIsNamed) {
  write_text(folder_ / "other.csv", "time,nodes,state\n2,n2,down\n");
  expect_says(kSimulate + "--nodes-from other.csv --out r", 1,
              {"other.csv:2: column nodes: expected nodes of 2x1x2: n0 to n1"});
}

TEST_F(NodesOption, ANewFileBesideTheTraceIsNoInputOfTheRunThatIsRepeated) {
  std::filesystem::rename(folder_ / "t.nodes.csv", folder_ / "away.csv");
  ASSERT_EQ(replay(kSimulate + "--out r").status, 0);
  std::filesystem::rename(folder_ / "away.csv", folder_ / "t.nodes.csv");
  expect_says("rerun r --out again", 1, {"t.nodes.csv: is beside the trace now and was no input of the run"});
}

TEST_F(NodesOption, SeedsHaveAFileEach) {
  write_text(folder_ / "t-1.nodes.csv", kNodes);
  write_text(folder_ / "t-2.nodes.csv", "time,nodes,state\n500,n1,down\n");
  expect_says(kSimulate + "--nodes-from 't-{seed}.nodes.csv' --seeds 1,2 --out r", 0, {"2 seeds"});
}

}  // namespace
}  // namespace replay::test
