// Small workloads for which a second implementation of slack-based backfilling, written from the policy's rules alone,
// found other schedules than ours: every start and end, as the rules give them.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "scheduler/model/machine.hpp"
#include "tests/support/schedule.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {
namespace {

struct SlackCase {
  const char* trace;
  const char* policy;
  CoreCount cores;
  std::vector<int> starts;  // of jobs 1, 2, ..., in seconds
  std::vector<int> ends;
};

void PrintTo(const SlackCase& one, std::ostream* out) { *out << one.trace; }

class SlackCases : public testing::TestWithParam<SlackCase> {};

TEST_P(SlackCases, EveryStartAndEndIsThatOfTheRules) {
  const SlackCase& one = GetParam();
  CleaningRules rules;
  rules.over_request = OverRequest::kKeep;
  const LoadedWorkload loaded =
      read_workload(std::string{REPLAY_SOURCE_DIR "/tests/data/cases/"} + one.trace + ".swf", rules);
  SimulationOptions options;
  options.overrun = Overrun::kPolicy;
  std::vector<TracedJob> jobs;
  for (const TracedJob& traced : loaded.workload.jobs) jobs.push_back(traced);
  const MemoryLog log = simulate(one.policy, cores(one.cores), jobs, "rigid", options);
  EXPECT_EQ(what_is_wrong(log, cores(one.cores)), "");
  for (std::size_t i = 0; i < one.starts.size(); ++i) {
    const JobId job{static_cast<std::int64_t>(i) + 1};
    EXPECT_EQ(to_text(log.start(job)), std::to_string(one.starts[i])) << "start of job " << i + 1;
    if (i < one.ends.size()) {
      EXPECT_EQ(to_text(log.end(job)), std::to_string(one.ends[i])) << "end of job " << i + 1;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Golden, SlackCases,
    testing::Values(
        // Job 1 starts inside its own insert, so job 2, submitted at the same instant, cannot displace it.
        SlackCase{"slack-idle", "slack:awt=2401", 1, {0, 100}, {100, 101}},
        // Job 2 is beyond its quota: at job 1's early end moving it up costs as much as leaving it, and it moves up.
        SlackCase{"slack-quota", "slack:awt=2401", 4, {0, 10}, {10, 20}},
        // Job 2 reaches its estimate at 50. In the first case job 1 ends at that instant, in the second before: both
        // times there is room for job 2 to go on when the tick looks at the plan.
        SlackCase{"slack-tick", "slack:sf=0:awt=60", 2, {0, 0, 50}, {50, 52, 60}},
        SlackCase{"slack-tick2", "slack:sf=0:awt=60", 2, {0, 0, 49}, {49, 52, 59}},
        // Jobs 2 and 3 are equal in processors x estimate, in tenths of a second: job 2, planned earlier, comes first.
        SlackCase{"slack-du", "slack:sf=1:awt=1:heuristic=du", 3, {0, 10, 1}, {}},
        // Jobs 3, 2, 1 stand in this order in the file, submitted at one instant: inserted by number.
        SlackCase{"slack-lines", "slack:awt=60", 1, {8, 7, 6}, {9, 8, 7}}),
    [](const testing::TestParamInfo<SlackCase>& one) {
      std::string name = one.param.trace;
      for (char& c : name)
        if (c == '-') c = '_';
      return name;
    });

}  // namespace
}  // namespace replay::test
