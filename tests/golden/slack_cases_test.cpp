// Small workloads for which a second implementation of slack-based backfilling, written from the policy's rules alone,
// found other schedules than ours, or a page that did not say which is right: starts and ends as the rules give them.

#include <gtest/gtest.h>

#include <cctype>
#include <map>
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
  std::map<int, int> starts;  // of jobs by their numbers, in seconds
  std::map<int, int> ends{};
  Overrun overrun = Overrun::kPolicy;
};

void PrintTo(const SlackCase& one, std::ostream* out) { *out << one.trace; }

class SlackCases : public testing::TestWithParam<SlackCase> {};

TEST_P(SlackCases, EveryStartAndEndIsThatOfTheRules) {
  const SlackCase& one = GetParam();
  CleaningRules rules;
  rules.over_request = OverRequest::kKeep;
  rules.cancelled = Cancelled::kHonour;
  const LoadedWorkload loaded =
      read_workload(std::string{REPLAY_SOURCE_DIR "/tests/data/cases/"} + one.trace + ".swf", rules);
  SimulationOptions options;
  options.overrun = one.overrun;
  std::vector<TracedJob> jobs;
  for (const TracedJob& traced : loaded.workload.jobs) jobs.push_back(traced);
  const MemoryLog log = simulate(one.policy, cores(one.cores), jobs, "rigid", options);
  EXPECT_EQ(what_is_wrong(log, cores(one.cores)), "");
  for (const auto& [number, start] : one.starts)
    EXPECT_EQ(to_text(log.start(JobId{number})), std::to_string(start)) << "start of job " << number;
  for (const auto& [number, end] : one.ends)
    EXPECT_EQ(to_text(log.end(JobId{number})), std::to_string(end)) << "end of job " << number;
}

INSTANTIATE_TEST_SUITE_P(
    Golden, SlackCases,
    testing::Values(
        // Job 1 starts inside its own insert, so job 2, submitted at the same instant, cannot displace it.
        SlackCase{"slack-idle", "slack:awt=2401", 1, {{1, 0}, {2, 100}}, {{1, 100}, {2, 101}}},
        // Job 2 is beyond its quota: at job 1's early end moving it up costs as much as leaving it, and it moves up.
        SlackCase{"slack-quota", "slack:awt=2401", 4, {{1, 0}, {2, 10}}, {{1, 10}, {2, 20}}},
        // Job 2 reaches its estimate at 50. In the first case job 1 ends at that instant, in the second before: both
        // times there is room for job 2 to go on when the tick looks at the plan.
        SlackCase{"slack-tick", "slack:sf=0:awt=60", 2, {{1, 0}, {2, 0}, {3, 50}}, {{1, 50}, {2, 52}, {3, 60}}},
        SlackCase{"slack-tick2", "slack:sf=0:awt=60", 2, {{1, 0}, {2, 0}, {3, 49}}, {{1, 49}, {2, 52}, {3, 59}}},
        // Jobs 2 and 3 are equal in processors x estimate, in tenths of a second: job 2, planned earlier, comes first.
        SlackCase{"slack-du", "slack:sf=1:awt=1:heuristic=du", 3, {{1, 0}, {2, 10}, {3, 1}}},
        // Jobs 3, 2, 1 stand in this order in the file, submitted at one instant: inserted by number, also where that is
        // the first instant of the run.
        SlackCase{"slack-lines", "slack:awt=60", 1, {{1, 8}, {2, 7}, {3, 6}}, {{1, 9}, {2, 8}, {3, 7}}},
        SlackCase{"slack-lines-first", "slack:awt=60", 1, {{1, 5}, {2, 7}, {3, 6}}},
        // Job 1 is taken back at 8, while it runs: the others move up as at an early end, at the lowest price.
        SlackCase{"slack-taken", "slack:awt=60:heuristic=aat", 1, {{1, 0}, {2, 8}, {3, 18}}, {{1, 8}}},
        // Jobs 7 and 3 are planned for the same instant; 7, which came earlier, keeps its place.
        SlackCase{"slack-tie", "slack:awt=60", 3, {{3, 3}, {4, 2}, {5, 0}, {7, 2}}},
        // Without slack, job 1 ends early at 2: by planned starts the queue closes up; du tries job 3 first, which has no
        // room before job 2, and it waits for its planned start on an empty machine.
        SlackCase{"slack-sf0-idle", "slack:sf=0:awt=60", 1, {{1, 0}, {2, 2}, {3, 3}}},
        SlackCase{"slack-sf0-idle", "slack:sf=0:awt=60:heuristic=du", 1, {{1, 0}, {2, 2}, {3, 11}}},
        SlackCase{"slack-sf0-idle", "slack:sf=0:awt=60:heuristic=dp", 1, {{1, 0}, {2, 2}, {3, 11}}},
        // Job 2 has priority 0: that it could start beside job 5 at 1560 is no gain, so no submission lifts it.
        SlackCase{"slack-fit", "slack:sf=0.1:awt=6000", 2, {{1, 0}, {2, 1600}, {3, 1100}, {4, 1250}, {5, 1560}}},
        // At 2 job 1 is at its estimate, job 2 is due on its processor, and job 3 comes. A kill is decided before the
        // submission, so job 2 starts. The policy rules on it after the submission, which puts job 2 off; job 1 may go on
        // then until its end, as that costs less than its loss.
        SlackCase{"slack-kill", "slack:awt=60", 1, {{1, 0}, {2, 2}, {3, 12}}, {{1, 2}}, Overrun::kKill},
        SlackCase{"slack-kill", "slack:awt=60", 1, {{1, 0}, {2, 6}, {3, 5}}, {{1, 5}}},
        // No job of 2 processors has started when job 5 comes: the mean of all sizes, 500 s, gives it slack for job 6.
        SlackCase{"slack-size", "slack:awt=auto-by-size", 2, {{1, 0}, {2, 0}, {5, 4600}, {6, 4000}}},
        SlackCase{"slack-size", "slack:awt=60", 2, {{1, 0}, {2, 0}, {5, 4000}, {6, 6000}}}),
    [](const testing::TestParamInfo<SlackCase>& one) {
      std::string name = std::string{one.param.trace} + "_" + one.param.policy;
      if (one.param.overrun == Overrun::kKill) name += "_kill";
      for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      return name;
    });

}  // namespace
}  // namespace replay::test
