// Compares the policies that choose a job's size at its start with their oracles: start, end and size. All others have to
// start the same jobs with the processes that were submitted.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/oracle/conservative.hpp"
#include "tests/oracle/easy.hpp"
#include "tests/oracle/fcfs.hpp"
#include "tests/oracle/moldable/greedy.hpp"
#include "tests/oracle_test/comparison.hpp"
#include "tests/oracle_test/moldable_policies.hpp"

namespace replay::test {
namespace {

using oracle::Aging;
using oracle::Schedule;

Schedule greedy_by_class(const oracle::Workload& workload) {
  return oracle::greedy_moldable(workload, oracle::GreedyOrder::kClass);
}

Schedule greedy(const oracle::Workload& workload) {
  return oracle::greedy_moldable(workload, oracle::GreedyOrder::kArrival);
}

Variant moldable_variant(const std::string& policy, const std::function<Schedule(const oracle::Workload&)>& oracle,
                         int most_cores) {
  Draw draw;
  draw.most_cores = most_cores;
  draw.most_nodes = 4;
  draw.moldable = true;
  return {policy, oracle, draw, "rigid", false, true};
}

Variant with_classes(Variant variant) {
  variant.draw.long_times = true;
  return variant;
}

// The schedule of an oracle that chooses no sizes.
Variant at_submitted_size(const std::string& policy, const std::function<Schedule(const oracle::Workload&)>& oracle) {
  const auto with_sizes = [oracle](const oracle::Workload& workload) {
    Schedule schedule = oracle(workload);
    for (std::size_t i = 0; i < schedule.size(); ++i) schedule[i].processes = workload.jobs[i].processes;
    return schedule;
  };
  Variant variant = moldable_variant(policy, with_sizes, 8);
  variant.draw.extends = false;  // what happens at the end of an estimate is compared in rigid_test.cpp
  return variant;
}

class MoldableOracle : public testing::TestWithParam<Variant> {};

TEST_P(MoldableOracle, StartsAndEndsEveryJobAtTheSizeThatThePageSays) { expect_same_schedules(GetParam()); }

std::string moldable_test_name(const testing::TestParamInfo<Variant>& variant) {
  return test_name(variant.param.policy + "_" + std::to_string(variant.param.draw.most_cores));
}

INSTANTIATE_TEST_SUITE_P(Sizes, MoldableOracle,
                         testing::Values(moldable_variant("greedy-moldable", greedy, 8),
                                         moldable_variant("greedy-moldable", greedy, 40),
                                         with_classes(moldable_variant(kGreedyByClass, greedy_by_class, 8)),
                                         with_classes(moldable_variant(kGreedyByClass, greedy_by_class, 40))),
                         moldable_test_name);

class SubmittedSize : public MoldableOracle {};

TEST_P(SubmittedSize, IsThatOfMoldableJobsUnderAPolicyThatChoosesNone) { expect_same_schedules(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Policies, SubmittedSize,
    testing::Values(
        at_submitted_size("fcfs", oracle::fcfs),
        at_submitted_size("easy", [](const oracle::Workload& workload) { return easy(workload, {}); }),
        at_submitted_size("conservative", [](const oracle::Workload& workload) { return conservative(workload, {}); }),
        with_classes(at_submitted_size("priority-easy",
                                       [](const auto& workload) { return priority_easy(workload, Aging::kTop); })),
        with_classes(at_submitted_size("priority-easy:aging=one",
                                       [](const auto& workload) { return priority_easy(workload, Aging::kOne); }))),
    moldable_test_name);

}  // namespace
}  // namespace replay::test
