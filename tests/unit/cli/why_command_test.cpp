// Tests of `replay why`.
#include <nlohmann/json.hpp>

#include "scheduler/results/event_log_file.hpp"
#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

using namespace std::chrono_literals;
using Why = Comparing;

TEST(TimesForPeople, AreClocksOfTheTrace) {
  const auto clock = [](Duration since_zero) {
    return results::instant_text(Instant{since_zero}, results::TimeStyle::kClock);
  };
  EXPECT_EQ(clock(0s), "00:00:00");
  EXPECT_EQ(clock(12h + 5s + 250ms), "12:00:05.25");
  EXPECT_EQ(clock(75h + 59min + 59s + 1us), "3 03:59:59.000001");
  EXPECT_EQ(clock(-90s), "-00:01:30");
  EXPECT_EQ(results::instant_text(Instant{90500ms}, results::TimeStyle::kSeconds), "90.5 s");
  EXPECT_EQ(results::instant_text(kNever, results::TimeStyle::kClock), "never");
}

TEST_F(Why, TellsTheWaitInSpansAndInAll) {
  simulate_both();
  expect_says(
      "why runs/easy 4", 0,
      {"job 4: 1 core, estimate 8 s, malleable; submitted at 00:00:03", "it started at 00:00:20 on 1 core, after 17 s",
       "00:00:03 .. 00:00:07 (4 s) behind 1 earlier job; needs 1 core: 0 free",
       "00:00:07 .. 00:00:10 (3 s) held back by the policy: 1 free, 1 needed; 1 earlier job waiting",
       "00:00:10 .. 00:00:20 (10 s) waited for 1 core: 0 free; head of the queue since 00:00:10",
       "cores held by job 2 (4 cores, estimated end 00:00:20)", "17.6"});
  expect_says("why runs/easy/events.log 2", 0,
              {"overtaken by 1 job: 3 at 00:00:02 (1 core, estimate 5 s)",
               "waited for 4 cores: between 0 and 1 free; head of the queue"});
  expect_says("why runs/easy 4 --seconds", 0, {"3 s .. 7 s (4 s)"});
  expect_says("why runs/easy 5 --instants", 0, {"00:00:04 .. 00:00:07", "00:00:07 .. 00:00:10"});
  expect_says("why runs/easy 5 --instants --lines 2", 0,
              {"00:00:04 .. 00:00:07", "1 more line", "00:00:10 .. 00:00:20"});
}

TEST_F(Why, JobsThatDidNotWaitHaveASentence) {
  simulate_both();
  for (const int job : {1, 3}) {
    const ShellResult result = replay("why runs/easy " + std::to_string(job));
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.out.find("it started at once"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("in all"), std::string::npos) << result.out;
  }
}

TEST_F(Why, TellsWhyAJobGotItsSize) {
  const auto log = [this](const std::string& choice) {
    write_text(folder_ / "events.log",
               "#replay-events 1\n#body sim\n#machine flat:8\n#policy scojo-p\n"
               "0 submit job=1 processes=8 estimate=100 runtime=100 flexibility=moldable\n"
               "0 start job=1 cores=6 mpl=1 processes=6" +
                   choice + "\n0 launch job=1 cores=6 mpl=1 processes=6\n");
  };
  log(" optimal=8 modifier=0.75 load=0.934 ideal=0.9 horizon=2400");
  expect_says("why events.log 1", 0,
              {"it got 6 processes instead of 8, its optimum; modifier 0.75: predicted load 0.93 over the next 40 min, "
               "ideal 0.90"});
  const auto size = nlohmann::json::parse(replay("why events.log 1 --json").out).at("size");
  EXPECT_EQ(size.at("given"), 6);
  EXPECT_EQ(size.at("optimal"), 8);
  EXPECT_EQ(size.at("predicted_load"), 0.934);
  log(" optimal=6");
  expect_says("why events.log 1", 0, {"it got 6 processes, its optimum (8 submitted)\n"});
  log(" optimal=7");
  expect_says("why events.log 1", 0, {"it got 6 processes instead of 7, its optimum (8 submitted)\n"});
  log("");
  EXPECT_EQ(replay("why events.log 1").out.find("it got"), std::string::npos);
}

TEST_F(Why, JobsThatNeverStartedHaveASentence) {
  write_text(folder_ / "events.log",
             "#replay-events 1\n#body live\n#machine flat:4\n#policy easy\n"
             "0 submit job=1 processes=9 estimate=5 runtime=5 flexibility=rigid\n"
             "0 finish job=1 outcome=rejected reason=\"needs 9 cores, the machine has 4\"\n"
             "0 submit job=2 processes=1 estimate=5 runtime=5 flexibility=rigid\n"
             "4 finish job=2 outcome=cancelled\n"
             "5 submit job=3 processes=1 estimate=5 runtime=5 flexibility=rigid\n"
             "6 note text=\"the end\"\n");
  expect_says("why . 1", 0, {"it was rejected and never waited: needs 9 cores, the machine has 4"});
  expect_says("why . 2", 0, {"it was cancelled at 00:00:04 and never started", "held back"});
  expect_says("why . 3", 0, {"it had not started when the log ends, at 00:00:06, after 1 s"});
}

TEST_F(Why, JsonSaysTheSame) {
  simulate_both();
  const auto json = nlohmann::json::parse(replay("why runs/easy 4 --json").out);
  EXPECT_EQ(json["waited_s"], 17);
  EXPECT_EQ(json["waited_by_cause_s"]["held-back"], 3);
  ASSERT_EQ(json["segments"].size(), 3u);
  EXPECT_EQ(json["segments"][2]["cause"], "cores");
  EXPECT_EQ(json["segments"][2]["earliest_start_by_estimates_s"]["first"], 20);
  EXPECT_EQ(json["segments"][0]["largest_holders"][0]["job"], 1);
}

TEST_F(Why, WrongUseIsNamed) {
  simulate_both();
  expect_says("why runs/easy 6", 1, {"no job 6", "5 jobs from 1 to 5"});
  expect_says("why runs/easy 99999999999999999999", 2, {"JOB"});
  expect_says("why runs/easy four", 2, {"JOB", "four"});
  expect_says("why runs/easy", 2, {"JOB"});
  expect_says("why runs 1", 1, {"runs/easy", "runs/fcfs"});
  expect_says("why nowhere 1", 1, {"nowhere"});
}

}  // namespace
}  // namespace replay::test
