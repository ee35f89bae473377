// Tests of `replay simulate --seeds` and of the table that it prints.
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/placeholders.hpp"
#include "scheduler/experiment/seeds/seeds.hpp"
#include "tests/support/background.hpp"
#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

class Seeds : public Comparing {
 protected:
  // t-1.swf to t-N.swf
  void generate(int count) {
    for (int seed = 1; seed <= count; ++seed) {
      const std::string number = std::to_string(seed);
      ASSERT_EQ(
          replay("generate lublin --jobs 60 --load 1.2 --machine-size 16 --seed " + number + " -o t-" + number + ".swf")
              .status,
          0);
    }
  }
  nlohmann::json result_of(const std::string& options) {
    const ShellResult result = replay("simulate --trace 't-{seed}.swf' --json " + options);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }
};

TEST(SeedList, TakesNumbersAndRanges) {
  using List = std::vector<std::uint64_t>;
  EXPECT_EQ(experiment::parse_seeds("1-4"), (List{1, 2, 3, 4}));
  EXPECT_EQ(experiment::parse_seeds("1,3,7"), (List{1, 3, 7}));
  EXPECT_EQ(experiment::parse_seeds("1-3,9"), (List{1, 2, 3, 9}));
  EXPECT_EQ(experiment::parse_seeds("18446744073709551614-18446744073709551615").size(), 2u);
  for (const char* wrong : {"", "x", "1", "5-3", "1,1", "1-3,2", "1-", "-3", "1,,2", "1,", "1-99999999", "1.5,2",
                            "1-2-3", "0-18446744073709551615"})
    EXPECT_THROW((void)experiment::parse_seeds(wrong), UsageError) << wrong;
}

TEST(SeedMark, IsReplacedWhereverItStands) {
  EXPECT_EQ(with_seed("a-{seed}/b{seed}.swf", 12), "a-12/b12.swf");
  EXPECT_EQ(with_seed("a.swf", 12), "a.swf");
}

// Each value equals that of a run with that seed alone, and the mean is the mean of these.
TEST_F(Seeds, AreRunsOfTheirOwnAndTheirMean) {
  generate(3);
  const auto json = result_of("--seeds 1-3 --policy easy,fcfs");
  ASSERT_EQ(json["policies"].size(), 2u);
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string trace = "t-" + std::to_string(i + 1) + ".swf";
    const auto one = nlohmann::json::parse(replay("simulate --json --outputs none --policy easy --trace " + trace).out);
    EXPECT_EQ(json["policies"][0]["metrics"]["mean_wait"]["values"][i], one[0]["metrics"]["mean_wait"]) << trace;
    sum += one[0]["metrics"]["mean_wait"].get<double>();
  }
  EXPECT_DOUBLE_EQ(json["policies"][0]["metrics"]["mean_wait"]["mean"].get<double>(), sum / 3);
  EXPECT_GT(json["policies"][0]["metrics"]["mean_wait"]["half_width"].get<double>(), 0);
  EXPECT_FALSE(json["policies"][0].contains("difference_percent"));
  EXPECT_TRUE(json["policies"][1]["difference_percent"]["mean_wait"]["mean"].is_number());
}

TEST_F(Seeds, ResultsDoNotDependOnTheNumberOfCores) {
  generate(6);
  const std::string run = "simulate --trace 't-{seed}.swf' --seeds 1-6 --policy easy,fcfs,fcfs-malleable --jobs ";
  const ShellResult one = replay(run + "1"), many = replay(run + "8");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, many.out);
  EXPECT_NE(one.out.find("6 seeds"), std::string::npos);
  EXPECT_NE(one.out.find("% to easy"), std::string::npos);
}

TEST_F(Seeds, TrimmingDropsTheSmallestAndTheLargestOfEachMetric) {
  generate(5);
  const auto json = result_of("--seeds 1-5 --policy easy --trim");
  auto values = json["policies"][0]["metrics"]["mean_wait"]["values"].get<std::vector<double>>();
  std::ranges::sort(values);
  EXPECT_NEAR(json["policies"][0]["metrics"]["mean_wait"]["mean"].get<double>(),
              (values[1] + values[2] + values[3]) / 3, 1e-9 * values[3]);
}

TEST_F(Seeds, WriteASummaryAndRunsOnlyWhenAsked) {
  generate(2);
  const std::string run = "simulate --trace 't-{seed}.swf' --seeds 1-2 --policy easy,fcfs";
  ASSERT_EQ(replay(run).status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
  ASSERT_EQ(replay(run + " --out s").status, 0);
  EXPECT_FALSE(text_of(folder_ / "s" / "seeds.json").empty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "s" / "seed-1"));
  ASSERT_EQ(replay(run + " --out s --force --outputs all").status, 0);
  EXPECT_FALSE(text_of(folder_ / "s" / "seed-2" / "fcfs" / "events.log").empty());
  expect_says("rerun s/seed-2/fcfs --out again", 0, {"byte for byte"});
}

TEST_F(Seeds, OfCtrlCLeaveOnlyRunsThatAreComplete) {
  generate(1);
  Background command(REPLAY_PROGRAM,
                     {"simulate", "--trace", (folder_ / "t-1.swf").string(), "--seeds", "1-5000", "--policy",
                      "easy,fcfs-malleable", "--outputs", "all", "--jobs", "2", "--out", (folder_ / "s").string()},
                     folder_ / "out", folder_ / "err");
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(folder_ / "s/seed-3/easy"); })) << command.err();
  command.send(SIGINT);
  EXPECT_EQ(command.wait(), 130);
  EXPECT_EQ(command.err(), "replay: interrupted: there is no result over all seeds\n");
  for (const auto& seed : std::filesystem::directory_iterator{folder_ / "s"}) {
    ASSERT_TRUE(seed.path().filename().string().starts_with("seed-")) << seed.path();
    for (const auto& run : std::filesystem::directory_iterator{seed.path()})
      EXPECT_NE(text_of(run.path() / "run.json").find("\"interrupted\": false"), std::string::npos) << run.path();
  }
}

TEST_F(Seeds, WithoutAnyEffectAreRefused) {
  expect_says("simulate --trace t.swf --seeds 1-3 --policy easy --runtime-model isolated", 2,
              {"nothing in this run depends on the seed", "{seed}", "replay generate"});
  expect_says("simulate --trace t.swf --seeds 1-3 --policy easy,fcfs", 2,
              {"every seed gives the same result", "replay generate"});
}

TEST_F(Seeds, OfDrawnNetworkOverheadsMatterToPoliciesThatShrink) {
  generate(1);
  expect_says("simulate --trace t-1.swf --seeds 1-3 --policy easy,fcfs-malleable", 0, {"easy: the same for each seed"});
}

TEST_F(Seeds, WrongUseIsNamed) {
  generate(2);
  const std::string run = "simulate --policy easy --trace ";
  expect_says(run + "'t-{seed}.swf' --seeds 1-3", 1, {"t-3.swf", "seed 3"});
  expect_says(run + "'t-{seed}.swf' --seeds 1-2 --seed 4", 2, {"--seed"});
  expect_says(run + "'t-{seed}.swf' --seeds 1-2 --trim", 2, {"--trim", "at least 4"});
  expect_says(run + "t-1.swf --trim", 2, {"--trim", "--seeds"});
  expect_says(run + "- --seeds 1-2", 2, {"standard input"});
  expect_says(run + "'t-{seed}.swf' --seeds one", 2, {"--seeds", "'one'", "1-20"});
  expect_says("simulate --trace 't-{seed}.swf' --seeds 1-2", 2, {"--policy"});
  expect_says("simulate --policy easy --seeds 1-2", 2, {"--trace"});
  expect_says("simulate --policy esy --trace 't-{seed}.swf' --seeds 1-2", 2, {"esy"});
}

}  // namespace
}  // namespace replay::test
