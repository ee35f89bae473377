// The policies for rigid jobs beside their oracles.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/oracle/easy.hpp"
#include "tests/oracle/fcfs.hpp"
#include "tests/oracle_test/comparison.hpp"

namespace replay::test {
namespace {

using oracle::Aging;
using oracle::BackfillOrder;
using oracle::Easy;
using oracle::PassRule;

Variant easy_variant(const std::string& policy, const Easy& rules) {
  return {policy, [rules](const oracle::Workload& workload) { return oracle::easy(workload, rules); }};
}

Variant priority_variant(const std::string& policy, Aging aging) {
  Draw draw;
  draw.long_times = true;
  return {policy, [aging](const oracle::Workload& workload) { return oracle::priority_easy(workload, aging); }, draw};
}

const std::vector<Variant>& rigid_variants() {
  static const std::vector<Variant> variants{
      {"fcfs", oracle::fcfs},
      easy_variant("easy", {}),
      easy_variant("easy:pass=instant", {.pass = PassRule::kInstant}),
      easy_variant("easy:backfill=shortest", {.order = BackfillOrder::kShortest}),
      easy_variant("easy:backfill=narrowest", {.order = BackfillOrder::kNarrowest}),
      easy_variant("easy:reservations=2", {.reservations = 2}),
      easy_variant("easy:reservations=3:backfill=shortest", {.reservations = 3, .order = BackfillOrder::kShortest}),
      easy_variant("easy:reservations=3:backfill=narrowest:pass=instant",
                   {.reservations = 3, .order = BackfillOrder::kNarrowest, .pass = PassRule::kInstant}),
      easy_variant("easy:reservations=all", {.reservations = Easy::kAll}),
      easy_variant("easy:reservations=all:pass=instant", {.reservations = Easy::kAll, .pass = PassRule::kInstant}),
      priority_variant("priority-easy", Aging::kTop),
      priority_variant("priority-easy:aging=one", Aging::kOne),
      priority_variant("priority-easy:aging=off", Aging::kOff),
  };
  return variants;
}

class RigidOracle : public testing::TestWithParam<Variant> {};

TEST_P(RigidOracle, StartsAndEndsEveryJobWhereThePageSays) { expect_same_schedules(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Policies, RigidOracle, testing::ValuesIn(rigid_variants()),
                         [](const testing::TestParamInfo<Variant>& variant) {
                           return test_name(variant.param.policy);
                         });

}  // namespace
}  // namespace replay::test
