// Tests of the calibration plan and its execution, on a made-up machine with known noise and a clock that advances by
// each run's length.
#include "scheduler/calibrate/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "scheduler/calibrate/plan.hpp"

namespace replay::calibrate {
namespace {

/// A machine with readings of `value` plus `noise`, taken in turn.
class MadeUpMachine final : public Measurer {
 public:
  std::vector<double> noise{0};                 ///< relative; one per reading, in turn
  std::vector<double> end_noise{};              ///< for ends, if not empty
  std::map<std::string, std::string> refusals;  ///< by the measurement's text
  bool refusals_are_failures = false;
  std::vector<bool> disturbed{false};
  int interrupt_after = 1 << 30;  ///< the number of takes before the interrupt
  double seconds_a_run = 1;
  double timed_part = 0.001;  ///< of each run
  double clock = 0;
  std::vector<std::string> taken;
  std::map<std::string, std::vector<std::size_t>> turns;  ///< by the measurement's text

  Taken take(const Measurement& m, std::size_t turn_of_m) override {
    if (static_cast<int>(taken.size()) == interrupt_after) throw Interrupted{};
    turns[to_text(m)].push_back(turn_of_m);
    const std::size_t turn = taken.size();
    taken.push_back(to_text(m));
    clock += seconds_a_run;
    Taken result;
    if (refusals.contains(to_text(m))) {
      result.refused = refusals.at(to_text(m));
      result.failed = refusals_are_failures;
      return result;
    }
    const double factor = 1 + noise[turn % noise.size()];
    switch (m.kind) {
      case Kind::kOverheads: {
        const double end = end_noise.empty() ? factor : 1 + end_noise[turn % end_noise.size()];
        result.readings = {{0.1 * factor, 0.05 * end}};
        break;
      }
      case Kind::kResize: result.readings = {{1e-4 * factor, 2e-4 * factor}}; break;
      case Kind::kMessage: result.readings = {{1e-5 * factor}}; break;
      case Kind::kRunTime: result.readings = {{0.05 + 4 * factor / m.processes, timed_part}}; break;
      case Kind::kSharing: result.readings = {{1.9 * factor, 0.9 * factor}}; break;
      case Kind::kSelfSlowdown: result.readings = {{1.2 * factor}}; break;
      case Kind::kPair: result.readings = {{1.7 * factor}}; break;
    }
    result.disturbed = disturbed[turn % disturbed.size()];
    return result;
  }
};

Selection two_cores(std::vector<std::string> benchmarks = {"cg", "ep"}) {
  return {.benchmarks = std::move(benchmarks),
          .classes = {"S", "W", "A"},
          .processes = {1, 2},
          .cores = 2,
          .package_cores = {2}};
}

CalibrationResult run(Profile& profile, MadeUpMachine& machine, const std::vector<Measurement>& plan,
                      Limits limits = {.spread = 0.05, .most_readings = 9, .budget_s = 1e6}, int* saves = nullptr) {
  return calibrate(profile, plan, machine, limits, [&machine] { return machine.clock; },
                   {[](const Measurement&, std::size_t, std::size_t) {},
                    [saves](const Profile&, const Measurement&) {
                      if (saves != nullptr) ++*saves;
                    }});
}

std::size_t position(const std::vector<Measurement>& plan, const Measurement& m) {
  return static_cast<std::size_t>(std::ranges::find(plan, m) - plan.begin());
}

TEST(Plan, BeginsWithWhatEveryJobPaysAndEndsWithLargeProblems) {
  const std::vector<Measurement> plan = plan_of(two_cores());
  EXPECT_EQ(to_text(plan.front()), "launch and end of 1 process");
  const auto at = [&](Measurement m) { return position(plan, m); };
  const std::size_t overheads_of_four = at({.kind = Kind::kOverheads, .processes = 4});
  const std::size_t small = at({.kind = Kind::kSharing, .processes = 2, .kernel = {"cg", "W"}});
  const std::size_t pair = at({.kind = Kind::kPair, .processes = 2, .kernel = {"cg", "W"}, .neighbour = {"ep", "W"}});
  const std::size_t large = at({.kind = Kind::kRunTime, .processes = 1, .kernel = {"cg", "A"}});
  EXPECT_LT(overheads_of_four, small) << "twice as many ranks as cores";
  EXPECT_LT(small, pair);
  EXPECT_LT(pair, large);
  EXPECT_LT(large, plan.size());
  EXPECT_EQ(std::ranges::count(plan, Kind::kPair, &Measurement::kind), 4) << "each beside each, in both directions";
  EXPECT_EQ(std::ranges::count(plan, Kind::kSelfSlowdown, &Measurement::kind), 6) << "one package: same package only";
}

TEST(Plan, PairsComeAfterTheRunTimesThatTheyStartFrom) {
  for (const std::vector<std::string>& classes :
       {std::vector<std::string>{"A"}, {"A", "B"}, {"S", "A"}, {"S", "W", "B"}}) {
    Selection selection = two_cores();
    selection.classes = classes;
    const std::vector<Measurement> plan = plan_of(selection);
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (plan[i].kind != Kind::kPair) continue;
      ++pairs;
      for (const Kernel& kernel : {plan[i].kernel, plan[i].neighbour})
        EXPECT_LT(position(plan, {.kind = Kind::kRunTime, .processes = 2, .kernel = kernel}), i) << to_text(plan[i]);
    }
    EXPECT_EQ(pairs, 4U);
    MadeUpMachine machine;
    Profile profile;
    EXPECT_TRUE(run(profile, machine, plan).left_out.empty()) << "there is time for all";
  }
}

TEST(Plan, OfEmulatedCoresHasNoBenchmarks) {
  for (const Measurement& m : plan_of({.processes = {1, 2}, .cores = 2, .package_cores = {2}, .emulated = true}))
    EXPECT_TRUE(m.kernel.name.empty()) << to_text(m);
}

Selection nodes_of_two(std::size_t nodes, std::vector<ProcessCount> processes) {
  Selection selection = two_cores({"ep"});
  selection.classes = {"S"};
  selection.processes = std::move(processes);
  selection.cores = static_cast<CoreCount>(2 * nodes);
  selection.node_cores.assign(nodes, 2);
  return selection;
}

std::vector<std::string> texts_of(const std::vector<Measurement>& plan, Kind kind) {
  std::vector<std::string> texts;
  for (const Measurement& m : plan)
    if (m.kind == kind) texts.push_back(to_text(m));
  return texts;
}

TEST(Plan, OfSeveralNodesHasJobsOnAsManyAsTheyCanLieOn) {
  using Texts = std::vector<std::string>;
  const std::vector<Measurement> plan = plan_of(nodes_of_two(2, {1, 2, 3}));
  EXPECT_EQ(texts_of(plan, Kind::kOverheads),
            (Texts{"launch and end of 1 process", "launch and end of 2 processes",
                   "launch and end of 2 processes over 2 nodes", "launch and end of 3 processes over 2 nodes",
                   "launch and end of 8 processes over 2 nodes"}));
  EXPECT_EQ(texts_of(plan, Kind::kResize),
            (Texts{"shrink and expand of 2 processes", "shrink and expand of 3 processes over 2 nodes"}))
      << "a job keeps a core on each of its nodes";
  EXPECT_EQ(texts_of(plan, Kind::kRunTime),
            (Texts{"ep S, 1 process: run time", "ep S, 2 processes: run time",
                   "ep S, 3 processes over 2 nodes: run time", "ep S, 2 processes over 2 nodes: run time"}));
  EXPECT_EQ(texts_of(plan, Kind::kPair), (Texts{"ep S beside ep S, 3 processes over 2 nodes each"}));
}

TEST(Plan, HasRunTimesOverPowersOfTwoOfNodesAndOverAsManyAsCanBe) {
  std::vector<int> nodes;
  for (const Measurement& m : plan_of(nodes_of_two(6, {5})))
    if (m.kind == Kind::kRunTime) nodes.push_back(m.nodes);
  EXPECT_EQ(nodes, (std::vector<int>{3, 4, 5})) << "five cores lie on three nodes at least, on five at most";
}

TEST(Calibration, FiguresOfSeveralNodesStandBesideThoseOfOne) {
  MadeUpMachine machine;
  Profile profile;
  const CalibrationResult result = run(profile, machine, plan_of(nodes_of_two(2, {1, 2, 3})));
  EXPECT_EQ(result.refused.size() + result.left_out.size() + result.unsettled.size(), 0U);
  ASSERT_EQ(profile.over_nodes.size(), 1U);
  EXPECT_EQ(profile.over_nodes[0].nodes, 2);
  EXPECT_EQ(profile.launch.size(), 2U);
  EXPECT_EQ(profile.over_nodes[0].launch.size(), 3U);
  EXPECT_EQ(profile.over_nodes[0].shrink.size(), 1U);
  ASSERT_EQ(profile.entries.size(), 3U);
  EXPECT_EQ(profile.entries[1].nodes, 1);
  ASSERT_EQ(profile.entries[1].on_more_nodes.size(), 1U);
  EXPECT_DOUBLE_EQ(profile.entries[1].on_more_nodes[0].runtime_s.value, 2);
  EXPECT_EQ(profile.entries[2].nodes, 2);
  EXPECT_TRUE(profile.entries[2].on_more_nodes.empty());
  const CalibrationResult again = run(profile, machine, plan_of(nodes_of_two(2, {1, 2, 3})));
  EXPECT_EQ(again.measured, 0U);
}

TEST(Calibration, ARunTimeOverMoreNodesRestsOnThatOnTheFewest) {
  MadeUpMachine machine;
  machine.refusals["ep S, 2 processes: run time"] = "it takes powers of three";
  Profile profile;
  const CalibrationResult result = run(profile, machine, plan_of(nodes_of_two(2, {2})));
  EXPECT_TRUE(profile.entries.empty());
  const auto refused = std::ranges::find_if(result.refused, [](const auto& one) { return one.first.spread; });
  ASSERT_NE(refused, result.refused.end());
  EXPECT_EQ(refused->second, "it takes powers of three");
}

TEST(Plan, UsualSizesAreAllSmallOnesThenPowersOfTwoAndTheMachines) {
  EXPECT_EQ(usual_sizes(2), (std::vector<ProcessCount>{1, 2}));
  EXPECT_EQ(usual_sizes(16).size(), 16U);
  const std::vector<ProcessCount> wide = usual_sizes(96);
  EXPECT_EQ(std::vector<ProcessCount>(wide.begin() + 15, wide.end()), (std::vector<ProcessCount>{16, 32, 64, 96}));
}

TEST(Calibration, AQuietMachineTakesThreeReadingsOfEach) {
  MadeUpMachine machine;
  Profile profile;
  int saves = 0;
  const std::vector<Measurement> plan = plan_of(two_cores());
  const CalibrationResult result =
      run(profile, machine, plan, {.spread = 0.05, .most_readings = 9, .budget_s = 1e6}, &saves);
  EXPECT_EQ(result.measured, plan.size());
  EXPECT_EQ(machine.taken.size(), 3 * plan.size());
  EXPECT_EQ(static_cast<std::size_t>(saves), 2 * plan.size()) << "kept after the first reading and when all are there";
  EXPECT_TRUE(result.unsettled.empty());
  for (const Measurement& m : plan) EXPECT_TRUE(is_settled_in(profile, m, 0.05)) << to_text(m);
  ASSERT_EQ(profile.entries.size(), 12U);
  const ProfileEntry& cg = profile.entries.at(1);
  EXPECT_EQ(cg.command, "cg --class A");
  EXPECT_EQ(cg.processes, 2);
  EXPECT_NEAR(cg.runtime_s.value, 2, 1e-9) << "4 s of work by 2, and the end's 0.05 s taken off";
  EXPECT_DOUBLE_EQ(cg.slowdown_mpl_2->value, 1.9);
  EXPECT_FALSE(profile.entries.at(0).slowdown_mpl_2) << "one process shares with none";
  EXPECT_EQ(profile.speedups.size(), 6U);
}

TEST(Calibration, RepeatsUntilTheReadingsSettle) {
  MadeUpMachine machine;
  machine.noise = {0, 0.3, 0.2, 0.01, 0.02};
  Profile profile;
  const Measurement m{.kind = Kind::kMessage, .processes = 2};
  // Messages have a tolerance of 20 us, so this asks for a measurement without one.
  const Measurement run_time{.kind = Kind::kRunTime, .processes = 1, .kernel = {"ep", "S"}};
  const CalibrationResult result = run(profile, machine, {run_time});
  EXPECT_EQ(machine.taken.size(), 5U) << "0, 1 and 2 % are the three that agree";
  EXPECT_TRUE(result.unsettled.empty());
  EXPECT_EQ(profile.entries.at(0).runtime_s.runs, 3);
  EXPECT_NEAR(profile.entries.at(0).runtime_s.value, 4.13, 1e-9) << "2 %, the median of all five";
  EXPECT_TRUE(figures_in(profile, m).empty());
}

TEST(Calibration, ReadingsAreTakenInTurnAMinutesWorthAtATime) {
  MadeUpMachine noisy;
  noisy.noise = {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4};
  noisy.seconds_a_run = 30;
  Profile profile;
  std::vector<Measurement> plan;
  for (const char* name : {"cg", "ep", "mg"})
    plan.push_back({.kind = Kind::kRunTime, .processes = 1, .kernel = {name, "S"}});
  (void)run(profile, noisy, plan, {.spread = 0.05, .most_readings = 4, .budget_s = 1e6});
  const std::string cg = to_text(plan[0]), ep = to_text(plan[1]), mg = to_text(plan[2]);
  EXPECT_EQ(noisy.taken, (std::vector{cg, ep, cg, ep, cg, ep, mg, mg, mg, cg, ep, mg}))
      << "the last three because they have not settled";
}

// The program beside a benchmark depends on the turn.
TEST(Calibration, EachMeasurementCountsItsOwnTurns) {
  MadeUpMachine noisy;
  noisy.noise = {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4};
  Profile profile;
  const Measurement run_time{.kind = Kind::kRunTime, .processes = 2, .kernel = {"cg", "S"}};
  const Measurement sharing{.kind = Kind::kSharing, .processes = 2, .kernel = {"cg", "S"}};
  (void)run(profile, noisy, {run_time, sharing}, {.spread = 0.05, .most_readings = 5, .budget_s = 1e6});
  EXPECT_EQ(noisy.turns[to_text(run_time)], (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(noisy.turns[to_text(sharing)], (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(Calibration, ARunIsNeverShorterThanItsTimedPart) {
  MadeUpMachine machine;
  machine.timed_part = 5;
  Profile profile;
  (void)run(profile, machine, {{.kind = Kind::kRunTime, .processes = 1, .kernel = {"ep", "S"}}});
  EXPECT_DOUBLE_EQ(profile.entries.at(0).runtime_s.value, 5);
}

TEST(Calibration, SaysWhatDidNotSettleAndTakesItUpAgainLast) {
  MadeUpMachine noisy;
  noisy.noise = {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4};
  Profile profile;
  const Measurement first{.kind = Kind::kRunTime, .processes = 1, .kernel = {"ep", "S"}};
  const CalibrationResult result = run(profile, noisy, {first});
  EXPECT_EQ(noisy.taken.size(), 9U);
  ASSERT_EQ(result.unsettled.size(), 1U);
  EXPECT_GT(profile.entries.at(0).runtime_s.spread, 0.05);

  MadeUpMachine quiet;
  const Measurement second{.kind = Kind::kRunTime, .processes = 2, .kernel = {"ep", "S"}};
  const CalibrationResult again = run(profile, quiet, {first, second});
  EXPECT_EQ(quiet.taken.front(), to_text(second)) << "what is missing comes before what is bad";
  EXPECT_TRUE(again.unsettled.empty());
  EXPECT_EQ(profile.entries.at(0).runtime_s.spread, 0);
}

TEST(Calibration, AWorseFigureDoesNotReplaceABetterOne) {
  Profile profile;
  const Measurement m{.kind = Kind::kRunTime, .processes = 1, .kernel = {"ep", "S"}};
  store(profile, m, {{.value = 4, .spread = 0.1, .runs = 3}});
  MadeUpMachine noisy;
  noisy.noise = {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4};
  (void)run(profile, noisy, {m});
  EXPECT_EQ(profile.entries.at(0).runtime_s.value, 4);
}

// Each figure has a tolerance of its own: 30 % of an end of 13 ms are within it, 9 % of a launch of 74 ms are not.
TEST(Calibration, FiguresThatHaveSettledReplaceOthersWhateverTheirSpreads) {
  Profile profile;
  const Measurement m{.kind = Kind::kOverheads, .processes = 1};
  store(profile, m, {{.value = 0.1, .spread = 0.07, .runs = 3}, {.value = 0.01, .spread = 0.01, .runs = 3}});
  MadeUpMachine machine;  // launch 0.1 s, end 0.05 s
  machine.noise = {0, 0.04, 0.03};
  machine.end_noise = {0, 0.06, 0.09};
  EXPECT_TRUE(run(profile, machine, {m}).unsettled.empty());
  EXPECT_NEAR(figures_in(profile, m)[0].spread, 0.04 / 1.03, 1e-9);
}

TEST(Calibration, AReadingThatTookLongIsNotRepeatedBeyondTheBudget) {
  MadeUpMachine machine;
  machine.seconds_a_run = 300;
  Profile profile;
  const Measurement m{.kind = Kind::kRunTime, .processes = 1, .kernel = {"ep", "B"}};
  const CalibrationResult result = run(profile, machine, {m}, {.spread = 0.05, .most_readings = 9, .budget_s = 500});
  EXPECT_EQ(machine.taken.size(), 1U) << "a guess of less than a minute, and 300 s";
  EXPECT_EQ(result.unsettled.size(), 1U);
  EXPECT_EQ(profile.entries.at(0).runtime_s.runs, 1);
}

TEST(Calibration, AProgramThatFailsIsCounted) {
  MadeUpMachine machine;
  machine.refusals = {{"ep S, 1 process: run time", "ep --class S failed (exit code 1)"}};
  machine.refusals_are_failures = true;
  Profile profile;
  const Measurement m{.kind = Kind::kRunTime, .processes = 1, .kernel = {"ep", "S"}};
  EXPECT_EQ(run(profile, machine, {m}).failed, 1U);
}

TEST(Calibration, ADisturbedMeasurementIsRepeatedAndElseFlagged) {
  Profile profile;
  const Measurement m{.kind = Kind::kRunTime, .processes = 1, .kernel = {"ep", "S"}};
  MadeUpMachine machine;
  machine.disturbed = {true, false, true, false, false};
  EXPECT_TRUE(run(profile, machine, {m}).unsettled.empty());
  EXPECT_EQ(machine.taken.size(), 5U);
  EXPECT_FALSE(profile.entries.at(0).runtime_s.disturbed);

  MadeUpMachine crowded;
  crowded.disturbed = {true};
  Profile other;
  EXPECT_EQ(run(other, crowded, {m}).unsettled.size(), 1U);
  EXPECT_EQ(crowded.taken.size(), 9U);
  EXPECT_TRUE(other.entries.at(0).runtime_s.disturbed);
}

TEST(Calibration, BeginsNothingThatWouldNotEndWithinTheBudget) {
  Profile profile;
  MadeUpMachine machine;
  machine.seconds_a_run = 2;
  const std::vector<Measurement> plan = plan_of(two_cores());
  const CalibrationResult result = run(profile, machine, plan, {.spread = 0.05, .most_readings = 9, .budget_s = 40});
  EXPECT_LE(machine.clock, 42);
  EXPECT_FALSE(result.left_out.empty());
  EXPECT_EQ(result.measured + result.left_out.size(), plan.size());
  EXPECT_EQ(std::ranges::count_if(
                result.left_out,
                [](const Measurement& m) { return m.kind == Kind::kRunTime && m.kernel.problem_class == "A"; }),
            4)
      << "large problems are what is left out";
}

TEST(Calibration, NoiseAtTheBeginningDoesNotUseUpTheBudgetOfTheRest) {
  Profile profile;
  MadeUpMachine noisy;
  noisy.noise = {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4};
  noisy.seconds_a_run = 1;
  Selection selection = two_cores({"ep"});
  selection.classes = {"S"};
  const std::vector<Measurement> plan = plan_of(selection);
  const CalibrationResult result = run(profile, noisy, plan, {.spread = 0.05, .most_readings = 90, .budget_s = 200});
  EXPECT_TRUE(result.left_out.empty()) << result.left_out.size() << " of " << plan.size();
  EXPECT_GT(noisy.taken.size(), 3 * plan.size()) << "but what time there is is used";
}

TEST(Calibration, AnInterruptKeepsWhatThereIsAndTheNextOneGoesOn) {
  Profile profile;
  MadeUpMachine machine;
  machine.seconds_a_run = 30;
  machine.interrupt_after = 9;
  const std::vector<Measurement> plan = plan_of(two_cores());
  const CalibrationResult result = run(profile, machine, plan);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.measured, 2U) << "the next two had two and one of their three readings";
  MadeUpMachine later;
  const CalibrationResult rest = run(profile, later, plan);
  EXPECT_EQ(rest.kept, 2U);
  EXPECT_EQ(rest.measured, plan.size() - 2);
  EXPECT_EQ(later.taken.front(), to_text(plan[2]));
  EXPECT_TRUE(rest.unsettled.empty());
}

TEST(Calibration, WhatRestsOnARefusedRunTimeIsRefusedForTheSameReason) {
  Profile profile;
  MadeUpMachine machine;
  machine.refusals = {{"cg S, 2 processes: run time", "cg: expected a power of four"}};
  Selection selection = two_cores();
  selection.classes = {"S"};
  const CalibrationResult result = run(profile, machine, plan_of(selection));
  std::vector<std::string> refused;
  for (const auto& [m, reason] : result.refused) {
    refused.push_back(to_text(m));
    EXPECT_EQ(reason, "cg: expected a power of four");
  }
  EXPECT_EQ(refused, (std::vector<std::string>{
                         "cg S, 2 processes: run time", "cg S, 2 processes: CPU utilisation, two on a core",
                         "cg S beside ep S, 2 processes each", "ep S beside cg S, 2 processes each",
                         "cg S beside cg S, 2 processes each"}));
  EXPECT_EQ(profile.entries.size(), 3U);
}

}  // namespace
}  // namespace replay::calibrate
