// What g-lomarc-ts promises, on random workloads: at most two jobs or bundles on a node, short jobs alone, no core twice, no
// job lost, and no response beyond R_max and what was planned at submission.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/log/text.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/sharing/occupation.hpp"
#include "tests/support/sharing/slowed_jobs.hpp"

namespace replay::test {
namespace {

constexpr Duration kShort = 600s;

const TracedJob& job_of(const std::vector<TracedJob>& jobs, JobId id) {
  return jobs[static_cast<std::size_t>(number(id)) - 1];
}

// The first node with more than two jobs or bundles, or with a short job that shares it.
std::string crowded_node(const MemoryLog& log, const Machine& machine, const std::vector<TracedJob>& jobs) {
  std::map<NodeId, std::set<JobId>> on;
  const int half = machine.cores_per_node() / 2;
  for (const log::Record& record : log.records()) {
    if (const auto* finish = std::get_if<log::Finished>(&record.what))
      for (auto& [node, there] : on) there.erase(finish->job);
    const auto* const launch = std::get_if<log::Launched>(&record.what);
    if (launch == nullptr) continue;
    std::string wrong;
    for_each_node(launch->allocation, machine, [&](const NodeShare& share) {
      std::set<JobId>& there = on[share.node];
      there.insert(launch->job);
      int serial = 0, parallel = 0, short_ones = 0;
      for (const JobId id : there) {
        const Job& job = job_of(jobs, id).job;
        (job.processes == 1 ? serial : parallel) += 1;
        short_ones += job.estimate <= kShort ? 1 : 0;
      }
      if (parallel + (serial + half - 1) / half > 2 || (short_ones > 0 && there.size() > 1))
        wrong = fmt::format("at {} s {} parallel, {} serial, {} short jobs on node {}", to_text(record.at), parallel,
                            serial, short_ones, static_cast<int>(share.node));
    });
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// The first medium or long job with a response beyond `slack` times what was planned at its submission.
std::string broken_promise(const MemoryLog& log, const std::vector<TracedJob>& jobs, double slack) {
  constexpr double kFactor = 0.75, kRounding = 4e-6;
  std::size_t promised = 0;
  for (const log::Record& record : log.records()) {
    const auto* const expected = content<ResponseExpected>(record);
    if (expected == nullptr) continue;
    ++promised;
    const Job& job = job_of(jobs, expected->job).job;
    if (job.estimate <= kShort) continue;
    const double planned = seconds(expected->response) / kFactor;
    const double response = seconds(log.end(job.id) - job.submitted);
    if (response > std::max(1.0, slack * kFactor) * planned + kRounding)
      return fmt::format("job {} was planned to respond after {} s and does after {} s", number(job.id), planned,
                         response);
  }
  return promised == jobs.size() ? "" : fmt::format("{} promises for {} jobs", promised, jobs.size());
}

std::size_t groups_in(const MemoryLog& log) {
  return static_cast<std::size_t>(std::ranges::count_if(
      log.records(), [](const log::Record& record) { return content<GroupFormed>(record) != nullptr; }));
}

struct Sharing {
  const char* policy;
  double slack;
  std::size_t groups;  ///< so many at least, in all workloads together
};
void PrintTo(const Sharing& sharing, std::ostream* out) { *out << sharing.policy; }

// Whatever the slack, a job that starts with one process per node takes its time there. Processes that share a node may be
// faster, by 10 % at most, and so may be the plan.
constexpr double kSpread = 1 / 0.75 / 0.9;

class NodeSharing : public testing::TestWithParam<Sharing> {};

TEST_P(NodeSharing, KeepsItsPromises) {
  std::size_t groups = 0;
  for (const char* text : {"4x2x2", "6x2x2", "2x2x4", "8x1x4", "3x4x1"})
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const Machine machine = Machine::parse(text);
      const auto jobs = slowed_jobs(seed, 60, machine.size(), seed % 2 == 0);
      const MemoryLog log = simulate(GetParam().policy, machine, jobs, "isolated+pairs");
      const std::string where = fmt::format("{}, seed {}", text, seed);
      ASSERT_EQ(what_is_wrong(log, machine), "") << where;
      ASSERT_EQ(sharing_error(log, machine), "") << where;
      ASSERT_EQ(crowded_node(log, machine, jobs), "") << where;
      ASSERT_EQ(broken_promise(log, jobs, GetParam().slack), "") << where;
      for (const TracedJob& traced : jobs) ASSERT_EQ(log.outcome(traced.job.id), Outcome::kCompleted) << where;
      groups += groups_in(log);
    }
  EXPECT_GE(groups, GetParam().groups);
}

INSTANTIATE_TEST_SUITE_P(Variants, NodeSharing,
                         testing::Values(Sharing{"g-lomarc-ts", 1.5, 100}, Sharing{"g-lomarc-ts:f-slack=1", kSpread, 1},
                                         Sharing{"g-lomarc-ts:f-slack=4:max-sl=2:min-utilgain=0", 4, 100},
                                         Sharing{"g-lomarc-ts:variant=ssp", 1.5, 0},
                                         Sharing{"g-lomarc-ts:variant=cst", 1.5, 100},
                                         Sharing{"g-lomarc-ts:variant=cstws", 1.5, 100},
                                         Sharing{"g-lomarc-ts:variant=fbo:block-size=2", 1.5, 100},
                                         Sharing{"g-lomarc-ts:variant=ns:block-size=2", 1.5, 100},
                                         Sharing{"g-lomarc-ts:variant=nh", 1.5, 100}),
                         [](const auto& one) {
                           std::string name = one.param.policy;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

TEST(NodesToShare, HaveHalves) {
  for (const char* text : {"flat:16", "4x1x2", "4x1x5"}) {
    try {
      simulate("g-lomarc-ts", Machine::parse(text), slowed_jobs(1, 3, 2, true), "isolated");
      ADD_FAILURE() << text << " was taken";
    } catch (const PolicyError& error) {
      EXPECT_NE(std::string{error.what()}.find(text), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace replay::test
