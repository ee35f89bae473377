// Tests of simulations as a library: an outcome instead of an exit status, with and without files.
#include "scheduler/experiment/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/experiment/seeds/seeds_simulation.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

// A line for each job that the trace is to have: submitted at once, one after the other on the only core.
std::string write_trace(const fs::path& file, const std::vector<int>& runtimes) {
  std::ofstream out(file);
  out << "; MaxProcs: 1\n";
  int job = 0;
  for (const int runtime : runtimes) out << ++job << " 0 -1 " << runtime << " 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1\n";
  return file.string();
}

TEST(SimulationOutcome, HasTheFiguresAndLeavesNoFileWhenNoneIsAskedFor) {
  Workload workload;
  workload.jobs.push_back(job('A').cores(1).runs(60s).arrives(0s));
  workload.jobs.push_back(job('B').cores(1).runs(30s).arrives(0s));
  const Machine machine = Machine::pool(1);
  const auto model = make_runtime_model("rigid");
  const NamedPolicy easy = make_policy("easy");
  results::Recorder recorder{{}, experiment::figures_only(machine, easy.full_text, "rigid")};
  MemoryLog log;
  experiment::SimBody body{machine, workload};
  const results::PolicyRun run = experiment::run(body, *easy.policy, *model, recorder, {.sinks = {&log}});
  EXPECT_EQ(run.summary.value("mean_wait"), 30);
  EXPECT_EQ(run.machine, "flat:1");
  EXPECT_TRUE(run.folder.empty());
  EXPECT_TRUE(run.fault.empty() && !run.interrupted && run.unwritten.empty());
  EXPECT_EQ(log.start(id('B')), at(60s));
}

TEST(SimulationOutcome, IsWrittenToTheFolderThatTheRecorderHas) {
  const TemporaryFolder folder;
  experiment::RunSpec spec;
  spec.world = experiment::World::kSimulated;
  spec.trace = write_trace(folder / "t.swf", {60, 30});
  spec.policies = {"fcfs", "easy"};
  spec.outputs = "metrics,run";
  const experiment::Prepared prepared = experiment::prepare(spec);
  const results::PolicyRun run = experiment::simulate_policy(prepared, 1, folder / "easy", "replay", {});
  EXPECT_EQ(run.policy, "easy");
  EXPECT_EQ(run.summary.value("mean_wait"), 30);
  EXPECT_TRUE(fs::exists(folder / "easy/metrics.json") && fs::exists(folder / "easy/run.json"));
  EXPECT_FALSE(fs::exists(folder / "easy/events.log"));
}

// A job of so many processes.
std::string write_wide_job(const fs::path& file, int processes) {
  std::ofstream(file) << "; MaxProcs: 16\n1 0 -1 60 " << processes << " -1 -1 " << processes
                      << " 100 -1 1 1 1 -1 1 -1 -1 -1\n";
  return file.string();
}

TEST(UnequalNodes, APolicyThatNeedsEqualOnesHasAPartAndOthersHaveAllCores) {
  const TemporaryFolder folder;
  experiment::RunSpec spec;
  spec.world = experiment::World::kSimulated;
  spec.trace = write_wide_job(folder / "t.swf", 8);
  spec.machine = "1x2x3+1x2x2";
  spec.runtime_model = "pairs";
  spec.policies = {"easy", "g-lomarc-ts", "scojo-pect:inner={g-lomarc-ts}", "scojo-pect:inner={easy}"};
  const experiment::Prepared prepared = experiment::prepare(spec);
  std::vector<std::string> machines;
  for (std::size_t i = 0; i < prepared.policies.size(); ++i) {
    const results::PolicyRun run = experiment::simulate_policy(prepared, i, {}, "replay", {});
    EXPECT_EQ(run.fault, "");
    EXPECT_EQ(run.summary.value("jobs_completed"), 1) << run.policy;
    machines.push_back(run.machine);
  }
  EXPECT_EQ(machines, (std::vector<std::string>{"1x2x3+1x2x2", "2x2x2", "2x2x2", "1x2x3+1x2x2"}));
  for (const std::string policy : {"g-lomarc-ts", "scojo-pect:inner={g-lomarc-ts}"})
    EXPECT_EQ(
        std::ranges::count(prepared.notes,
                           policy + " needs equal nodes: of 1x2x3+1x2x2 it has 2x2x2, and 2 of 10 cores are left out"),
        1)
        << policy;
  EXPECT_EQ(
      std::ranges::count_if(prepared.notes, [](const std::string& note) { return note.find("equal") != note.npos; }),
      2);
}

TEST(UnequalNodes, AJobHasToFitOnThePartThatAPolicyHas) {
  const TemporaryFolder folder;
  experiment::RunSpec spec;
  spec.world = experiment::World::kSimulated;
  spec.trace = write_wide_job(folder / "t.swf", 9);
  spec.machine = "1x2x3+1x2x2";
  spec.runtime_model = "pairs";
  spec.policies = {"easy"};
  EXPECT_NO_THROW((void)experiment::prepare(spec));
  spec.policies = {"easy", "g-lomarc-ts"};
  try {
    (void)experiment::prepare(spec);
    FAIL() << "nine processes on eight cores";
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("job 1 needs 9 processors, the machine has 8"), std::string::npos)
        << error.what();
  }
  spec.scale_from = 16;
  const experiment::Prepared scaled = experiment::prepare(spec);
  EXPECT_EQ(scaled.workload().jobs.cores_needed(0), 5) << "9 * 8 / 16: to the part as well";
}

TEST(SeedsOutcome, HasEachSeedsFiguresAndNotesOfItsOwnTrace) {
  const TemporaryFolder folder;
  (void)write_trace(folder / "t-1.swf", {60, 30});
  (void)write_trace(folder / "t-2.swf", {20, 30});
  experiment::SeedsOptions options;
  options.run.world = experiment::World::kSimulated;
  options.run.trace = (folder / "t-{seed}.swf").string();
  options.run.policies = {"fcfs"};
  options.seeds = "1-2";
  experiment::SeedsSimulation simulation{options, "replay simulate"};
  const std::optional<experiment::SeedsOutcome> outcome = simulation.run([](std::string_view) {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->seeds, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(outcome->traces_differ && outcome->folder.empty());
  EXPECT_EQ(outcome->notes.size(), 2u);
  EXPECT_EQ(outcome->machine, "flat:1");
  ASSERT_EQ(outcome->results.size(), 1u);
  EXPECT_EQ(outcome->results[0].by_seed[0].value("mean_wait"), 30);
  EXPECT_EQ(outcome->results[0].by_seed[1].value("mean_wait"), 10);
}

}  // namespace
}  // namespace replay::test
