// Tests of `replay trace forecast`, and of runs under a policy that reads its file.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

class ForecastCommand : public Comparing {
 protected:
  // The workload W1 of docs/workloads.md, shorter.
  void make_w1(int seed) {
    const std::string n = std::to_string(seed), replay = REPLAY_PROGRAM;
    const ShellResult result = shell(replay + " generate lublin --jobs 400 --aarr 10.23 --seed " + n + " | " + replay +
                                         " trace declare - --speedup three-point -o w1-" + n + ".swf",
                                     folder_.path());
    ASSERT_EQ(result.status, 0) << result.err;
  }
  [[nodiscard]] std::string schedule(const std::string& run) { return text_of(folder_ / run / "schedule.swf"); }
};

TEST_F(ForecastCommand, PrintsATableOrWritesAFile) {
  expect_says("trace forecast t.swf", 0,
              {"t.swf: 4 jobs on 4 processors", "class", "T(N_opt) s", "short      4", "medium     0", "23:30"});
  expect_says("trace forecast t.swf -o t.forecast.json", 0, {"t.forecast.json: 4 jobs learned from t.swf"});
  const auto json = nlohmann::json::parse(text_of(folder_ / "t.forecast.json"));
  EXPECT_EQ(json["trained_on"]["trace"], "t.swf");
  EXPECT_EQ(json["trained_on"]["sha256"], shell("sha256sum <t.swf", folder_.path()).out.substr(0, 64));
  EXPECT_EQ(json["classes"]["short"]["mean_optimum"], (3 + 4 + 1 + 1) / 4.0);
  EXPECT_EQ(json["slots"][0],
            (nlohmann::json{{"time", "00:00"}, {"watched_s", 4.0}, {"short", 4}, {"medium", 0}, {"long", 0}}));
  expect_says("trace forecast t.swf -o t.forecast.json", 1, {"t.forecast.json: exists already: --force replaces it"});
  expect_says("trace forecast t.swf -o t.forecast.json --force", 0, {});
}

TEST_F(ForecastCommand, WrongUseIsSaidSo) {
  expect_says("trace forecast -", 2, {"expected the trace in a file", "standard input"});
  expect_says("trace forecast t.swf -o t.swf --force", 2, {"--output t.swf: is a file of the trace"});
  expect_says("trace forecast none.swf", 1, {"none.swf"});
  write_text(folder_ / "one.swf", "; MaxProcs: 4\n1 0 -1 10 3 -1 -1 3 10 -1 1 1 1 -1 -1 -1 -1 -1\n");
  expect_says("trace forecast one.swf", 1, {"one.swf: expected jobs that are submitted at two instants", "1 job"});
  EXPECT_EQ(text_of(folder_ / "t.swf"), kFiveJobs);
}

TEST_F(ForecastCommand, ATrainingFileIsNotTheTraceUnderTest) {
  ASSERT_EQ(replay("trace forecast t.swf -o t.forecast.json").status, 0);
  const std::string policy = " --policy scojo-p:predict=t.forecast.json,easy";
  write_text(folder_ / "copy.swf", kFiveJobs);
  for (const char* run : {"simulate", "--dry-run --machine emulated:1x1x4", "validate --machine emulated:1x1x4"}) {
    for (const char* trace : {"t.swf", "copy.swf"})
      expect_says(std::string{run} + " --trace " + trace + policy, 1,
                  {"t.forecast.json: was learned from t.swf, and ", trace, " is the same file (SHA-256 "});
  }
  write_text(folder_ / "t-1.swf", kFiveJobs);
  write_text(folder_ / "t-2.swf", std::string{"; Note: another one\n"} + kFiveJobs);
  expect_says("simulate --trace 't-{seed}.swf' --seeds 1,2" + policy, 1, {"and t-1.swf is the same file"});
  expect_says("simulate --trace 't-{seed}.swf' --seeds 2,1" + policy, 1, {"and t-1.swf is the same file"});
  expect_says("simulate --trace t-2.swf" + policy, 0, {"scojo-p"});
  const ShellResult piped = replay("simulate --trace -" + policy + " <t-2.swf");
  EXPECT_EQ(piped.status, 2);
  EXPECT_NE(piped.err.find("--trace -: expected the trace in a file, which can be told from t.swf"), std::string::npos)
      << piped.err;
}

TEST_F(ForecastCommand, ATrainingMachineIsThatOfTheRun) {
  ASSERT_EQ(replay("trace forecast t.swf -o four.json").status, 0);
  write_text(folder_ / "other.swf", std::string{"; Note: another one\n"} + kFiveJobs);
  expect_says("simulate --trace other.swf --machine flat:8 --policy scojo-p:predict=four.json", 1,
              {"four.json: was learned from t.swf on a machine of 4 processors: expected 8", "--machine-size 8"});
  ASSERT_EQ(replay("trace forecast t.swf --machine-size 8 -o eight.json").status, 0);
  expect_says("simulate --trace other.swf --machine flat:8 --policy scojo-p:predict=eight.json", 0, {"scojo-p"});
}

TEST_F(ForecastCommand, ChangesTheSizesOfAnotherWorkload) {
  make_w1(1);
  make_w1(2);
  const std::string run = "simulate --runtime-model speedup --trace w1-2.swf --policy scojo-p:predict=";
  ASSERT_EQ(replay(run + "off --out before").status, 0);
  ASSERT_EQ(replay("trace forecast w1-1.swf -o w1-1.forecast.json").status, 0);
  ASSERT_EQ(replay("trace forecast w1-1.swf -o w1-2.forecast.json").status, 0);
  ASSERT_EQ(replay(run + "off --out off").status, 0);
  ASSERT_EQ(replay(run + "past --out past").status, 0);
  ASSERT_EQ(replay(run + "w1-1.forecast.json --out trained").status, 0);
  EXPECT_EQ(schedule("off"), schedule("before")) << "a file beside the trace does not count by itself";
  EXPECT_NE(schedule("trained"), schedule("off"));
  EXPECT_NE(schedule("trained"), schedule("past"));

  const auto json = nlohmann::json::parse(text_of(folder_ / "trained/run.json"));
  EXPECT_EQ(json["parameters"]["predict"], "w1-1.forecast.json");
  bool is_input = false;
  for (const auto& input : json["inputs"]) is_input = is_input || input["path"] == "w1-1.forecast.json";
  EXPECT_TRUE(is_input) << json["inputs"];
  expect_says("rerun trained --out again", 0, {"the same, byte for byte"});
  std::filesystem::create_directory(folder_ / "elsewhere");
  EXPECT_EQ(replay("rerun ../trained --out again", "elsewhere").status, 0) << "paths are those of the first run";
  ASSERT_EQ(replay("trace forecast w1-1.swf --machine-size 128 --cancelled skip -o w1-1.forecast.json --force").status,
            0);
  write_text(folder_ / "w1-1.forecast.json", text_of(folder_ / "w1-1.forecast.json") + "\n");
  expect_says("rerun trained --out third", 1, {"w1-1.forecast.json: has changed since the run"});
}

}  // namespace
}  // namespace replay::test
