// Cases of a few jobs whose sizes the policy chooses, worked out by hand: start, size and end of every job. A trace, its
// side file and the expected table are in tests/data/moldable.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/support/case_files.hpp"
#include "tests/support/schedule.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {
namespace {

// The processes that the job was started with; 0 if it was not.
ProcessCount size_at_start(const MemoryLog& log, const Job& job) {
  for (const log::Record& record : log.records())
    if (const auto* start = std::get_if<log::StartDecided>(&record.what); start != nullptr && start->job == job.id)
      return processes_on(start->allocation, job.processes);
  return 0;
}

class MoldableCases : public testing::TestWithParam<const char*> {};

TEST_P(MoldableCases, EveryStartSizeAndEndIsThatWorkedOutByHand) {
  const std::string path = std::string{REPLAY_SOURCE_DIR} + "/tests/data/moldable/" + GetParam();
  const LoadedWorkload loaded = read_workload(path + ".swf");
  std::vector<TracedJob> jobs;
  for (const TracedJob& job : loaded.workload.jobs) jobs.push_back(job);
  const Machine machine = cores(loaded.machine_size);

  const std::vector<std::string> expected = lines_of(path + ".expected.csv");
  ASSERT_GT(expected.size(), jobs.size()) << "no expected schedule";
  std::vector<std::string> found{"policy,job,start,size,end"};
  std::set<std::string> done;
  for (std::size_t i = 1; i < expected.size(); ++i) {
    const std::string policy = expected[i].substr(0, expected[i].find(','));
    if (!done.insert(policy).second) continue;
    const MemoryLog log = simulate(policy, machine, jobs, "speedup");
    EXPECT_EQ(what_is_wrong(log, machine), "") << policy;
    for (const TracedJob& traced : jobs) {
      const Job& job = traced.job;
      found.push_back(fmt::format("{},{},{},{},{}", policy, number(job.id), to_text(log.start(job.id)),
                                  size_at_start(log, job), to_text(log.end(job.id))));
    }
  }
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(Golden, MoldableCases,
                         testing::Values("greedy", "fixed-size", "tie", "scojo", "load-one", "load-three",
                                         "start-smaller", "guarantee", "backfill", "forecast"),
                         [](const auto& one) { return without_dashes(one.param); });

}  // namespace
}  // namespace replay::test
