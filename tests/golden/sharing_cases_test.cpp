// Cases of a few jobs that share nodes, worked out by hand: start, end, processes per node, nodes and expected response
// of every job, and the groups that are formed. Trace, slowdowns and expected tables are in tests/data/cases/sharing.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/pair_table.hpp"
#include "scheduler/sim/simulator.hpp"
#include "tests/support/case_files.hpp"
#include "tests/support/schedule.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {
namespace {

struct SharingCase {
  const char* name;
  const char* policy;
};

template <class What>
const What* find(const MemoryLog& log, JobId job) {
  for (const log::Record& record : log.records())
    if (const auto* what = content<What>(record); what != nullptr && what->job == job) return what;
  return nullptr;
}

std::string row_of(const MemoryLog& log, const Machine& machine, JobId job) {
  const auto* const launched = find<log::Launched>(log, job);
  const auto* const expected = find<ResponseExpected>(log, job);
  if (launched == nullptr || expected == nullptr)
    return fmt::format("{} has no start or no expected response", number(job));
  ProcessCount per_node = 0;
  std::vector<int> nodes;
  for_each_node(launched->allocation, machine, [&](const NodeShare& share) {
    per_node = std::max(per_node, share.processes);
    nodes.push_back(static_cast<int>(share.node));
  });
  return fmt::format("{},{},{},{},{},{}", number(job), to_text(log.start(job)), to_text(log.end(job)), per_node,
                     fmt::join(nodes, "|"), to_text(expected->response));
}

std::vector<std::string> groups_of(const MemoryLog& log) {
  std::vector<std::string> groups;
  for (const log::Record& record : log.records())
    if (const auto* formed = content<GroupFormed>(record)) {
      std::vector<std::int64_t> matched;
      for (const JobId job : formed->matched) matched.push_back(number(job));
      groups.push_back(fmt::format("{},{},{},{},{:.9f}", to_text(record.at), formed->way, number(formed->primary),
                                   fmt::join(matched, "|"), formed->gain));
    }
  return groups;
}

class SharingCases : public testing::TestWithParam<SharingCase> {};

TEST_P(SharingCases, EveryStartEndPlaceAndGroupIsThatWorkedOutByHand) {
  const std::string path = std::string{REPLAY_SOURCE_DIR} + "/tests/data/cases/sharing/" + GetParam().name;
  const LoadedWorkload loaded = read_workload(path + ".swf");
  const Machine machine = Machine::cluster(loaded.machine_size / 4, 2, 2);
  const PairTable pairs = std::filesystem::exists(path + ".pairs.csv") ? read_pairs(path + ".pairs.csv") : PairTable{};
  MemoryLog log;
  replay::simulate(machine, loaded.workload, *make_policy(GetParam().policy).policy,
                   *make_runtime_model("isolated+pairs", {.pairs = &pairs}), log);
  EXPECT_EQ(what_is_wrong(log, machine), "");

  std::vector<std::string> rows{"job,start,end,processes_per_node,nodes,r_est"};
  for (const TracedJob& traced : loaded.workload.jobs) rows.push_back(row_of(log, machine, traced.job.id));
  EXPECT_EQ(rows, lines_of(path + ".expected.csv"));

  std::vector<std::string> expected_groups = lines_of(path + ".groups.csv");
  if (!expected_groups.empty()) expected_groups.erase(expected_groups.begin());
  EXPECT_EQ(groups_of(log), expected_groups);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, SharingCases,
    testing::Values(SharingCase{"three-jobs", "g-lomarc-ts"}, SharingCase{"four-periods", "g-lomarc-ts"},
                    SharingCase{"purify", "g-lomarc-ts"}, SharingCase{"window", "g-lomarc-ts"},
                    SharingCase{"refused", "g-lomarc-ts"}, SharingCase{"refused-slack2", "g-lomarc-ts:f-slack=2"},
                    SharingCase{"running-primary", "g-lomarc-ts"}, SharingCase{"bundle", "g-lomarc-ts"},
                    SharingCase{"bundle-refused", "g-lomarc-ts"}, SharingCase{"slices", "scojo-pect:inner=g-lomarc-ts"},
                    SharingCase{"guest", "scojo-pect:inner=g-lomarc-ts"},
                    SharingCase{"guest-refused", "scojo-pect:inner=g-lomarc-ts"}),
    [](const auto& one) { return without_dashes(one.param.name); });

}  // namespace
}  // namespace replay::test
