// Schedules of a few jobs in which one rule of a policy decides: every start, worked out from the policy's page. The
// traces are in tests/data/schedules, with their side files.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/support/schedule.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {
namespace {

struct SmallSchedule {
  const char* rule;
  const char* trace;
  const char* policy;
  const char* machine;
  const char* model;
  std::vector<int> starts_s;  // of jobs 1, 2, ...
};

void PrintTo(const SmallSchedule& schedule, std::ostream* out) { *out << schedule.policy << " on " << schedule.trace; }

class SmallSchedules : public testing::TestWithParam<SmallSchedule> {};

TEST_P(SmallSchedules, EveryJobStartsWhereTheRuleHasIt) {
  const SmallSchedule& expected = GetParam();
  CleaningRules rules;
  rules.over_request = OverRequest::kKeep;
  const LoadedWorkload loaded =
      read_workload(std::string{REPLAY_SOURCE_DIR} + "/tests/data/schedules/" + expected.trace + ".swf", rules);
  std::vector<TracedJob> jobs;
  for (const TracedJob& job : loaded.workload.jobs) jobs.push_back(job);
  ASSERT_EQ(jobs.size(), expected.starts_s.size());
  const Machine machine = Machine::parse(expected.machine);
  const MemoryLog log = simulate(expected.policy, machine, jobs, expected.model);
  EXPECT_EQ(what_is_wrong(log, machine), "");
  for (std::size_t i = 0; i < jobs.size(); ++i)
    EXPECT_EQ(log.start(jobs[i].job.id), at(std::chrono::seconds{expected.starts_s[i]})) << "job " << i + 1;
}

INSTANTIATE_TEST_SUITE_P(
    OneRuleEach, SmallSchedules,
    testing::Values(
        // At 2 s job 1 ends early and job 4 moves up; it leaves a hole at 6 s that job 2, asked before it, could use.
        // The next end, of job 4 at 3 s, is at its estimate.
        SmallSchedule{
            "ConservativeAtEarlyEnds", "conservative-holes", "conservative", "flat:2", "rigid", {1, 7, 1, 2, 10}},
        SmallSchedule{"ConservativeAtEveryEnd",
                      "conservative-holes",
                      "conservative:compress-at=every-end",
                      "flat:2",
                      "rigid",
                      {1, 6, 1, 2, 9}},
        // At 3 s the timer of a plan that was discarded at 2 s fires, and nothing else happens: no step.
        SmallSchedule{"DynpStepsOnEventsOnly", "dynp-stale", "dynp", "flat:5", "rigid", {13, 13, 2, 0, 5}},
        // By sums job 5 would leave enough for job 3, the head, at its shadow time of 4 s; on their nodes it would not.
        SmallSchedule{"EasyMalleableCountsOnNodes", "em-nodes", "easy-malleable", "3x1x3", "isolated", {0, 0, 3, 6, 6}},
        // At 2 s job 1 is shrunk for job 2 and so ends later: job 4 would be in the way of job 3, the head, at 6 s.
        SmallSchedule{"EasyMalleableSeesThisPass", "em-stale", "easy-malleable", "flat:4", "isolated", {0, 2, 6, 8}},
        // At 2 s job 1 is killed and job 3 gets a core. Job 4, the head, can start at 4 s; job 5 would be in its way. Then
        // job 2 is expanded and so ends at 4 s: a second pass at 2 s, for the end of job 1, would start job 5.
        SmallSchedule{"EasyMalleablePassesOnceAtAKill",
                      "em-kill",
                      "easy-malleable:expand=eager",
                      "flat:7",
                      "isolated",
                      {0, 0, 2, 4, 4}},
        // The same, but job 1 ends by itself.
        SmallSchedule{"EasyMalleablePassesOnceAtAnEnd",
                      "em-kill-finish",
                      "easy-malleable:expand=eager",
                      "flat:7",
                      "isolated",
                      {0, 0, 2, 4, 4}},
        // On nodes: at 4 s job 3 is killed.
        SmallSchedule{"EasyMalleablePassesOnceAtAKillOnNodes",
                      "em-kill-nodes",
                      "easy-malleable:expand=eager",
                      "2x1x4",
                      "isolated",
                      {0, 2, 2, 5, 5}}),
    [](const auto& schedule) { return std::string{schedule.param.rule}; });

}  // namespace
}  // namespace replay::test
