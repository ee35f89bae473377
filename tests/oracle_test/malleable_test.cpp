// Compares the malleable policies with their oracle, to the microsecond and to each node's cores at each resize.
#include "tests/oracle/malleable.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/oracle_test/comparison.hpp"

namespace replay::test {
namespace {

using oracle::Criterion;
using oracle::Malleable;
using oracle::TimeModel;

Variant malleable_variant(const std::string& policy, const Malleable& rules, const std::string& model) {
  Draw draw;
  draw.most_nodes = 4;
  draw.behaviour = true;
  const auto oracle = [rules](const oracle::Workload& workload) { return oracle::malleable(workload, rules); };
  return {policy, oracle, draw, model, true};
}

struct NamedModel {
  std::string name;
  TimeModel model;
};
const std::vector<NamedModel> kModels{{"utrera", TimeModel::kUtrera},
                                      {"isolated", TimeModel::kIsolated},
                                      {"utrera-additive", TimeModel::kUtreraAdditive}};

std::vector<Variant> variants_of(const std::string& policy, bool backfill) {
  struct Named {
    std::string parameters;
    Malleable rules;
  };
  std::vector<Named> all{
      {"", {}},
      {":criterion=least-cpu-util", {.criterion = Criterion::kLeastCpuUse}},
      {":criterion=longest", {.criterion = Criterion::kLongest}},
      {":criterion=shortest", {.criterion = Criterion::kShortest}},
      {":expand=eager", {.eager = true}},
      {":max_mpl=1", {.max_mpl = 1}},
      {":max_mpl=3", {.max_mpl = 3}},
      {":max_mpl=4:criterion=shortest:expand=eager", {.max_mpl = 4, .criterion = Criterion::kShortest, .eager = true}},
      {":max_mpl=7:criterion=longest", {.max_mpl = 7, .criterion = Criterion::kLongest}},
  };
  if (backfill) {
    all.push_back({":estimate=conservative", {.cautious = true}});
    all.push_back({":estimate=conservative:max_mpl=4:expand=eager", {.max_mpl = 4, .eager = true, .cautious = true}});
  }
  std::vector<Variant> variants;
  for (auto [parameters, rules] : all)
    for (const auto& [name, model] : kModels) {
      rules.backfill = backfill;
      rules.model = model;
      variants.push_back(malleable_variant(policy + parameters, rules, name));
    }
  return variants;
}

// Two jobs on the same cores: machines of nodes only.
std::vector<Variant> sharing_variants() {
  using oracle::Beside;
  struct Named {
    std::string parameters;
    Malleable rules;
  };
  const std::vector<Named> all{
      {"share=first", {.share = Beside::kFirst}},
      {"share=last", {.share = Beside::kLast}},
      {"share=last:max_slowdown=3", {.share = Beside::kLast, .max_slowdown = 3}},
      {"share=first:max_mpl=3:max_slowdown=2", {.max_mpl = 3, .share = Beside::kFirst, .max_slowdown = 2}},
      {"share=last:max_mpl=4:max_slowdown=4:expand=eager",
       {.max_mpl = 4, .eager = true, .share = Beside::kLast, .max_slowdown = 4}},
      {"share=first:max_mpl=5:max_slowdown=2.5:criterion=least-cpu-util",
       {.max_mpl = 5, .criterion = Criterion::kLeastCpuUse, .share = Beside::kFirst, .max_slowdown = 2.5}},
  };
  std::vector<Variant> variants;
  for (auto [parameters, rules] : all)
    for (const auto& [name, model] : kModels) {
      rules.model = model;
      variants.push_back(malleable_variant("fcfs-malleable:" + parameters, rules, name));
      variants.back().draw.nodes = true;
    }
  return variants;
}

class MalleableOracle : public testing::TestWithParam<Variant> {};

TEST_P(MalleableOracle, StartsResizesAndEndsEveryJobWhereThePageSays) { expect_same_schedules(GetParam()); }

std::string malleable_test_name(const testing::TestParamInfo<Variant>& variant) {
  return test_name(variant.param.policy + "_" + variant.param.model);
}

INSTANTIATE_TEST_SUITE_P(FcfsMalleable, MalleableOracle, testing::ValuesIn(variants_of("fcfs-malleable", false)),
                         malleable_test_name);
INSTANTIATE_TEST_SUITE_P(FcfsMalleableSharing, MalleableOracle, testing::ValuesIn(sharing_variants()),
                         malleable_test_name);
INSTANTIATE_TEST_SUITE_P(EasyMalleable, MalleableOracle, testing::ValuesIn(variants_of("easy-malleable", true)),
                         malleable_test_name);

std::vector<Variant> malleable_with_closed_nodes() {
  std::vector<Variant> all;
  for (const auto& variants :
       {variants_of("fcfs-malleable", false), variants_of("easy-malleable", true), sharing_variants()})
    for (Variant variant : variants) {
      variant.draw.node_events = true;
      all.push_back(variant);
    }
  return all;
}
INSTANTIATE_TEST_SUITE_P(ClosedNodes, MalleableOracle, testing::ValuesIn(malleable_with_closed_nodes()),
                         malleable_test_name);

// Jobs as positions in the workload, in the order of the queue.
std::vector<std::size_t> in_queue_order(const oracle::Workload& workload) {
  std::vector<std::size_t> order(workload.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::pair{workload.jobs[i].submit, workload.jobs[i].number};
  });
  return order;
}

int sum(const oracle::Cores& cores) { return std::accumulate(cores.on_node.begin(), cores.on_node.end(), 0); }

std::string first_overtaken(const oracle::Workload& workload, const oracle::Schedule& schedule) {
  const std::vector<std::size_t> order = in_queue_order(workload);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (schedule[order[i]].start < schedule[order[i - 1]].start)
      return fmt::format("job {} starts before job {}", workload.jobs[order[i]].number,
                         workload.jobs[order[i - 1]].number);
  return "";
}

// A job may be shrunk only if another job starts at the same instant.
std::string first_shrunk_for_nothing(const oracle::Workload& workload, const oracle::Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.size(); ++i)
    for (std::size_t k = 1; k < schedule[i].cores.size(); ++k) {
      const oracle::Cores& cores = schedule[i].cores[k];
      if (sum(cores) < sum(schedule[i].cores[k - 1]) &&
          std::ranges::none_of(schedule, [&](const oracle::Span& other) { return other.start == cores.since; }))
        return fmt::format("job {} is shrunk at {} us, where no job starts", workload.jobs[i].number, cores.since);
    }
  return "";
}

TEST(FcfsMalleablePromises, JobsStartInTheOrderOfTheirArrival) {
  for (const Variant& variant : variants_of("fcfs-malleable", false)) expect_promise(variant, first_overtaken);
}

TEST(FcfsMalleablePromises, NoJobIsShrunkWhileTheHeadCannotStartEvenSo) {
  for (const Variant& variant : variants_of("fcfs-malleable", false)) expect_promise(variant, first_shrunk_for_nothing);
}

TEST(FcfsMalleableSharingPromises, JobsStartInTheOrderOfTheirArrival) {
  for (const Variant& variant : sharing_variants()) expect_promise(variant, first_overtaken);
}

TEST(EasyMalleablePromises, NoJobIsShrunkWhileTheHeadCannotStartEvenSo) {
  for (const Variant& variant : variants_of("easy-malleable", true)) expect_promise(variant, first_shrunk_for_nothing);
}

}  // namespace
}  // namespace replay::test
