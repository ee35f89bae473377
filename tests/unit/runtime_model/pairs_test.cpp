// Tests of the model `pairs`, of the file with slowdowns of pairs, and of models that are joined.
#include "scheduler/runtime_model/pairs.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/model/contention.hpp"
#include "scheduler/runtime_model/profile.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::test {
namespace {

// Nodes of two packages of two cores.
class PairsOnNodes : public testing::Test {
 protected:
  double slowdown(const RuntimeModel& model, const Allocation& on, std::vector<const ModelledJob*> others = {}) {
    const Surroundings around{.on_its_nodes = others, .machine = &machine_};
    return model.slowdown(job_, on, around);
  }
  static Allocation on(std::vector<std::pair<int, int>> loads) {
    Allocation allocation;
    for (const auto& [core, processes] : loads) allocation.named.push_back({CoreId{core}, processes});
    allocation.cores = static_cast<CoreCount>(loads.size());
    return allocation;
  }

  Machine machine_ = Machine::cluster(2, 2, 2);
  Declaration declared_ = [] {
    Declaration declaration;
    declaration.same_cpu_slowdown = 1.5;
    declaration.same_node_slowdown = 1.2;
    declaration.pair_key = 11;
    return declaration;
  }();
  Declaration other_declared_ = [] {
    Declaration declaration;
    declaration.pair_key = 22;
    return declaration;
  }();
  ModelledJob job_{.id = JobId{1}, .declaration = &declared_};
  ModelledJob other_{.id = JobId{2}, .declaration = &other_declared_};
  ModelledJob third_{.id = JobId{3}};
};

TEST_F(PairsOnNodes, ANodeHasItsOwnPackages) {
  machine_ = Machine::parse("1x1x4+1x2x1");
  const auto model = make_runtime_model("pairs");
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}, {3, 1}})), 1.2 * 1.5) << "on the one package of node 0";
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{4, 1}, {5, 1}})), 1.2) << "on both packages of node 1";
}

TEST_F(PairsOnNodes, OwnProcessesCostByHowTheyLie) {
  const auto model = make_runtime_model("pairs");
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}, {4, 1}})), 1) << "one process a node";
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}, {2, 1}})), 1.2) << "on two packages of a node";
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}, {1, 1}})), 1.2 * 1.5) << "on one package";
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}, {4, 1}, {5, 1}})), 1.2 * 1.5) << "the slowest node counts";
}

TEST_F(PairsOnNodes, TheWorstNeighbourCounts) {
  PairTable table;
  EXPECT_TRUE(table.add(JobId{1}, JobId{2}, 1.3));
  EXPECT_TRUE(table.add(JobId{2}, JobId{1}, 1.9)) << "the other way round is another pair";
  EXPECT_FALSE(table.add(JobId{1}, JobId{2}, 1.4));
  const auto model = make_runtime_model("pairs", {.pairs = &table});
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}}), {&other_}), 1.3);
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}}), {&third_, &other_}), 1.3);
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}}), {&third_}), 1) << "a pair that is not listed";
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}, {1, 1}}), {&other_}), 1.2 * 1.5 * 1.3);
  job_.slowdown_power = 2;
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}}), {&other_}), 1.3 * 1.3) << "the truth, where it is misjudged";
}

TEST_F(PairsOnNodes, WithoutATableTheKeysOfBothDraw) {
  const auto model = make_runtime_model("pairs");
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}}), {&other_}), co_scheduling_slowdown(11, 22));
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}}), {&third_}), 1) << "it has no key";
}

TEST_F(PairsOnNodes, MeasuredPairsGoBeforeKeys) {
  Profile profile;
  for (const char* name : {"cg", "ep"}) {
    ProfileEntry entry;
    entry.benchmark = name;
    entry.problem_class = "W";
    entry.processes = 2;
    profile.entries.push_back(entry);
  }
  profile.pairs = {{"cg", "W", "ep", "W", 2, {1.7, 0, 3}}, {"cg", "W", "ep", "W", 4, {9, 0, 3}}};
  const auto model = make_runtime_model("calibrated+pairs", {.profile = &profile});
  job_.behaviour.application = 0;
  other_.behaviour.application = 1;
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}}), {&other_}), 1.7) << "measured at its own size";
  other_.behaviour.application = 0;
  EXPECT_DOUBLE_EQ(slowdown(*model, on({{0, 1}}), {&other_}), co_scheduling_slowdown(11, 22)) << "not measured";
}

TEST_F(PairsOnNodes, JoinedModelsMultiply) {
  PairTable table;
  table.add(JobId{1}, JobId{2}, 1.5);
  const auto model = make_runtime_model("isolated+pairs", {.pairs = &table});
  job_.declaration = nullptr;
  job_.behaviour.cpu_use = 0.75;
  Allocation shrunk = on({{0, 2}});
  shrunk.mpl = 2;
  EXPECT_DOUBLE_EQ(slowdown(*model, shrunk, {&other_}), 1.5 * 1.5);
  EXPECT_TRUE(model->allows_sharing());
  EXPECT_TRUE(model->looks_at_nodes());
  EXPECT_FALSE(make_runtime_model("pairs")->allows_sharing());
  EXPECT_FALSE(make_runtime_model("rigid+pairs")->allows_sharing());
}

TEST(JoinedModels, ThatAnswerForTheSameAreRefused) {
  for (const char* name : {"isolated+utrera", "pairs+pairs", "speedup+isolated"})
    EXPECT_THROW((void)make_runtime_model(name), UsageError) << name;
  EXPECT_THROW((void)make_runtime_model("isolated+"), UsageError);
  EXPECT_TRUE(names_model("isolated+pairs", "pairs"));
  EXPECT_FALSE(names_model("isolated", "pairs"));
}

TEST(Speedup, OnFewerOrMoreCoresIsThatOfTheCurve) {
  Declaration declared;
  declared.speedup = SpeedupCurve{ThreePointSpeedup{.optimum = 4}};
  const auto model = make_runtime_model("speedup");
  Allocation on;
  on.cores = 2;
  on.mpl = 2;
  EXPECT_DOUBLE_EQ(model->slowdown({.processes = 4, .declaration = &declared}, on, {}), 2.6 / 1.6);
  EXPECT_DOUBLE_EQ(model->slowdown({.processes = 4}, on, {}), 2) << "linear without a curve";
  on.cores = 8;
  on.mpl = 1;
  EXPECT_DOUBLE_EQ(model->slowdown({.processes = 4, .declaration = &declared}, on, {}), 2.6 / 3.2) << "or on more";
  EXPECT_THROW((void)model->slowdown({.processes = 4}, on, {.demand = 0.5}), UsageError);
}

std::string error_of(const std::string& text) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "t.pairs.csv";
  std::ofstream{file} << text;
  try {
    (void)read_pairs(file.string());
  } catch (const InputError& error) {
    return std::string{error.what()}.substr(folder.path().string().size() + 1);
  }
  return "";
}

TEST(PairsFile, IsReadAndItsErrorsNameTheLine) {
  EXPECT_EQ(error_of("job,beside,slowdown\n1,2,1.5\n\n2,1,0.9\n"), "");
  EXPECT_EQ(error_of("\"job\",\"beside\",\"slowdown\"\n\"1\",\"2\",\"1.5\"\n"), "");
  EXPECT_EQ(error_of("job,beside\n"), "t.pairs.csv:1: expected the columns job,beside,slowdown, found 'job,beside'");
  EXPECT_EQ(error_of("job,beside,slowdown\n1,2\n"),
            "t.pairs.csv:2: expected three cells job,beside,slowdown, found '1,2'");
  EXPECT_EQ(error_of("job,beside,slowdown\n1,x,2\n"), "t.pairs.csv:2: expected a job number as 'beside', found 'x'");
  EXPECT_EQ(error_of("job,beside,slowdown\n1,2,0\n"),
            "t.pairs.csv:2: expected a slowdown of 0.001 to 1000000 as 'slowdown', found '0'");
  EXPECT_EQ(error_of("job,beside,slowdown\n1,2,1e-308\n"),
            "t.pairs.csv:2: expected a slowdown of 0.001 to 1000000 as 'slowdown', found '1e-308'");
  EXPECT_EQ(error_of("job,beside,slowdown\n1,2,1.5\n1,2,1.5\n"),
            "t.pairs.csv:3: expected each pair once, found '1 beside 2 a second time'");
  EXPECT_EQ(error_of(""), "t.pairs.csv: expected the columns job,beside,slowdown, found nothing");
}

}  // namespace
}  // namespace replay::test
