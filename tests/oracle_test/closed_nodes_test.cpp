// Every policy of the registry on machines whose nodes are closed for a while or for good: its event logs keep to the page
// of NAME.nodes.csv, and each run comes to its end. Promises are in closed_nodes_promises_test.cpp.
#include "tests/oracle_test/closed_nodes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "tests/oracle_test/comparison.hpp"
#include "tests/support/deciding_policies.hpp"

namespace replay::test {
namespace {

std::vector<std::string> policies_for_closed_nodes() {
  constexpr const char* kSliced = "scojo-pect:interval=60s:short-slice=10s:overhead=2s:short=10s:medium=40s:inner=";
  std::vector<std::string> all;
  for (const PolicyEntry& entry : deciding_policies()) {
    all.emplace_back(entry.name);
    if (entry.name != "scojo-pect") all.push_back(fmt::format("{}{}", kSliced, entry.name));
  }
  for (const char* variant :
       {"priority-easy:aging=one", "greedy-moldable:order=class", "scojo-p:predict=past", "scojo-p:predict=off",
        "cirne-berman:base=conservative:max=opt", "fcfs-malleable:share=first:max_mpl=4:max_slowdown=4",
        "fcfs-malleable:share=last:expand=eager", "easy-malleable:estimate=conservative", "slack:awt=20:heuristic=all",
        "slack:sf=0", "conservative:compress-at=every-end", "dynp:step=submit", "g-lomarc-ts:short=1s",
        "g-lomarc-ts:variant=ssp", "g-lomarc-ts:variant=cst:short=1s:medium=50s", "g-lomarc-ts:variant=cstws:short=1s",
        "g-lomarc-ts:variant=fbo:short=1s:block-size=3", "g-lomarc-ts:variant=ns:short=1s:f-slack=5",
        "g-lomarc-ts:variant=nh:short=1s"})
    all.emplace_back(variant);
  for (const char* inner : {"{fcfs-malleable:max_mpl=4}", "{fcfs-malleable:share=first}",
                            "{g-lomarc-ts:short=10s:medium=40s}", "{slack:awt=20}"})
    all.push_back(fmt::format("{}{}", kSliced, inner));
  return all;
}

class ClosedNodes : public testing::TestWithParam<std::string> {};

TEST_P(ClosedNodes, AreLeftAloneAndEachJobHasOneEndThatThePageGives) {
  const Draw draw{.behaviour = true, .policy_tells = true, .moldable = true, .node_events = true, .halved_nodes = true};
  expect_no_error({GetParam(), {}, draw, "utrera"}, [](const oracle::Workload& workload) {
    return against_the_page(workload, simulated(workload, GetParam(), "utrera"));
  });
}

INSTANTIATE_TEST_SUITE_P(Policies, ClosedNodes, testing::ValuesIn(policies_for_closed_nodes()),
                         [](const testing::TestParamInfo<std::string>& policy) { return test_name(policy.param); });

}  // namespace
}  // namespace replay::test
