// Tests of trial runs, with the average waits used for `slack:awt=conservative`, against a run under conservative backfilling.
#include "scheduler/sim/trial_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/powers_of_two.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/slack/average_wait.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

// A workload on 16 cores under which every job waits for minutes.
std::vector<TracedJob> crowded() {
  auto jobs = random_jobs(3, 300, 16);
  for (TracedJob& traced : jobs) {
    traced.truth.runtime *= 100;
    traced.job.estimate *= 100;
  }
  return jobs;
}

std::string found(std::string_view policy, const std::vector<TracedJob>& jobs) {
  const auto model = make_runtime_model("rigid");
  const Machine machine = cores(16);
  const Workload workload{jobs};
  return make_policy(policy).prepared(trial_run(machine, workload, *model, {})).value_or("");
}

double mean_wait(const std::vector<TracedJob>& jobs, std::size_t of_class) {
  const auto log = simulate("conservative:compress=start-order", cores(16), jobs, "rigid");
  double sum = 0;
  int count = 0;
  for (const TracedJob& traced : jobs) {
    if (of_class < 99 && log2_above(traced.job.processes) != of_class) continue;
    sum += seconds(log.start(traced.job.id) - traced.job.submitted);
    ++count;
  }
  return sum / count;
}

TEST(SizeClass, DoublesInWidth) {
  for (const auto& [processes, which] : {std::pair{1, 0U}, {2, 1U}, {3, 2U}, {4, 2U}, {5, 3U}, {8, 3U}, {9, 4U}})
    EXPECT_EQ(log2_above(processes), which) << processes;
}

TEST(AverageWaits, AreThoseOfConservativeBackfilling) {
  const auto jobs = crowded();
  ASSERT_GT(mean_wait(jobs, 99), kLeastAverageWait);
  EXPECT_EQ(found("slack:sf=2:awt=conservative", jobs), fmt::format("slack:sf=2:awt={:.6g}", mean_wait(jobs, 99)));
}

TEST(AverageWaits, BySizeTheyAreThoseOfTheSize) {
  const auto jobs = crowded();
  std::string expected = "slack:awt=";
  for (std::size_t i = 0; i <= log2_above(16); ++i)
    expected += fmt::format("{}{:.6g}", i == 0 ? "" : "/", std::max(kLeastAverageWait, mean_wait(jobs, i)));
  EXPECT_EQ(found("slack:awt=conservative-by-size", jobs), expected);
}

TEST(AverageWaits, WhereNobodyWaitsItIsTheLeast) {
  EXPECT_EQ(found("slack:awt=conservative", {job('A').cores(4).runs(10s)}), "slack:awt=60");
}

TEST(AverageWaits, OthersAreLeftAlone) {
  EXPECT_EQ(found("slack", crowded()), "");
  EXPECT_EQ(found("slack:awt=auto", crowded()), "");
  EXPECT_EQ(found("conservative:compress=arrival", crowded()), "");
}

TEST(AverageWaits, ThePolicyRunsWithWhatWasFound) {
  const auto jobs = crowded();
  for (const char* word : {"conservative", "conservative-by-size", "auto-by-size"}) {
    const std::string policy = fmt::format("slack:awt={}", word);
    const std::string text = found(policy, jobs);
    const auto log = simulate(text.empty() ? policy : text, cores(16), jobs, "rigid");
    for (const TracedJob& traced : jobs) EXPECT_NE(log.start(traced.job.id), kNever) << word;
  }
}

TEST(AverageWaits, ThePolicySaysSoWhenNobodyHasFoundThem) {
  try {
    (void)simulate("slack:awt=conservative", cores(16), crowded(), "rigid");
    FAIL() << "expected an error";
  } catch (const PolicyError& error) {
    EXPECT_NE(std::string(error.what()).find("awt=conservative takes a simulation before the run"), std::string::npos)
        << error.what();
  }
}

TEST(SlackAwt, IsANumberOrSeveralOrAWord) {
  EXPECT_NO_THROW((void)make_policy("slack:awt=60/120/5e3"));
  for (const char* wrong : {"60/", "0/60", "soon", "60//7", ""}) {
    try {
      (void)make_policy(fmt::format("slack:awt={}", wrong));
      FAIL() << wrong;
    } catch (const UsageError& error) {
      EXPECT_EQ(
          std::string(error.what()),
          fmt::format("policy 'slack', parameter 'awt': expected a number, or several joined by '/', each in 1..1e9 "
                      "or auto or auto-by-size or conservative or conservative-by-size, found '{}'",
                      wrong));
    }
  }
}

}  // namespace
}  // namespace replay::test
