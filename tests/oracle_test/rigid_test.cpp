// The policies for rigid jobs beside their oracles.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/oracle/conservative.hpp"
#include "tests/oracle/easy.hpp"
#include "tests/oracle/fcfs.hpp"
#include "tests/oracle/fresh_plan.hpp"
#include "tests/oracle_test/comparison.hpp"

namespace replay::test {
namespace {

using oracle::Aging;
using oracle::BackfillOrder;
using oracle::Compress;
using oracle::CompressAt;
using oracle::Conservative;
using oracle::Easy;
using oracle::PassRule;
using oracle::QueueOrder;

Variant easy_variant(const std::string& policy, const Easy& rules) {
  return {policy, [rules](const oracle::Workload& workload) { return oracle::easy(workload, rules); }};
}

Variant priority_variant(const std::string& policy, Aging aging) {
  Draw draw;
  draw.long_times = true;
  return {policy, [aging](const oracle::Workload& workload) { return oracle::priority_easy(workload, aging); }, draw};
}

Variant plan_variant(const std::string& policy, QueueOrder order, PassRule pass = PassRule::kInstant) {
  return {policy, [order, pass](const oracle::Workload& workload) {
            return oracle::plan_at_every_event(workload, order, pass);
          }};
}

// Jobs of one instant come in the order of the file with a pass after each, and else by their numbers, which the reader
// leaves to the file.
Variant conservative_variant(const std::string& policy, const Conservative& rules) {
  Draw draw;
  draw.any_numbers = rules.pass == PassRule::kEvent;
  return {policy, [rules](const oracle::Workload& workload) { return oracle::conservative(workload, rules); }, draw};
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
      plan_variant("plan", QueueOrder::kFcfs),
      plan_variant("plan:order=sjf", QueueOrder::kSjf),
      plan_variant("plan:order=ljf:pass=event", QueueOrder::kLjf, PassRule::kEvent),
      plan_variant("sjf", QueueOrder::kSjf),
      plan_variant("sjf:pass=event", QueueOrder::kSjf, PassRule::kEvent),
      plan_variant("ljf", QueueOrder::kLjf),
      conservative_variant("conservative", {}),
      conservative_variant("conservative:pass=instant", {.pass = PassRule::kInstant}),
      conservative_variant("conservative:compress=start-order", {.compress = Compress::kStartOrder}),
      conservative_variant("conservative:compress=start-order:pass=instant",
                           {.compress = Compress::kStartOrder, .pass = PassRule::kInstant}),
      plan_variant("conservative:compress=replan", QueueOrder::kFcfs, PassRule::kEvent),
      plan_variant("conservative:compress=replan:pass=instant", QueueOrder::kFcfs),
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
