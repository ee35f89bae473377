// Tests of the calibrated model: it gives the measured figures, and formula (3) where there are none.
#include "scheduler/runtime_model/calibrated.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/runtime_model/overheads.hpp"
#include "tests/unit/runtime_model/model_slowdown.hpp"

namespace replay {
namespace {

using test::slowdown_of;

ProfileEntry entry(const char* name, ProcessCount processes, double cpu_use, double slowdown) {
  ProfileEntry made;
  made.benchmark = name;
  made.problem_class = "W";
  made.command = std::string{name} + " --class W";
  made.processes = processes;
  made.runtime_s = {1, 0, 3};
  made.cpu_use = Figure{cpu_use, 0, 3};
  if (slowdown > 0) made.slowdown_mpl_2 = Figure{slowdown, 0, 3};
  return made;
}

PairSlowdown beside(const char* name, const char* neighbour, ProcessCount processes, double slowdown) {
  return {name, "W", neighbour, "W", processes, {slowdown, 0, 3}};
}

Profile measured() {
  Profile profile;
  profile.entries = {entry("cg", 2, 0.8, 1.76), entry("ep", 2, 0.99, 1.98), entry("is", 2, 0.6, 0)};
  profile.pairs = {beside("cg", "ep", 2, 2.1), beside("cg", "is", 2, 1.5), beside("cg", "ep", 4, 9)};
  return profile;
}

double slowdown(std::int32_t application, int mpl, double demand, double cpu_use = 0.5) {
  const Profile profile = measured();
  return slowdown_of(*make_runtime_model("calibrated", {.profile = &profile}),
                     {.cpu_use = cpu_use, .network_overhead = 0.3, .application = application}, mpl, demand);
}

TEST(Calibrated, IsTheMeasuredFigureAtLevelTwoAndFormula3sShapeBeyond) {
  EXPECT_DOUBLE_EQ(slowdown(0, 1, 0), 1);
  EXPECT_DOUBLE_EQ(slowdown(0, 2, 0), 1.76);
  EXPECT_DOUBLE_EQ(slowdown(0, 4, 0), 1.1 * 4 * 0.8) << "as far above formula (3) as at level two";
  EXPECT_DOUBLE_EQ(slowdown(2, 2, 0), 1.2) << "not measured: formula (3) with the measured CPU utilisation";
}

TEST(Calibrated, KnowsANeighbourByItsDemand) {
  EXPECT_DOUBLE_EQ(slowdown(0, 1, 0.99), 2.1) << "ep, at its own size";
  EXPECT_DOUBLE_EQ(slowdown(0, 1, 0.6), 1.5) << "is";
  EXPECT_NEAR(slowdown(0, 1, 0.795), 1.8, 1e-12) << "half way between the two";
  EXPECT_DOUBLE_EQ(slowdown(0, 1, 2 * 0.99), 2.1 * (0.8 + 1.98) / (0.8 + 0.99)) << "beyond: formula (3)'s shape";
  EXPECT_DOUBLE_EQ(slowdown(0, 1, 0.1), 1.5 / 1.4) << "below: the same, and 0.8 + 0.1 fit on a core";
  EXPECT_DOUBLE_EQ(slowdown(1, 1, 0.8), 0.99 + 0.8) << "nothing was measured beside ep: formula (3), as at level two";
  EXPECT_DOUBLE_EQ(slowdown(0, 2, 0.6), 1.1 * (2 * 0.8 + 0.6)) << "shrunk beside a neighbour";
}

TEST(Calibrated, JobsThatAreNoBenchmarkRunAsIsolated) {
  for (const int mpl : {1, 2, 4})
    for (const double demand : {0.0, 0.7})
      EXPECT_DOUBLE_EQ(slowdown(-1, mpl, demand, 0.7),
                       slowdown_of(*make_runtime_model("isolated"), {0.7, 0.3}, mpl, demand));
}

TEST(Calibrated, IsNeverFasterThanExpandedWhateverWasMeasured) {
  Profile profile = measured();
  profile.entries[0].slowdown_mpl_2->value = 0.9;
  profile.pairs[0].slowdown.value = 0.95;
  const auto model = make_runtime_model("calibrated", {.profile = &profile});
  const Behaviour cg{.application = 0};
  EXPECT_GE(slowdown_of(*model, cg, 2, 0), 1);
  EXPECT_GE(slowdown_of(*model, cg, 1, 0.99), 1);
}

// cg W with two processes runs 1 s on a node, 2 s on two, 4 s on four; launch and end of two processes take 0.5 s, 1 s, 2 s.
Profile measured_over_nodes() {
  Profile profile = measured();
  profile.entries[0].on_more_nodes = {{2, {2, 0, 3}}, {4, {4, 0, 3}}};
  profile.launch = {{1, {0.2, 0, 3}}, {2, {0.4, 0, 3}}};
  profile.end = {{2, {0.1, 0, 3}}};
  profile.shrink = profile.expand = {{2, {0.001, 0, 3}}};
  for (const int nodes : {2, 4}) {
    CostsOnNodes& costs = profile.over_nodes.emplace_back();
    costs.nodes = nodes;
    costs.launch = {{2, {0.4 * nodes, 0, 3}}};
    costs.end = {{2, {0.1 * nodes, 0, 3}}};
    costs.shrink = {{2, {0.01 * nodes, 0, 3}}};
  }
  return profile;
}

// Two processes on the first core of each of these nodes; of one node, on its first two cores.
Allocation on_nodes(std::initializer_list<int> nodes) {
  Allocation on;
  on.cores = 2;
  for (const int node : nodes) on.named.push_back({CoreId{2 * node}, 1});
  if (nodes.size() == 1) on.named.push_back({CoreId{2 * *nodes.begin() + 1}, 1});
  if (nodes.size() > 2) on.cores = static_cast<CoreCount>(nodes.size());
  return on;
}

class OverNodes : public testing::Test {
 protected:
  [[nodiscard]] double slowdown(std::int32_t application, const Allocation& on, Duration runtime = {}) const {
    return model_->slowdown({.processes = 2, .behaviour = {.application = application}, .runtime = runtime}, on,
                            alone_on(machine_));
  }
  [[nodiscard]] Duration resize(CoreCount from, const Allocation& to) const {
    return model_->resize_time({.processes = 2}, from, to, alone_on(machine_));
  }

  Machine machine_ = Machine::cluster(5, 1, 2);
  Profile profile_ = measured_over_nodes();
  std::unique_ptr<RuntimeModel> model_ =
      make_runtime_model("calibrated", {.profile = &profile_, .adds_overheads = true});
};

TEST_F(OverNodes, ABenchmarkTakesItsTimeThereWithLaunchAndEnd) {
  EXPECT_EQ(slowdown(0, on_nodes({1})), 1);
  EXPECT_DOUBLE_EQ(slowdown(0, on_nodes({1, 3})), (2 + 1) / 1.5) << "two of the five nodes";
  EXPECT_DOUBLE_EQ(slowdown(0, on_nodes({0, 1, 2, 3})), (4 + 2) / 1.5);
  EXPECT_DOUBLE_EQ(slowdown(0, on_nodes({0, 1, 4})), (3 + 1.5) / 1.5) << "half way between two and four";
  EXPECT_DOUBLE_EQ(slowdown(0, on_nodes({0, 1, 2, 3, 4})), (5 + 2.5) / 1.5) << "and beyond on the same line";
  EXPECT_DOUBLE_EQ(slowdown(1, on_nodes({1, 3})), (1 + 1) / 1.5) << "of ep nothing but launch and end";
}

TEST_F(OverNodes, SlowsDownAJobOnSharedCoresToo) {
  Allocation on = on_nodes({1, 3});
  on.mpl = 2;
  EXPECT_DOUBLE_EQ(slowdown(0, on), 1.76 * 2);
}

TEST_F(OverNodes, AnotherJobPaysLaunchAndEndIfItsRunTimeHasThem) {
  EXPECT_DOUBLE_EQ(slowdown(-1, on_nodes({1, 3}), from_seconds(10)), 10.5 / 10);
  EXPECT_EQ(slowdown(-1, on_nodes({1}), from_seconds(10)), 1);
  model_ = make_runtime_model("calibrated", {.profile = &profile_});
  EXPECT_EQ(slowdown(-1, on_nodes({1, 3}), from_seconds(10)), 1);
}

TEST_F(OverNodes, AnotherJobHasTheCostsOfTheFewestNodesOnWhichItFits) {
  profile_.machine.nodes = "4x1x1";
  model_ = make_runtime_model("calibrated", {.profile = &profile_, .adds_overheads = true});
  EXPECT_EQ(slowdown(-1, on_nodes({1, 3}), from_seconds(10)), 1);
  const CostByNodes launch{profile_, &JobCosts::launch};
  EXPECT_EQ(launch.fewest_nodes(1), 1);
  EXPECT_EQ(launch.fewest_nodes(3), 3);
  EXPECT_EQ(launch.fewest_nodes(9), 4) << "more than there are";
  profile_.machine.nodes = "1x2x4+3x1x1";
  EXPECT_EQ((CostByNodes{profile_, &JobCosts::launch}.fewest_nodes(10)), 3);
}

TEST_F(OverNodes, AResizeTakesAsLongAsMeasuredThere) {
  EXPECT_EQ(resize(4, on_nodes({1, 3})), from_seconds(0.02));
  EXPECT_EQ(resize(4, on_nodes({1})), from_seconds(0.001));
  EXPECT_EQ(resize(1, on_nodes({1, 3})), Duration{}) << "expanding was not measured over nodes";
}

TEST_F(OverNodes, AProfileOfOneNodeKnowsNoDifference) {
  profile_.over_nodes.clear();
  profile_.entries[0].on_more_nodes.clear();
  model_ = make_runtime_model("calibrated", {.profile = &profile_, .adds_overheads = true});
  EXPECT_EQ(slowdown(0, on_nodes({0, 1, 2, 3})), 1);
  EXPECT_EQ(slowdown(-1, on_nodes({0, 1}), from_seconds(10)), 1);
  EXPECT_EQ(resize(4, on_nodes({1, 3})), Duration{});
}

TEST(Calibrated, NeedsAProfile) { EXPECT_THROW((void)make_runtime_model("calibrated"), UsageError); }

TEST(Overheads, LieOnTheLineBetweenAndBeyondTheMeasuredSizes) {
  const std::vector<OverheadAt> list = {{1, {0.1, 0, 3}}, {2, {0.12, 0, 3}}, {4, {0.2, 0, 3}}};
  EXPECT_DOUBLE_EQ(overhead_at(list, 1), 0.1);
  EXPECT_DOUBLE_EQ(overhead_at(list, 2), 0.12);
  EXPECT_DOUBLE_EQ(overhead_at(list, 3), 0.16);
  EXPECT_NEAR(overhead_at(list, 8), 0.36, 1e-12);
  EXPECT_DOUBLE_EQ(overhead_at({{2, {0.3, 0, 3}}}, 64), 0.3) << "one size stands for all";
  EXPECT_DOUBLE_EQ(overhead_at({{2, {0.3, 0, 3}}, {4, {0.2, 0, 3}}}, 64), 0.2) << "never below what was seen";
  EXPECT_EQ(overhead_at({}, 3), 0);
}

}  // namespace
}  // namespace replay
