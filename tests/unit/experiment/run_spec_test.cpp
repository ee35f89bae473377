// Tests of runs as values: their words are read back as the same value, and wrong words are named.
#include "scheduler/experiment/run_spec.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"

namespace replay::experiment {
namespace {

using Words = std::vector<std::string>;

RunSpec spec_of(const Words& words) { return parse(words); }

std::string problem_in(const Words& words) {
  try {
    (void)parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

// Draws runs of which every member may be other than usual.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  RunSpec spec() {
    RunSpec run;
    run.world = of({World::kSimulated, World::kLive, World::kService});
    run.trace = text();
    run.jobs_from = text();
    run.nodes_from = text();
    if (coin()) run.cleaning = {{"oversize", "clamp"}, {"cpu-use", "0.5"}, {"closed-loop", "on"}};
    run.strict = coin();
    if (coin()) run.scale_from = of({0.0, 1.0, 64.0, 2.5, 1e7});
    if (coin()) run.until = Duration{1 + number(1'000'000'000'000)};
    if (coin()) run.until = std::chrono::minutes{1 + number(10'000)};
    run.machine = text();
    run.flat = coin();
    if (coin()) run.policies = {"easy", "dynp:decider={preferred:policy=sjf,threshold=5}", "slack:sf=2:awt=60/120"};
    run.runtime_model = text();
    run.profile = text();
    run.pairs = text();
    run.errors = {of({0.0, 0.1, 10.0}), of({0.0, 1.0 / 3})};
    run.overrun = of({Overrun::kKill, Overrun::kExtend, Overrun::kPolicy});
    run.requeues_lost = coin();
    run.seed = static_cast<std::uint64_t>(number(1'000'000'000'000'000'000));
    run.outputs = text();
    run.node.smt = coin();
    run.node.back_end = of({launcher::BackEnd::kAuto, launcher::BackEnd::kYield, launcher::BackEnd::kToken});
    run.node.quantum = Duration{1'000 + number(999'000)};
    run.node.turn = coin() ? Duration::zero() : Duration{1'000 + number(999'000)};
    run.node.job_network = of({launcher::JobNetwork::kOwn, launcher::JobNetwork::kHost});
    run.node.agent_key = text();
    run.time_scale = of({1.0, 1e-6, 0.05, 1000.0, 1.0 / 7});
    run.pairing = of({Pairing::kBlock, Pairing::kCyclic});
    run.label = coin();
    run.program = text();
    run.programs_from_trace = coin();
    return run;
  }

 private:
  std::int64_t number(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>{0, most}(random_); }
  bool coin() { return number(1) == 1; }
  template <class Value>
  Value of(std::initializer_list<Value> values) {
    return values.begin()[number(static_cast<std::int64_t>(values.size()) - 1)];
  }
  std::string text() { return of<std::string>({"", "a", "two words", "--trace", "-", "x=y", "it's {seed}"}); }

  std::mt19937 random_;
};

TEST(RunSpec, IsReadBackFromItsWords) {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    const RunSpec run = Draw{seed}.spec();
    const Words words = to_words(run);
    ASSERT_TRUE(parse(words) == run) << seed << fmt::format(": {}", fmt::join(words, " "));
  }
}

TEST(RunSpec, WhatIsAsUsualHasNoWords) {
  EXPECT_EQ(to_words({}), Words{});
  EXPECT_EQ(to_words(spec_of({"simulate", "--seed", "1", "--overrun=kill", "--turn", "40ms"})), Words{"simulate"});
}

TEST(RunSpec, HasTheValuesOfItsWords) {
  const RunSpec run = spec_of({"simulate", "--trace", "t.swf", "--policy", "easy,fcfs", "--until=2h", "--scale-sizes",
                               "auto", "--oversize=clamp", "--strict", "--overrun", "extend", "--seed=7"});
  EXPECT_EQ(run.world, World::kSimulated);
  EXPECT_EQ(run.policies, (Words{"easy", "fcfs"}));
  EXPECT_EQ(run.until, std::chrono::hours{2});
  EXPECT_EQ(run.scale_from, 0);
  EXPECT_EQ(run.cleaning.at("oversize"), "clamp");
  EXPECT_TRUE(run.strict);
  EXPECT_EQ(run.overrun, Overrun::kExtend);
  EXPECT_EQ(run.seed, 7u);
}

TEST(RunSpec, WrongWordsAreNamed) {
  for (const auto& [words, problem] : std::vector<std::pair<Words, const char*>>{
           {{"simulate", "--until", "soon"}, "--until: expected a duration such as 90s, 5min or 2h, found 'soon'"},
           {{"--scale-sizes", "0"}, "--scale-sizes: expected auto or a count of cores >= 1, found '0'"},
           {{"--time-scale", "0"}, "--time-scale: expected a number from 1e-06 to 1000, found '0'"},
           {{"--quantum", "2s"}, "--quantum: expected a duration from 1ms to 1s, found '2s'"},
           {{"--turn", "10us"}, "--turn: expected 0 or a duration from 1ms to 1s, found '10us'"},
           {{"--seed", "-1"}, "--seed: expected a number from 0 to 18446744073709551615, found '-1'"},
           {{"--curve-error", "11"}, "--curve-error: expected a number from 0 to 10, found '11'"},
           {{"--overrun", "stop"}, "--overrun: expected one of kill,extend,policy, found 'stop'"},
           {{"--trace"}, "--trace: expected a value"},
           {{"run", "./a.out"}, "there is no option 'run'"},
           {{"--out", "r"}, "there is no option '--out'"}})
    EXPECT_EQ(problem_in(words), problem);
  EXPECT_NE(problem_in({"--oversize=wide"}).find("wide"), std::string::npos);
}

TEST(WithUnit, TakesTheLargestUnitThatIsWhole) {
  using namespace std::chrono_literals;
  for (const auto& [duration, text] : std::vector<std::pair<Duration, const char*>>{
           {0s, "0"}, {90s, "90s"}, {300s, "5min"}, {2h, "2h"}, {48h, "2d"}, {40ms, "40ms"}, {1500us, "0.0015s"}}) {
    EXPECT_EQ(with_unit(duration), text);
    EXPECT_EQ(parse_duration(text), duration);
  }
}

}  // namespace
}  // namespace replay::experiment
