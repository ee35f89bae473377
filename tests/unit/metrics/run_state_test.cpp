#include "scheduler/metrics/run_state.hpp"

#include <gtest/gtest.h>

#include "scheduler/metrics/series.hpp"
#include "scheduler/model/error.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/unit/metrics/five_jobs.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

using namespace std::chrono_literals;
using test::at;

// In a simulation what is decided is done within the instant: at its end the plan is what the machine does.
TEST(RunState, AgreesWithTheMachineAtTheEndOfEachInstant) {
  for (const char* policy : {"easy", "fcfs-malleable", "easy-malleable"})
    for (const char* machine : {"flat:8", "2x1x4"})
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto log = test::simulate(policy, Machine::parse(machine), test::random_jobs(seed, 60, 8));
        RunState state;
        Series series;
        log::Header header;
        header.set("machine", machine);
        state.header(header);
        series.header(header);
        for (std::size_t i = 0; i < log.records().size(); ++i) {
          const log::Record& record = log.records()[i];
          state.record(record);
          series.record(record);
          if (i + 1 < log.records().size() && log.records()[i + 1].at == record.at) continue;
          const Point& now = series.points().back();
          ASSERT_EQ(state.cores() - state.free_cores(), now.busy_cores) << policy << " " << seed << " record " << i;
          ASSERT_EQ(state.waiting().size(), static_cast<std::size_t>(now.queued));
          ASSERT_EQ(state.running().size(), static_cast<std::size_t>(now.running));
        }
      }
}

TEST(RunState, CoresCountAsGivenAwayWhenThatIsDecided) {
  RunState state;
  Records("flat:4")
      .submit(0, 1, 4, 10)
      .add(0, log::StartDecided{JobId{1}, {4, 1, {}}})
      .launch(0, 1, 4)
      .add(3, log::ResizeDecided{JobId{1}, {2, 2, {}}})
      .feed(state);
  EXPECT_EQ(state.free_cores(), 2) << "the processes may still be on all four";
  state.record({at(4s), log::SuspendDecided{JobId{1}}});
  EXPECT_EQ(state.free_cores(), 4);
  state.record({at(9s), log::ResumeDecided{JobId{1}}});
  EXPECT_EQ(state.free_cores(), 2);
  EXPECT_EQ(state.find(JobId{1})->estimated_end(at(9s)), at(15s)) << "10 s of estimate and 5 s asleep";
  state.record({at(9s), log::KillDecided{JobId{1}, {}}});
  EXPECT_EQ(state.free_cores(), 4);
  state.record({at(10s), log::Finished{JobId{1}, {}}});
  EXPECT_EQ(state.free_cores(), 4);
  EXPECT_EQ(state.find(JobId{1}), nullptr);
}

TEST(RunState, ASharedCoreIsBusyOnce) {
  RunState state;
  Records("1x1x4")
      .submit(0, 1, 2, 10)
      .submit(0, 2, 2, 10)
      .add(0, log::StartDecided{JobId{1}, {2, 1, {{0, 1}, {1, 1}}, true}})
      .add(0, log::StartDecided{JobId{2}, {2, 1, {{1, 1}, {2, 1}}, true}})
      .feed(state);
  EXPECT_EQ(state.free_cores(), 1);
  state.record({at(1s), log::Finished{JobId{1}, {}}});
  EXPECT_EQ(state.free_cores(), 2);
}

TEST(RunState, TheEarliestStartIsByEstimatesAndExtensionsCount) {
  RunState state;
  Records("flat:8")
      .submit(0, 1, 3, 10)
      .submit(0, 2, 4, 20)
      .add(0, log::StartDecided{JobId{1}, {3, 1, {}}})
      .launch(0, 1, 3)
      .add(0, log::StartDecided{JobId{2}, {4, 1, {}}})
      .launch(2, 2, 4)
      .feed(state);
  EXPECT_EQ(state.earliest_start(1, at(3s)), at(3s));
  EXPECT_EQ(state.earliest_start(4, at(3s)), at(10s));
  EXPECT_EQ(state.earliest_start(5, at(3s)), at(22s)) << "counted from its launch";
  EXPECT_EQ(state.earliest_start(9, at(3s)), kNever);
  state.record({at(10s), log::Extended{JobId{1}, 15s}});
  EXPECT_EQ(state.earliest_start(4, at(10s)), at(15s));
  EXPECT_EQ(state.earliest_start(4, at(17s)), at(17s)) << "an estimate that is over may end at any time";
}

TEST(RunState, ALogThatCannotBeTrueIsRefused) {
  const auto state_after = [](const Records& records) {
    RunState state;
    records.feed(state);
  };
  const log::StartDecided start{JobId{1}, {1, 1, {}}};
  EXPECT_THROW(state_after(Records("flat:4").add(0, start)), InputError);
  EXPECT_THROW(state_after(Records("flat:4").submit(0, 1, 1, 1).add(0, start).add(1, start)), InputError);
  EXPECT_THROW(state_after(Records("flat:4").submit(0, 1, 1, 1).submit(1, 1, 1, 1)), InputError);
  EXPECT_THROW(state_after(Records("flat:4").submit(0, 1, 1, 1).add(1, log::SuspendDecided{JobId{1}})), InputError);
  EXPECT_THROW(state_after(Records("")), InputError);
}

}  // namespace
}  // namespace replay::metrics
