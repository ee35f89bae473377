#include "scheduler/runtime_model/runtime_model.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "scheduler/runtime_model/profile.hpp"
#include "tests/unit/runtime_model/model_slowdown.hpp"

namespace replay {
namespace {

using test::slowdown_of;

double slowdown(const char* model, double cpu_use, double overhead, int mpl, double demand = 0) {
  return slowdown_of(*make_runtime_model(model), {cpu_use, overhead}, mpl, demand);
}

TEST(Utrera, IsFormula4AtThisLevelOverFormula4AtLevelOne) {
  EXPECT_DOUBLE_EQ(slowdown("utrera", 0.6, 0.4, 2), (2 * 0.6 + 0.4) / (0.6 + 0.4));
  EXPECT_DOUBLE_EQ(slowdown("utrera", 1, 0, 2), 2) << "the paper's footnote 1: twice slower on half the cores";
  EXPECT_DOUBLE_EQ(slowdown("utrera", 0.6, 0.4, 1), 1);
  EXPECT_DOUBLE_EQ(slowdown("utrera", 0, 0, 2), 1) << "a job that never computes is not slowed down";
}

TEST(UtreraAdditive, IsFormula4ToTheLetter) { EXPECT_DOUBLE_EQ(slowdown("utrera-additive", 0.6, 0.4, 2), 1.6); }

TEST(Isolated, IsFormula3ButNeverFasterThanExpanded) {
  EXPECT_DOUBLE_EQ(slowdown("isolated", 0.8, 0.9, 2), 1.6);
  EXPECT_DOUBLE_EQ(slowdown("isolated", 0.4, 0.9, 2), 1);
  EXPECT_DOUBLE_EQ(slowdown("isolated", 0.5, 0, 4), 2);
}

TEST(Neighbours, CountLikeProcessesOfOnesOwn) {
  // Two processes of 0.6 on a core, of one job or of two.
  for (const char* model : {"isolated", "utrera", "utrera-additive"})
    EXPECT_DOUBLE_EQ(slowdown(model, 0.6, 0.4, 1, 0.6), slowdown(model, 0.6, 0.4, 2)) << model;
  EXPECT_DOUBLE_EQ(slowdown("isolated", 0.5, 0, 2, 0.75), 1.75);
  EXPECT_DOUBLE_EQ(slowdown("isolated", 0.3, 0, 1, 0.5), 1) << "there is room for both";
  EXPECT_DOUBLE_EQ(slowdown("utrera", 0.5, 0.5, 1, 1), 2);
  EXPECT_DOUBLE_EQ(slowdown("utrera-additive", 0.5, 0.25, 1, 1), 1.75);
}

TEST(Neighbours, DoNotSlowDownAJobThatNeverComputes) {
  EXPECT_DOUBLE_EQ(slowdown("isolated", 0, 0, 1, 1), 1);
  EXPECT_DOUBLE_EQ(slowdown("utrera", 0, 0, 1, 1), 1);
}

TEST(Neighbours, AreRefusedByTheRigidModel) { EXPECT_THROW((void)slowdown("rigid", 1, 0, 1, 0.5), UsageError); }

TEST(AllModels, AreOneWhenExpandedAndNeverBelowOne) {
  const Profile empty;
  for (const RuntimeModelEntry& entry : runtime_models()) {
    const auto model = entry.make({.profile = &empty});
    for (const double u : {0.0, 0.1, 0.5, 1.0})
      for (const double ov : {0.0, 0.5, 0.999}) {
        EXPECT_DOUBLE_EQ(slowdown_of(*model, {u, ov}, 1, 0), 1) << entry.name;
        if (!model->allows_sharing()) continue;
        EXPECT_GE(slowdown_of(*model, {u, ov}, 2, 0), 1) << entry.name;
        if (entry.name == "speedup") continue;  // does not say what another job on a core costs
        EXPECT_GE(slowdown_of(*model, {u, ov}, 1, 0.5), 1) << entry.name;
        EXPECT_GE(slowdown_of(*model, {u, ov}, 2, 0.5), slowdown_of(*model, {u, ov}, 2, 0)) << entry.name;
      }
  }
}

TEST(Overheads, AreAHashOfSeedAndJobUniformInZeroToOne) {
  Workload workload;
  for (int i = 1; i <= 20000; ++i) {
    TracedJob traced;
    traced.job.id = static_cast<JobId>(i);
    workload.jobs.push_back(traced);
  }
  Workload backwards;
  for (std::size_t i = workload.jobs.size(); i-- > 0;) backwards.jobs.push_back(workload.jobs[i]);
  Workload other = workload;
  draw_network_overheads(workload, 1);
  draw_network_overheads(backwards, 1);
  draw_network_overheads(other, 2);
  EXPECT_EQ(workload.jobs[7].truth.behaviour, backwards.jobs[20000 - 8].truth.behaviour) << "whatever the order";
  EXPECT_NE(workload.jobs[7].truth.behaviour, other.jobs[7].truth.behaviour);
  double sum = 0;
  int below_tenth = 0;
  for (const TracedJob& traced : workload.jobs) {
    const double ov = traced.truth.behaviour.network_overhead;
    EXPECT_GE(ov, 0);
    EXPECT_LT(ov, 1);
    sum += ov;
    below_tenth += ov < 0.1 ? 1 : 0;
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.01);  // standard error 0.002
  EXPECT_NEAR(below_tenth / 20000.0, 0.1, 0.01);
}

TEST(Models, UnknownOnesNameTheNearest) {
  try {
    (void)make_runtime_model("utera");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown runtime model 'utera'; did you mean 'utrera'?");
  }
}

}  // namespace
}  // namespace replay
