// Compares the policies that look ahead before they choose a job's size with their oracles: start, end, size at the start, and
// for scojo the cores over time. Times lie around the limits of the classes, and jobs wait for long, so that some are
// promoted.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/oracle/moldable/cirne_berman.hpp"
#include "tests/oracle/moldable/scojo.hpp"
#include "tests/oracle/moldable/scojo_p.hpp"
#include "tests/oracle_test/comparison.hpp"
#include "tests/oracle_test/moldable_policies.hpp"

namespace replay::test {
namespace {

using oracle::Aging;
using oracle::CirneBerman;
using oracle::Most;
using oracle::Over;
using oracle::Predict;
using oracle::Schedule;
using oracle::ScojoP;

Draw with_sizes(int most_cores) {
  Draw draw;
  draw.most_cores = most_cores;
  draw.most_nodes = 4;
  draw.long_times = true;
  draw.moldable = true;
  return draw;
}

Variant choosing(const std::string& policy, const std::function<Schedule(const oracle::Workload&)>& oracle,
                 const Draw& draw) {
  return {policy, oracle, draw, "rigid", false, true};
}

Variant scojo_p_variant(const std::string& policy, const ScojoP& rules, const Draw& draw) {
  return choosing(
      policy, [rules](const oracle::Workload& workload) { return scojo_p(workload, rules); }, draw);
}

// What stands for the jobs of a class follows from the one curve that they all have.
Variant from_the_past(Curves curves) {
  Draw draw = with_sizes(16);
  draw.curves = curves;
  draw.days = true;
  return scojo_p_variant(kScojoPFromThePast, {.predict = Predict::kPast}, draw);
}

Variant cirne_variant(const std::string& policy, const CirneBerman& rules) {
  return choosing(
      policy, [rules](const oracle::Workload& workload) { return cirne_berman(workload, rules); }, with_sizes(8));
}

// On nodes a process cannot leave its node, which the counts of the page do not say.
Variant scojo_variant(int most_cores) {
  Draw draw = with_sizes(most_cores);
  draw.most_nodes = 1;
  draw.malleable = true;
  return {kScojo, [](const oracle::Workload& workload) { return scojo(workload, {}); }, draw, "speedup", true, true};
}

class SizeChoice : public testing::TestWithParam<Variant> {};

TEST_P(SizeChoice, StartsAndEndsEveryJobAtTheSizeThatThePageSays) { expect_same_schedules(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Policies, SizeChoice,
    testing::Values(scojo_p_variant(kScojoP, {.predict = Predict::kOff}, with_sizes(8)),
                    scojo_p_variant(kScojoP, {.predict = Predict::kOff}, with_sizes(40)),
                    scojo_p_variant(kScojoPAgingOne, {.predict = Predict::kOff, .aging = Aging::kOne}, with_sizes(16)),
                    from_the_past(Curves::kThreePoint), from_the_past(Curves::kDowney),
                    cirne_variant(kCirneOverEasy, {}), cirne_variant(kCirneOverEasyToOptimum, {.most = Most::kOptimum}),
                    cirne_variant(kCirneOverConservative, {.over = Over::kConservative}),
                    cirne_variant(kCirneOverConservativeToOptimum,
                                  {.over = Over::kConservative, .most = Most::kOptimum}),
                    scojo_variant(8), scojo_variant(40)),
    [](const testing::TestParamInfo<Variant>& variant) {
      return test_name(variant.param.policy + "_" + std::to_string(variant.index));
    });

// Workloads on which the two have differed, whatever seeds are asked for.
struct Regression {
  std::uint64_t seed;
  const char* what;
  Variant variant;
};
void PrintTo(const Regression& one, std::ostream* out) { *out << "seed " << one.seed << ": " << one.what; }

class SizeChoiceRegression : public testing::TestWithParam<Regression> {};

TEST_P(SizeChoiceRegression, StaysMended) {
  const auto& [seed, what, variant] = GetParam();
  const oracle::Workload workload = drawn_workload(seed, variant.draw);
  EXPECT_EQ(as_text(workload, program_schedule(workload, variant)), as_text(workload, variant.oracle(workload)))
      << what;
}

INSTANTIATE_TEST_SUITE_P(
    Policies, SizeChoiceRegression,
    testing::Values(Regression{4969, "one pass at an instant at which a job is killed",
                               scojo_p_variant(kScojoP, {.predict = Predict::kOff}, with_sizes(40))},
                    Regression{22325, "no pass for the promotion of a job that has started", scojo_variant(8)}));

}  // namespace
}  // namespace replay::test
