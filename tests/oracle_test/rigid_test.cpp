// Compares the policies for rigid jobs with their oracles.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/oracle/conservative.hpp"
#include "tests/oracle/dynp.hpp"
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
using oracle::Decider;
using oracle::Dynp;
using oracle::Easy;
using oracle::Metric;
using oracle::PassRule;
using oracle::QueueOrder;
using oracle::Step;

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

Variant conservative_variant(const std::string& policy, const Conservative& rules) {
  return {policy, [rules](const oracle::Workload& workload) { return oracle::conservative(workload, rules); }};
}

Variant dynp_variant(const std::string& policy, const Dynp& rules) {
  return {policy, [rules](const oracle::Workload& workload) { return oracle::dynp(workload, rules); }};
}

std::vector<Variant> with_jobs_taken_back(std::vector<Variant> variants) {
  for (Variant& variant : variants) variant.draw.taken_back = true;
  return variants;
}

const std::vector<Variant>& rigid_variants() {
  static const std::vector<Variant> variants = with_jobs_taken_back({
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
      conservative_variant("conservative:compress-at=every-end", {.at = CompressAt::kAllEnds}),
      conservative_variant("conservative:compress-at=every-end:pass=instant",
                           {.at = CompressAt::kAllEnds, .pass = PassRule::kInstant}),
      conservative_variant("conservative:compress=start-order:compress-at=every-end",
                           {.compress = Compress::kStartOrder, .at = CompressAt::kAllEnds}),
      plan_variant("conservative:compress=replan", QueueOrder::kFcfs, PassRule::kEvent),
      plan_variant("conservative:compress=replan:pass=instant", QueueOrder::kFcfs),
      dynp_variant("dynp", {}),
      dynp_variant("dynp:decider=simple", {.decider = Decider::kSimple}),
      dynp_variant("dynp:decider=preferred", {.decider = Decider::kPreferred}),
      dynp_variant("dynp:decider=preferred:preferred=fcfs:threshold=0.25",
                   {.decider = Decider::kPreferred, .preferred = QueueOrder::kFcfs, .threshold_percent = 25}),
      dynp_variant("dynp:decider=preferred:preferred=ljf:threshold=0.05",
                   {.decider = Decider::kPreferred, .preferred = QueueOrder::kLjf, .threshold_percent = 5}),
      dynp_variant("dynp:metric=response", {.metric = Metric::kResponse}),
      dynp_variant("dynp:metric=slowdown", {.metric = Metric::kSlowdown}),
      dynp_variant("dynp:metric=bsld60", {.metric = Metric::kBsld60}),
      dynp_variant("dynp:metric=utilisation", {.metric = Metric::kUtilisation}),
      dynp_variant("dynp:decider=preferred:metric=utilisation:threshold=0.1",
                   {.decider = Decider::kPreferred, .threshold_percent = 10, .metric = Metric::kUtilisation}),
      dynp_variant("dynp:decider=preferred:metric=bsld60:threshold=0.1",
                   {.decider = Decider::kPreferred, .threshold_percent = 10, .metric = Metric::kBsld60}),
      dynp_variant("dynp:step=submit", {.step = Step::kSubmit}),
      dynp_variant("dynp:decider=preferred:step=submit", {.decider = Decider::kPreferred, .step = Step::kSubmit}),
  });
  return variants;
}

std::vector<Variant> with_closed_nodes(std::vector<Variant> variants) {
  for (Variant& variant : variants) variant.draw.node_events = variant.with_cores = true;
  return variants;
}

class RigidOracle : public testing::TestWithParam<Variant> {};

TEST_P(RigidOracle, StartsAndEndsEveryJobWhereThePageSays) { expect_same_schedules(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Policies, RigidOracle, testing::ValuesIn(rigid_variants()),
                         [](const testing::TestParamInfo<Variant>& variant) {
                           return test_name(variant.param.policy);
                         });

INSTANTIATE_TEST_SUITE_P(ClosedNodes, RigidOracle, testing::ValuesIn(with_closed_nodes(rigid_variants())),
                         [](const testing::TestParamInfo<Variant>& variant) {
                           return test_name(variant.param.policy);
                         });

}  // namespace
}  // namespace replay::test
