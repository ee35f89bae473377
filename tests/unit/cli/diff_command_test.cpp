// Tests of `replay diff`.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

using Diff = Comparing;

TEST_F(Diff, ARunIsTheSameAsItself) {
  simulate_both();
  expect_says("diff runs/easy runs/easy", 0, {"the same: 5 decisions, 5 jobs"});
  expect_says("diff runs/easy runs/easy/events.log", 0, {"the same"});
}

TEST_F(Diff, NamesTheFirstDecisionAndTheStateBefore) {
  simulate_both();
  expect_says("diff runs/easy runs/fcfs", 1,
              {"they part at 2 s", "at job 3", "A starts job 3 on 1 core", "it starts job 3 on 1 core at 20 s",
               "A 1 of 4 cores free, 1 running, 2 waiting; queue (cores x estimate): 2 (4 x 10 s), 3 (1 x 5 s)",
               "1 of 5 jobs that ran in both start at another instant", "wait s"});
}

TEST_F(Diff, JsonSaysTheSame) {
  simulate_both();
  const auto json = nlohmann::json::parse(replay("diff runs/easy runs/fcfs --json").out);
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["first_difference"]["at_s"], 2);
  EXPECT_EQ(json["first_difference"]["job"], 3);
  EXPECT_EQ(json["first_difference"]["a"]["did"][0]["decision"], "start");
  EXPECT_EQ(json["first_difference"]["b"]["decision"]["at_s"], 20);
  EXPECT_EQ(json["first_difference"]["b"]["before"]["queue"][0]["job"], 2);
  EXPECT_EQ(json["jobs"]["start_differs"], 1);
  EXPECT_EQ(json["jobs"]["largest"][0]["job"], 3);
}

TEST_F(Diff, ToleranceMakesCloseRunsTheSame) {
  simulate_both();
  expect_says("diff runs/easy runs/fcfs --tolerance 17.9", 1, {"they part at 2 s"});
  expect_says("diff runs/easy runs/fcfs --tolerance 18", 0, {"the same within 18 s"});
}

TEST_F(Diff, MaxLimitsTheJobsThatAreShown) {
  simulate_both();
  EXPECT_NE(replay("diff runs/easy runs/fcfs").out.find("start A"), std::string::npos);
  EXPECT_EQ(replay("diff runs/easy runs/fcfs --max 0").out.find("start A"), std::string::npos);
}

TEST_F(Diff, OtherTracesAndMachinesAreSaidFirst) {
  simulate_both();
  write_text(folder_ / "u.swf", std::string{kFiveJobs} + "6 9 -1 2 2 -1 -1 2 2 -1 1 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_EQ(replay("simulate --trace u.swf --policy easy --machine flat:8 --out u").status, 0);
  expect_says("diff runs/easy u", 1,
              {"the runs differ in their trace: t.swf and u.swf", "machine: flat:4 and flat:8",
               "5 jobs in both; 0 in A only, 1 in B only"});
}

TEST_F(Diff, RunsWithoutACommonJobAreRefused) {
  simulate_both();
  write_text(folder_ / "u.swf", "; MaxProcs: 4\n77 0 -1 10 3 -1 -1 3 10 -1 1 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_EQ(replay("simulate --trace u.swf --policy easy --out u").status, 0);
  expect_says("diff runs/easy u", 2, {"share no job", "t.swf", "u.swf"});
}

TEST_F(Diff, TroubleIsNoDifference) {
  simulate_both();
  write_text(folder_ / "broken.log",
             "#replay-events 1\n#machine flat:4\n0 start job=1 cores=3 mpl=1\n0 launch job=1 x\n");
  expect_says("diff runs/easy nowhere", 2, {"nowhere", "found nothing"});
  expect_says("diff runs/easy runs", 2, {"runs/easy", "runs/fcfs", "expected one of them"});
  expect_says("diff runs/easy .", 2, {"no events.log"});
  expect_says("diff runs/easy broken.log", 2, {"broken.log:3", "never submitted"});
  expect_says("diff runs/easy", 2, {"expected B, the second run"});
  expect_says("diff runs/easy runs/fcfs --tolerance soon", 2, {"--tolerance", "'soon'"});
  expect_says("diff runs/easy runs/fcfs --tolerance=-1", 2, {"--tolerance", "'-1'"});
}

TEST_F(Diff, ALogThatWasCutOffIsComparedAsFarAsItGoes) {
  simulate_both();
  const std::string whole = text_of(folder_ / "runs" / "easy" / "events.log");
  write_text(folder_ / "cut.log", whole.substr(0, whole.find("10 finish") + 4));
  expect_says("diff runs/easy cut.log", 1, {"cut off", "they part at 10 s"});
}

}  // namespace
}  // namespace replay::test
