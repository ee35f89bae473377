// Compares slack with its oracle.
#include "tests/oracle/slack.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/oracle_test/closed_nodes.hpp"
#include "tests/oracle_test/comparison.hpp"

namespace replay::test {
namespace {

using oracle::Heuristic;
using oracle::Slack;

struct SlackVariant {
  Variant variant;
  Slack rules;
};

SlackVariant slack_variant(const std::string& parameters, const Slack& rules) {
  Draw draw;
  draw.priorities = true;
  draw.taken_back = true;
  draw.policy_tells = true;
  const auto oracle = [rules](const oracle::Workload& workload) { return oracle::slack(workload, rules); };
  return {{"slack:" + parameters, oracle, draw}, rules};
}

const std::vector<SlackVariant>& slack_variants() {
  static const std::vector<SlackVariant> variants{
      slack_variant("awt=2401", {}),
      slack_variant("awt=5", {.average_wait = {5}}),
      slack_variant("awt=20", {.average_wait = {20}}),
      slack_variant("awt=20:heuristic=aat", {.heuristic = Heuristic::kArrival, .average_wait = {20}}),
      slack_variant("awt=20:heuristic=du", {.heuristic = Heuristic::kUtilisation, .average_wait = {20}}),
      slack_variant("awt=20:heuristic=dc", {.heuristic = Heuristic::kCost, .average_wait = {20}}),
      slack_variant("awt=20:heuristic=dp", {.heuristic = Heuristic::kPriority, .average_wait = {20}}),
      slack_variant("awt=20:heuristic=all", {.heuristic = Heuristic::kAll, .average_wait = {20}}),
      slack_variant("awt=2401:heuristic=dp:sf=9", {.heuristic = Heuristic::kPriority, .slack_factor = 9}),
      slack_variant("awt=60:sf=0", {.slack_factor = 0, .average_wait = {60}}),
      slack_variant("awt=60:sf=0:heuristic=du",
                    {.heuristic = Heuristic::kUtilisation, .slack_factor = 0, .average_wait = {60}}),
      slack_variant("awt=4/8/16", {.average_wait = {4, 8, 16}}),
      slack_variant("awt=30:alpha_u=0.2:alpha_t=0.2:alpha_f=0.2",
                    {.average_wait = {30}, .alpha_u = 0.2, .alpha_t = 0.2, .alpha_f = 0.2}),
      slack_variant("awt=30:heuristic=dc:alpha_u=0.5:alpha_p=0.5",
                    {.heuristic = Heuristic::kCost, .average_wait = {30}, .alpha_u = 0.5, .alpha_p = 0.5}),
      slack_variant("awt=30:alpha_p=0:alpha_f=0", {.average_wait = {30}, .alpha_p = 0, .alpha_f = 0}),
  };
  return variants;
}

class SlackOracle : public testing::TestWithParam<SlackVariant> {};

TEST_P(SlackOracle, StartsAndEndsEveryJobWhereThePageSays) { expect_same_schedules(GetParam().variant); }

// Section 4.1: te + s bounds the start of a job from its submission on, unless a running job's estimate grows unasked or
// a node is closed. A job that was lost has another promise.
TEST_P(SlackOracle, StartsNoJobLaterThanFirstPlannedPlusItsFirstSlack) {
  expect_promise(GetParam().variant, [](const oracle::Workload& workload, const oracle::Schedule& schedule) {
    if (workload.overrun == oracle::Overrun::kExtend) return std::string{};
    std::vector<oracle::Time> promises;
    static_cast<void>(oracle::slack(workload, GetParam().rules, &promises));
    for (std::size_t i = 0; i < schedule.size(); ++i)
      if (schedule[i].start != oracle::kNever && schedule[i].start > promises[i] &&
          !closes_a_node(workload, workload.jobs[i].submit, schedule[i].start))
        return fmt::format("job {} was promised {} us and starts at {} us", workload.jobs[i].number, promises[i],
                           schedule[i].start);
    return std::string{};
  });
}

INSTANTIATE_TEST_SUITE_P(Policies, SlackOracle, testing::ValuesIn(slack_variants()),
                         [](const testing::TestParamInfo<SlackVariant>& slack) {
                           return test_name(slack.param.variant.policy);
                         });

// Without --overrun policy: cores are named when all estimates of an instant have been ruled on, and here which they are
// decides which jobs are lost.
std::vector<SlackVariant> slack_with_closed_nodes() {
  std::vector<SlackVariant> variants = slack_variants();
  for (SlackVariant& slack : variants) {
    slack.variant.draw.node_events = slack.variant.with_cores = true;
    slack.variant.draw.policy_tells = false;
  }
  return variants;
}
INSTANTIATE_TEST_SUITE_P(ClosedNodes, SlackOracle, testing::ValuesIn(slack_with_closed_nodes()),
                         [](const testing::TestParamInfo<SlackVariant>& slack) {
                           return test_name(slack.param.variant.policy);
                         });

void PrintTo(const SlackVariant& slack, std::ostream* out) { PrintTo(slack.variant, out); }

}  // namespace
}  // namespace replay::test
