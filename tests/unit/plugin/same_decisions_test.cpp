// Tests that first come, first served makes the same event log, byte for byte, in four implementations: built in, as a
// shared object, as a program, as a script. Values cross the interface exactly, and nothing of it shows in the log.

#include "scheduler/log/text.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/unit/plugin/own_policy.hpp"

namespace replay::test {
namespace {

std::string log_text(const std::string& policy, const Machine& machine, std::uint64_t seed, Overrun overrun) {
  SimulationOptions options;
  options.overrun = overrun;
  const auto log = simulate(policy, machine, random_jobs(seed, 200, 16), "utrera", options);
  std::string text;
  for (const log::Record& record : log.records()) text += log::to_line(record) + '\n';
  return text;
}

class SameDecisions : public OwnPolicy {
 protected:
  static void expect_fcfs(const std::string& policy, std::uint64_t seeds) {
    for (const char* machine : {"flat:16", "4x2x2"})
      for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        for (const Overrun overrun : {Overrun::kKill, Overrun::kExtend})
          ASSERT_EQ(log_text(policy, Machine::parse(machine), seed, overrun),
                    log_text("fcfs", Machine::parse(machine), seed, overrun))
              << machine << ", seed " << seed;
  }
};

TEST_F(SameDecisions, AsASharedObject) { expect_fcfs(example("fcfs_library.so"), 20); }

TEST_F(SameDecisions, AsASharedObjectOfAShorterTable) { expect_fcfs(built_for_tests("shorter_table.so"), 5); }

TEST_F(SameDecisions, AsAProgram) { expect_fcfs("exec:" + example("fcfs_program"), 10); }

TEST_F(SameDecisions, AsAScript) {
  if (!has_python()) GTEST_SKIP() << "python3 is not on the PATH";
  expect_fcfs(python_example(), 3);
}

}  // namespace
}  // namespace replay::test
