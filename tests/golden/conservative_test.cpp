// Mean waits that other simulators computed for the KTH log: FCFS and conservative backfilling on the golden
// normalisation of the log (size: field 5 if > 0, else 8; jobs without size or run time left out; request: field 9 if >
// 0, else the run time; run time cut at the request), and EASY with exact estimates, backfilling by arrival and
// shortest first. The figure of a simulator that compresses at every end (pyss, of Feitelson's group) is for SDSC SP2;
// on KTH this rule gives the same mean.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "scheduler/policy/registry.hpp"
#include "scheduler/sim/simulator.hpp"
#include "tests/support/archive_logs.hpp"
#include "traces/workload_reader.hpp"

namespace replay {
namespace {

class WaitSum final : public log::Sink {
 public:
  void header(const log::Header&) override {}
  void record(const log::Record& record) override {
    if (const auto* submit = std::get_if<log::Submitted>(&record.what)) submitted_[submit->job.id] = record.at;
    if (const auto* launch = std::get_if<log::Launched>(&record.what)) {
      sum_ += record.at - submitted_.at(launch->job);
      ++jobs_;
    }
  }
  [[nodiscard]] double mean_s() const { return seconds(sum_) / static_cast<double>(jobs_); }

 private:
  std::unordered_map<JobId, Instant> submitted_;
  Duration sum_{};
  std::size_t jobs_ = 0;
};

double mean_wait_s(const Workload& workload, const char* policy, CoreCount processors = 100) {
  const NamedPolicy named = make_policy(policy);
  WaitSum waits;
  simulate(Machine::pool(processors), workload, *named.policy, *make_runtime_model("rigid"), waits);
  return waits.mean_s();
}

constexpr double kCent = 0.005;  // the figures have two decimals

Workload with_run_times(const Workload& all) {
  Workload some;
  for (const TracedJob& job : all.jobs)
    if (job.truth.runtime > Duration::zero()) some.jobs.push_back(job);
  return some;
}

TEST(GoldenMeanWaits, OfFcfsAndConservativeOnTheNormalisedKthLog) {
  const auto file = test::archive_log("KTH-SP2-1996-2");
  SKIP_WITHOUT(file);
  const Workload normalised = with_run_times(read_workload(file).workload);
  ASSERT_EQ(normalised.jobs.size(), 28'481u);
  EXPECT_NEAR(mean_wait_s(normalised, "fcfs"), 354'002.32, kCent);
  EXPECT_NEAR(mean_wait_s(normalised, "conservative"), 7'340.64, kCent);
  EXPECT_NEAR(mean_wait_s(normalised, "conservative:compress-at=every-end"), 7'340.64, kCent);
}

TEST(GoldenMeanWaits, OfConservativeThatCompressesAtEveryEndOnTheNormalisedSdscLog) {
  const auto file = test::archive_log("SDSC-SP2-1998-4.2-cln");
  SKIP_WITHOUT(file);
  const Workload normalised = with_run_times(read_workload(file).workload);
  ASSERT_EQ(normalised.jobs.size(), 54'034u);
  EXPECT_NEAR(mean_wait_s(normalised, "conservative:compress-at=every-end", 128), 21'921.00, kCent);
}

TEST(GoldenMeanWaits, OfEasyWithExactEstimatesByArrivalAndShortestFirst) {
  const auto file = test::archive_log("KTH-SP2-EASY-reference");
  SKIP_WITHOUT(file);
  LoadedWorkload loaded = read_workload(file);
  loaded.workload.jobs.change_each([](TracedJob& job) { job.job.estimate = job.truth.runtime; });
  EXPECT_NEAR(mean_wait_s(loaded.workload, "easy"), 6'327.6816, kCent);
  EXPECT_NEAR(mean_wait_s(loaded.workload, "easy:backfill=shortest"), 5'436.0208, kCent);
}

}  // namespace
}  // namespace replay
