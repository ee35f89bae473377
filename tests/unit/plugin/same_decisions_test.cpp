// Tests that first come, first served makes the same event log, byte for byte, in four implementations: built in, as a
// shared object, as a program, as a script; likewise greedy-moldable in three. Values cross the interface exactly, and
// nothing of it shows in the log.

#include <fmt/core.h>

#include <sstream>
#include <variant>

#include "scheduler/log/text.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/unit/plugin/own_policy.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {
namespace {

std::string log_text(const std::string& policy, const Machine& machine, const std::vector<TracedJob>& jobs,
                     Overrun overrun) {
  SimulationOptions options;
  options.overrun = overrun;
  const auto log = simulate(policy, machine, jobs, "utrera", options);
  std::string text;
  for (log::Record record : log.records()) {
    if (auto* const start = std::get_if<log::StartDecided>(&record.what)) start->choice = {};  // words, no decision
    text += log::to_line(record) + '\n';
  }
  return text;
}

std::vector<TracedJob> jobs_with_sizes(std::uint64_t seed) { return random_moldable_jobs(seed, 200, 16); }

class SameDecisions : public OwnPolicy {
 protected:
  template <typename Jobs>
  static void expect_same(const std::string& policy, const std::string& built_in, std::uint64_t seeds, Jobs jobs) {
    for (const char* machine : {"flat:16", "4x2x2"})
      for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        for (const Overrun overrun : {Overrun::kKill, Overrun::kExtend})
          ASSERT_EQ(log_text(policy, Machine::parse(machine), jobs(seed), overrun),
                    log_text(built_in, Machine::parse(machine), jobs(seed), overrun))
              << machine << ", seed " << seed;
  }
  static void expect_fcfs(const std::string& policy, std::uint64_t seeds) {
    expect_same(policy, "fcfs", seeds, [](std::uint64_t seed) { return random_jobs(seed, 200, 16); });
  }
  static void expect_greedy_moldable(const std::string& policy, std::uint64_t seeds) {
    expect_same(policy, "greedy-moldable", seeds, jobs_with_sizes);
  }
};

TEST_F(SameDecisions, AsASharedObject) { expect_fcfs(example("fcfs_library.so"), 20); }

TEST_F(SameDecisions, AsASharedObjectOfAShorterTable) { expect_fcfs(built_for_tests("shorter_table.so"), 5); }

TEST_F(SameDecisions, AsAProgram) { expect_fcfs("exec:" + example("fcfs_program"), 10); }

TEST_F(SameDecisions, WithChosenSizesAsASharedObject) { expect_greedy_moldable(example("molding_library.so"), 20); }

TEST_F(SameDecisions, WithChosenSizesAsAScript) {
  if (!has_python()) GTEST_SKIP() << "python3 is not on the PATH";
  expect_greedy_moldable(molding_python_example(), 5);
}

// tests/data/cases/moldable/greedy.*, worked out by hand.
TEST_F(SameDecisions, TheExamplesMakeTheScheduleOfTheGreedyMoldableCase) {
  const std::string trace = REPLAY_SOURCE_DIR "/tests/data/cases/moldable/greedy";
  std::string wanted;  // "job start size end", from "greedy-moldable,job,start,size,end"
  std::istringstream rows{text_of(trace + ".expected.csv")};
  for (std::string row; std::getline(rows, row);)
    if (row.starts_with("greedy-moldable,")) wanted += row.substr(row.find(',') + 1) + '\n';
  ASSERT_FALSE(wanted.empty());
  std::vector<std::string> policies{"greedy-moldable", example("molding_library.so")};
  if (has_python()) policies.push_back(molding_python_example());
  for (const std::string& policy : policies) {
    const LoadedWorkload loaded = read_workload(trace + ".swf");
    const std::vector<TracedJob> jobs(loaded.workload.jobs.begin(), loaded.workload.jobs.end());
    const MemoryLog log = simulate(policy, cores(8), jobs);
    std::string schedule;
    for (const TracedJob& traced : jobs)
      schedule += fmt::format("{},{},{},{}\n", number(traced.job.id), to_text(log.start(traced.job.id)),
                              log.decisions(traced.job.id).substr(std::string_view{"start "}.size()),
                              to_text(log.end(traced.job.id)));
    EXPECT_EQ(schedule, wanted) << policy;
  }
}

TEST_F(SameDecisions, JobsWithSizesAreStartedAtOtherSizesThanSubmitted) {
  const std::string log = log_text("greedy-moldable", cores(16), jobs_with_sizes(1), Overrun::kKill);
  int others = 0;
  for (std::size_t at = log.find(" start "); at != std::string::npos; at = log.find(" start ", at + 1))
    others += log.substr(at, log.find('\n', at) - at).find(" processes=") != std::string::npos ? 1 : 0;
  EXPECT_GT(others, 50) << "else the two tests above say nothing of sizes";
}

TEST_F(SameDecisions, AsAScript) {
  if (!has_python()) GTEST_SKIP() << "python3 is not on the PATH";
  expect_fcfs(python_example(), 3);
}

}  // namespace
}  // namespace replay::test
