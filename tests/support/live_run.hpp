// Fixture for tests of the live engine with an executor without processes.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/live/engine.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

struct LiveLog {
  MemoryLog log;
  live::RunResult result;
  std::string misuse;
  std::map<JobId, std::vector<std::vector<CoreId>>> placements;
  std::vector<std::pair<JobId, double>> slowdowns;
};

class Live : public testing::Test {
 protected:
  using Adjust = std::function<void(FakeExecutor&, live::RunOptions&)>;
  LiveLog run(std::string_view policy, std::vector<TracedJob> jobs, double scale = 1, const Adjust& adjust = {}) {
    return run(*make_policy(policy).policy, std::move(jobs), scale, adjust);
  }
  LiveLog run(Policy& policy, std::vector<TracedJob> jobs, double scale, const Adjust& adjust = {}) {
    std::map<JobId, Duration> runtimes;
    for (const TracedJob& traced : jobs)
      runtimes[traced.job.id] =
          Duration{static_cast<std::int64_t>(static_cast<double>(traced.truth.runtime.count()) * scale)};
    FakeExecutor executor{runtimes};
    live::RunOptions options;
    options.time_scale = scale;
    options.order = [](const TracedJob&, ProcessCount) { return live::LaunchOrder{}; };
    if (adjust) adjust(executor, options);
    const Workload workload{std::move(jobs)};
    LiveLog live;
    live::TraceSource source{workload};
    live.result = live::run(machine_, source, policy, *make_runtime_model("isolated"), executor, live.log, options);
    live.misuse = executor.misuse;
    live.placements = executor.placements;
    live.slowdowns = executor.slowdowns;
    return live;
  }
  Machine machine_ = Machine::cluster(1, 1, 2);
};

}  // namespace replay::test
