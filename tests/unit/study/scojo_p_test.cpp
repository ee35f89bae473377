// Tests of the SCOJO-P study: its workloads are those of the commands, its figures those of a schedule worked by hand,
// its simulations give what was found before, and the same with one and two threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/study/page.hpp"
#include "scheduler/study/scojo_p/simulated_values.hpp"
#include "scheduler/study/scojo_p/study.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/study/surroundings.hpp"
#include "traces/workload_reader.hpp"

namespace replay::study {
namespace {

using namespace scojo;

// ---- workloads ----

Workload from_commands(const std::string& alpha, const std::string& declare) {
  const TemporaryFolder folder;
  const auto made = test::shell(REPLAY_PROGRAM " generate lublin --jobs 300 --seed 2 --aarr " + alpha +
                                    " | " REPLAY_PROGRAM " trace declare - --seed 2 " + declare + " -o made.swf",
                                folder.path());
  EXPECT_EQ(made.status, 0) << made.err;
  return read_workload((folder / "made.swf").string()).workload;
}

void expect_same(const Workload& ours, const Workload& theirs) {
  ASSERT_EQ(ours.jobs.size(), theirs.jobs.size());
  for (std::size_t i = 0; i < ours.jobs.size(); ++i) {
    const TracedJob our = ours.jobs[i], their = theirs.jobs[i];
    SCOPED_TRACE(number(our.job.id));
    EXPECT_EQ(our.job.id, their.job.id);
    EXPECT_EQ(our.job.submitted, their.job.submitted);
    EXPECT_EQ(our.job.processes, their.job.processes);
    EXPECT_EQ(our.job.estimate, their.job.estimate);
    EXPECT_EQ(our.job.flexibility, their.job.flexibility);
    EXPECT_EQ(our.truth.runtime, their.truth.runtime);
    ASSERT_TRUE(our.job.declaration && their.job.declaration);
    EXPECT_EQ(*our.job.declaration, *their.job.declaration);
  }
}

TEST(ScojoWorkload, IsThatOfTheCommands) {
  const auto ours = [](std::string_view key) { return make_scojo_workload(scojo_workload_kind(key), 2, 300).workload; };
  expect_same(ours(kW1), from_commands("10.23", "--speedup three-point"));
  expect_same(ours(kW2Eighty), from_commands("9.83", "--speedup three-point --moldable 0.8"));
  expect_same(ours(kW2Malleable), from_commands("9.83",
                                                "--speedup three-point --moldable short=0.8,medium=0.8,long=0 "
                                                "--malleable short=0,medium=0,long=0.8"));
  expect_same(ours(kDowney), from_commands("10.23", "--speedup downey"));
}

TEST(ScojoWorkload, RaisesTheLeastSizeOfMediumAndLongJobsToEfficiencyNineTenths) {
  const ScojoWorkload plain = make_scojo_workload(scojo_workload_kind(kDowney), 1, 500),
                      raised = make_scojo_workload(scojo_workload_kind(kDowneyRaised), 1, 500);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < plain.facts.size(); ++i) {
    const TracedJob before = plain.workload.jobs[i], after = raised.workload.jobs[i];
    const Declaration &old = *before.job.declaration, &now = *after.job.declaration;
    EXPECT_EQ(raised.facts[i].optimum, plain.facts[i].optimum);
    if (now == old) continue;
    ++changed;
    EXPECT_GT(plain.facts[i].group, kShortJobs);
    const ProcessCount least = *now.least;
    EXPECT_GE(now.speedup->speedup(least), 0.9 * least);
    EXPECT_TRUE(least == plain.facts[i].optimum || now.speedup->speedup(least + 1) < 0.9 * (least + 1));
  }
  EXPECT_GT(changed, 50u);
}

// ---- figures ----

TracedJob moldable(int id, int submitted_s, ProcessCount size, int runtime_s) {
  TracedJob job;
  job.job.id = JobId{id};
  job.job.submitted = Instant{std::chrono::seconds{submitted_s}};
  job.job.processes = size;
  job.job.estimate = job.truth.runtime = std::chrono::seconds{runtime_s};
  job.job.flexibility = Flexibility::kMoldable;
  Declaration declaration;
  declaration.least = (size + 1) / 2;
  declaration.most = 2 * size;
  declaration.speedup = SpeedupCurve{ThreePointSpeedup{.optimum = size}};
  job.job.declaration = std::make_shared<const Declaration>(declaration);
  return job;
}

// The schedule of tests/data/moldable/greedy.swf: sizes 4, 6, 4, 4; ends 81.25, 161.25, 100, 111.25 s.
TEST(ScojoRecord, HasTheFiguresOfAScheduleWorkedByHand) {
  ScojoWorkload made;
  made.workload.jobs = {moldable(1, 0, 2, 100), moldable(2, 0, 6, 50), moldable(3, 0, 4, 100), moldable(4, 50, 4, 30)};
  made.workload.jobs.change(1, [](TracedJob& job) { job.job.flexibility = Flexibility::kRigid; });
  made.facts = {{.submitted = 2, .optimum = 2, .runtime_s = 100, .group = kMediumJobs, .has_choice = true},
                {.submitted = 6, .optimum = 6, .runtime_s = 50, .group = kShortJobs, .has_choice = false},
                {.submitted = 4, .optimum = 4, .runtime_s = 100, .group = kMediumJobs, .has_choice = true},
                {.submitted = 4, .optimum = 8, .runtime_s = 20, .group = kShortJobs, .has_choice = true}};
  ScojoRecord record;
  simulate_one(made.workload, "greedy-moldable", {.machine = Machine::pool(8), .runtime_model = "speedup"}, in_order(),
               record.observers());
  const ScojoFigures figures = record.figures(made);

  const ScojoGroupFigures &all = figures.groups[kAllJobs], &medium = figures.groups[kMediumJobs],
                          &brief = figures.groups[kShortJobs];
  EXPECT_EQ(all.jobs, 4);
  EXPECT_DOUBLE_EQ(all.response_s, (81.25 + 161.25 + 100 + 61.25) / 4);
  EXPECT_DOUBLE_EQ(all.wait_s, (111.25 + 31.25) / 4);
  EXPECT_DOUBLE_EQ(all.execution_s, (81.25 + 50 + 100 + 30) / 4);
  EXPECT_DOUBLE_EQ(medium.slowdown, 1);                                 // job 1 is faster than at N_opt
  EXPECT_DOUBLE_EQ(brief.slowdown, (161.25 / 50 + 61.25 / 30) / 2);     // of job 4 the bound counts, not its 20 s
  EXPECT_EQ(std::pair(all.shrunk, all.expanded), std::pair(1.0, 1.0));  // job 4 at 4 of 8, job 1 at 4 of 2
  EXPECT_DOUBLE_EQ(medium.of_optimum, 1.5);
  EXPECT_DOUBLE_EQ(brief.of_optimum, 0.5);  // the rigid job does not count
  EXPECT_DOUBLE_EQ(brief.of_submitted, 1);
  EXPECT_DOUBLE_EQ(brief.of_optimum_shrunk, 0.5);
  EXPECT_TRUE(std::isnan(medium.of_optimum_shrunk));
  EXPECT_TRUE(std::isnan(figures.groups[kLongJobs].response_s));

  const auto in_bin = [&](std::size_t group, std::string_view label) {
    const auto bins = response_bins(group);
    const auto found = std::ranges::find(bins, label, &ResponseBin::label);
    return figures.responses[group].at(static_cast<std::size_t>(found - bins.begin()));
  };
  EXPECT_EQ(in_bin(kMediumJobs, "2 min"), 2);
  EXPECT_EQ(in_bin(kShortJobs, "2 min"), 1);
  EXPECT_EQ(in_bin(kShortJobs, "5 min"), 1);
}

TEST(ScojoRecord, LeavesOutTheFirstAndLastJobs) {
  const ScojoWorkload made = make_scojo_workload(scojo_workload_kind(kW1), 1, 110);
  ScojoRecord record;
  simulate_one(made.workload, "easy", {.machine = Machine::pool(128), .runtime_model = "speedup"}, in_order(),
               record.observers());
  EXPECT_EQ(record.figures(made).groups[kAllJobs].jobs, 100);  // 5 % of 110 is 5
}

TEST(ResponseBins, RiseAndHoldEverything) {
  for (std::size_t g = 1; g < kScojoGroups; ++g) {
    const auto bins = response_bins(g);
    EXPECT_TRUE(std::ranges::is_sorted(bins, {}, &ResponseBin::most_s));
    EXPECT_TRUE(std::isinf(bins.back().most_s));
  }
}

// ---- means and gains ----

ScojoOutcome made_up_outcome() {
  ScojoOutcome outcome{.options = {.seeds = 2, .jobs = 10}};
  const auto add = [&](std::string_view policy, double first, double second) {
    auto& runs = outcome.runs[{std::string{kW1}, std::string{policy}}];
    runs.resize(2);
    runs[0].groups[kAllJobs].response_s = first;
    runs[1].groups[kAllJobs].response_s = second;
  };
  add(kTraditional, 100, 400);
  add(kScojoP, 50, 100);
  return outcome;
}

TEST(ScojoValues, TakesGeometricMeansOfTimes) {
  const ScojoOutcome outcome = made_up_outcome();
  const ScojoValues simulated{outcome};
  const auto response = &ScojoGroupFigures::response_s;
  EXPECT_NEAR(simulated.mean(kW1, kTraditional, kAllJobs, response), 200, 1e-9);
  EXPECT_NEAR(simulated.mean(kW1Eighty, kTraditional, kAllJobs, response), 200, 1e-9);  // the same jobs, all as rigid
  EXPECT_TRUE(std::isnan(simulated.mean(kW1Eighty, kScojoP, kAllJobs, response)));
  const ScojoGain gain = scojo_gain(kW1, kScojoP, kTraditional);
  EXPECT_NEAR(gain.percent(simulated), (1 - std::sqrt(0.5 * 0.25)) * 100, 1e-9);
  EXPECT_EQ(gain.by_seed(simulated), (std::vector<double>{50, 75}));
}

// ---- the study ----

TEST(ScojoStudy, KnowsAllPoliciesAndWorkloadsOfItsRuns) {
  std::set<std::string_view> used;
  for (const ScojoRun& run : scojo_runs(false)) {
    EXPECT_EQ(scojo_workload_kind(run.workload).key, run.workload);
    for (const ScojoPolicy& policy : scojo_policies())
      if (policy.key == run.policy) used.insert(policy.key);
  }
  EXPECT_EQ(used.size(), scojo_policies().size());
  for (const ScojoPolicy& policy : scojo_policies())
    EXPECT_NO_THROW(static_cast<void>(make_policy(policy.policy))) << policy.policy;
}

TEST(ScojoStudy, IsTheSameWithTwoThreads) {
  const auto result = [](const Surroundings& surroundings) {
    return scojo_result(run_scojo_study({.seeds = 2, .jobs = 60}, scojo_runs(false), surroundings));
  };
  const Result one = result(in_order()), two = result(two_threads());
  EXPECT_EQ(to_html(one), to_html(two));
  EXPECT_EQ(to_csv(one), to_csv(two));
  EXPECT_EQ(to_csv(one).find("inf"), std::string::npos);
}

TEST(ScojoStudy, PageSaysWhatQuickLeavesOut) {
  SeededOptions options = kQuickOptions;
  options.jobs = 40;
  const Result result = scojo_result(run_scojo_study(options, scojo_runs(true), in_order()));
  ASSERT_EQ(result.limits.size(), 1u);
  EXPECT_NE(result.limits[0].find("one seed, 40 jobs"), std::string::npos) << result.limits[0];
  EXPECT_EQ(to_html(result).find("Figures 13"), std::string::npos);
}

// Our own reference: the figures of an independent implementation of the same policies on the same jobs, arithmetic
// means over four seeds. What of Cirne-Berman is left out takes longer than the rest together.
struct Reference {
  std::string_view workload, policy;
  double response_s, slowdown;
  std::array<double, 4> change_percent;  // of the response against traditional, by seed
};
constexpr Reference kReferences[] = {{kW1, kTraditional, 23371, 122, {0, 0, 0, 0}},
                                     {kW1, kUnpredicted, 10586, 29, {-54, -51, -43, -63}},
                                     {kW1, kScojoP, 10012, 23, {-56, -52, -46, -66}},
                                     {kW1, kCirneOpt, 16821, 68, {-30, -29, -23, -28}},
                                     {kW1, kCirneConservative, 21311, 84, {-5, -11, -3, -13}},
                                     {kW1, kGreedy, 19353, 189, {-19, -7, -3, -29}},
                                     {kW1, kGreedyClass, 11842, 61, {-48, -47, -41, -56}},
                                     {kW2, kTraditional, 72055, 297, {0, 0, 0, 0}},
                                     {kW2, kUnpredicted, 20433, 71, {-67, -66, -71, -76}},
                                     {kW2, kScojoP, 19433, 69, {-68, -69, -71, -77}},
                                     {kW2, kCirneConservative, 73845, 136, {-7, -3, -9, 12}},
                                     {kW2, kGreedy, 75935, 940, {-32, 3, -30, 32}},
                                     {kW2, kGreedyClass, 50017, 518, {-48, -33, -58, -14}}};

TEST(ScojoStudy, FindsWhatAnIndependentImplementationFound) {
  std::vector<ScojoRun> runs;
  for (const Reference& reference : kReferences)
    runs.push_back({std::string{reference.workload}, std::string{reference.policy}});
  const ScojoOutcome outcome = run_scojo_study(kScojoOptions, runs, two_threads());
  const ScojoValues simulated{outcome};
  for (const auto& [workload, policy, response, slowdown, changes] : kReferences) {
    SCOPED_TRACE(testing::Message() << workload << " " << policy);
    EXPECT_NEAR(simulated.average(workload, policy, kAllJobs, &ScojoGroupFigures::response_s), response,
                0.05 * response);
    EXPECT_NEAR(simulated.average(workload, policy, kAllJobs, &ScojoGroupFigures::slowdown), slowdown, 0.05 * slowdown);
    const auto gains = scojo_gain(workload, policy, kTraditional).by_seed(simulated);
    ASSERT_EQ(gains.size(), changes.size());
    for (std::size_t seed = 0; seed < gains.size(); ++seed) EXPECT_NEAR(-gains[seed], changes[seed], 2) << seed + 1;
  }
}

TEST(ScojoWorkload, HasTheLoadsOfTheReference) {
  const auto load = [](std::string_view key, std::uint64_t seed) {
    return make_scojo_workload(scojo_workload_kind(key), seed, 10'000).offered_load();
  };
  const std::array<double, 4> w1{0.79, 0.73, 0.76, 0.90}, w2{0.97, 0.95, 0.93, 1.17};
  for (std::size_t i = 0; i < w1.size(); ++i) {
    EXPECT_NEAR(load(kW1, i + 1), w1[i], 0.006);
    EXPECT_NEAR(load(kW2, i + 1), w2[i], 0.006);
  }
}

}  // namespace
}  // namespace replay::study
