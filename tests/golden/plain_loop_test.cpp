// The starts of fcfs and easy beside those of plain_loop, the yardstick of simulator_bench, which shares no code with
// the scheduler: a ratio of their times says something only if they compute the same schedule.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/sim/simulator.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"
#include "traces/models/lublin_workload.hpp"
#include "traces/workload_reader.hpp"

namespace replay {
namespace {

using Starts = std::map<std::int64_t, double>;  // s, by job

Starts starts_of(const std::string& trace, const char* policy) {
  const LoadedWorkload loaded = read_workload(trace);
  const NamedPolicy named = make_policy(policy);
  test::MemoryLog log;
  simulate(Machine::pool(loaded.machine_size), loaded.workload, *named.policy, *make_runtime_model("rigid"), log);
  Starts starts;
  for (const log::Record& record : log.records())
    if (const auto* launch = std::get_if<log::Launched>(&record.what))
      starts[static_cast<std::int64_t>(launch->job)] = seconds(record.at.time_since_epoch());
  return starts;
}

Starts starts_of_plain_loop(const std::string& trace, const std::string& policy) {
  const TemporaryFolder folder;
  const std::string csv = (folder / "jobs.csv").string();
  const test::ShellResult run = test::shell(PLAIN_LOOP_PROGRAM " '" + trace + "' " + policy + " '" + csv + "'");
  EXPECT_EQ(run.status, 0) << run.err;
  Starts starts;
  std::istringstream rows(test::text_of(csv));
  std::string job, submit, start, rest;
  std::getline(rows, rest);
  while (std::getline(rows, job, ',') && std::getline(rows, submit, ',') && std::getline(rows, start, ',') &&
         std::getline(rows, rest))
    starts[std::stoll(job)] = std::stod(start);
  return starts;
}

void expect_equal_starts(const std::string& trace, std::size_t jobs) {
  for (const auto& [ours, plain] : {std::pair{"fcfs", "fcfs"}, std::pair{"easy:pass=instant", "easy"}}) {
    const Starts starts = starts_of(trace, ours);
    EXPECT_EQ(starts.size(), jobs);
    EXPECT_EQ(starts, starts_of_plain_loop(trace, plain)) << ours;
  }
}

TEST(PlainLoop, StartsEveryJobOfALublinWorkloadAsWeDo) {
  LublinOrder order;
  order.model.machine_size = 128;
  order.model.typeless = default_lublin_parameters(LublinKind::kTypeless, 128);
  order.jobs = 2000;
  order.load = 0.9;
  LublinTrace jobs(order, plan_lublin(order));
  std::string text = "; MaxProcs: 128\n";
  std::int64_t number = 0;
  for (LublinJob job; jobs.next(job);)
    text += std::to_string(++number) + " " + std::to_string(job.arrival) + " -1 " + std::to_string(job.runtime) + " " +
            std::to_string(job.size) + " -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
  const TemporaryFolder folder;
  const std::string trace = (folder / "lublin.swf").string();
  test::write_text(trace, text);
  expect_equal_starts(trace, 2000);
}

// With estimates that are too long.
TEST(PlainLoop, StartsTheFirst1127JobsOfKthAsWeDo) {
  expect_equal_starts(REPLAY_SOURCE_DIR "/traces/samples/kth-easy-1127.swf", 1127);
}

}  // namespace
}  // namespace replay
