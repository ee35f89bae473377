// A policy that shares nodes, CPUs and cores, carried out for real: jobs on different cores of a CPU, and two jobs on the
// same cores. The agent's segments say where the ranks are, and the simulator when they end.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/live/engine.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "tests/support/cores_fixture.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/sharing_policies.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::id;

// Decides all of this when as many jobs wait.
class AllAtOnce final : public Policy {
 public:
  explicit AllAtOnce(Decisions decisions) : decisions_(std::move(decisions)) {}
  void decide(const ClusterView& view, Decisions& out) override {
    if (view.waiting.size() == decisions_.size()) out = decisions_;
  }

 private:
  Decisions decisions_;
};

class NodeSharing : public SharedCores {
 protected:
  void SetUp() override {
    SharedCores::SetUp();
    use_emulated_cores(16);
    local_.machine = machine_;
  }
  // A process on each of these cores.
  static Start start_on(char job, const std::vector<int>& cores, bool shareable) {
    Start start{id(job), {}};
    for (const int core : cores) start.allocation.named.push_back({CoreId{core}, 1});
    start.allocation.cores = static_cast<CoreCount>(cores.size());
    start.allocation.shareable = shareable;
    return start;
  }
  live::LaunchOrder order_for(const TracedJob& traced, ProcessCount processes) {
    const double runtime = seconds(traced.truth.runtime);
    live::LaunchOrder launch = order({REPLAY_PHASES, "--runtime", std::to_string(runtime), "--cpu-use", "0.9"},
                                     static_cast<std::size_t>(processes), traced.job.id);
    launch.directory = directory_ / std::to_string(static_cast<std::int64_t>(traced.job.id));
    std::filesystem::create_directories(launch.directory);
    return launch;
  }
  // "0 4 shared": the cores of its ranks as the agent has told them, once both are there; else empty.
  std::string places(JobId job) const {
    std::string text;
    for (const std::uint32_t rank : {0U, 1U}) {
      if (slot(job, rank).report.pid == 0) return "";
      text += std::to_string(replay_vm_core_of(slot(job, rank).orders.place)) + " ";
    }
    return text + (slot(job, 0).orders.shared != 0 ? "shared" : "alone");
  }

  Machine machine_ = Machine::cluster(4, 2, 2);
};

TEST_F(NodeSharing, JobsAreTogetherOnNodesOnCpusAndOnCores) {
  std::vector<TracedJob> jobs;
  for (const char letter : {'A', 'B', 'C', 'D'})
    jobs.push_back(test::job(letter).cores(2).runs(letter < 'C' ? 6s : 3s).estimated(60s).cpu_use(0.9));
  // All on nodes 0 and 1: A and B on the two cores of a CPU, C and D together on the cores of the other CPU.
  AllAtOnce policy{{start_on('A', {0, 4}, false), start_on('B', {1, 5}, false), start_on('C', {2, 6}, true),
                    start_on('D', {2, 6}, true)}};
  const auto model = make_runtime_model("isolated");
  const auto simulated = test::simulate(policy, machine_, jobs, "isolated");

  prepare();
  std::map<JobId, std::string> seen;
  live::RunOptions options;
  options.order = [this](const TracedJob& traced, ProcessCount processes) { return order_for(traced, processes); };
  options.tick = [&](Instant) {
    for (const char letter : {'A', 'B', 'C', 'D'})
      if (const std::string now = places(id(letter)); !now.empty()) seen.try_emplace(id(letter), now);
  };
  test::MemoryLog log;
  const Workload workload{jobs};
  live::TraceSource source{workload};
  live::run(machine_, source, policy, *model, *executor_, log, options);

  EXPECT_EQ(test::what_is_wrong(log, machine_), "");
  EXPECT_EQ(seen[id('A')], "0 4 alone");
  EXPECT_EQ(seen[id('B')], "1 5 alone");
  EXPECT_EQ(seen[id('C')], "2 6 shared");
  EXPECT_EQ(seen[id('D')], "2 6 shared");
  for (const char letter : {'A', 'B', 'C', 'D'}) ASSERT_EQ(log.outcome(id(letter)), Outcome::kCompleted) << letter;
  // C and D as one: what the first to start gets ahead, the other one lacks.
  const auto span = [](const auto& of, const std::string& letters) {
    Instant begin = kNever, end{};
    for (const char letter : letters) {
      begin = std::min(begin, of.start(id(letter)));
      end = std::max(end, of.end(id(letter)));
    }
    return seconds(end - begin);
  };
  // Launches take as long as the computer lets them, of all jobs alike: above, the jobs are compared with each other.
  std::vector<double> slowdowns;
  for (const char* const letters : {"A", "B", "CD"}) {
    slowdowns.push_back(span(log, letters) / span(simulated, letters));
    EXPECT_GE(slowdowns.back(), 0.8) << letters << ": at full speed it would be 0.6 of CD";
  }
  EXPECT_LE(std::ranges::max(slowdowns), 1.7 * std::ranges::min(slowdowns)) << "some jobs are slowed twice";
}

}  // namespace
}  // namespace replay::launcher
