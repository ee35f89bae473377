#include "scheduler/compare/several_waits.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/compare/waiting_report.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/unit/metrics/five_jobs.hpp"

namespace replay::compare {
namespace {

// What the report says, but for what it says of other jobs of the log.
std::string text_of(const WaitReport& report) { return report.found ? to_text(report, {.most_lines = 1000}) : "none"; }

TEST(SeveralWaits, TellOfEachJobWhatWaitingReasonsTells) {
  for (const char* policy : {"fcfs", "easy", "conservative", "fcfs-malleable", "slack"})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const auto log = test::simulate(policy, test::cores(8), test::random_jobs(seed, 50, 8));
      std::vector<JobId> jobs;
      for (int job = 51; job >= 1; --job) jobs.push_back(JobId{job});  // there is no job 51
      SeveralWaits waits{jobs, {}};
      test::feed(log, "flat:8", waits);
      const std::vector<WaitReport> reports = waits.finish();
      ASSERT_EQ(reports.size(), jobs.size());
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        WaitingReasons alone{jobs[i]};
        test::feed(log, "flat:8", alone);
        ASSERT_EQ(text_of(reports[i]), text_of(alone.finish()))
            << fmt::format("{}, seed {}, job {}", policy, seed, number(jobs[i]));
      }
    }
}

TEST(SeveralWaits, OfManySegmentsTheFirstAndTheLastAreKeptAndTheTotalsStay) {
  const auto log = test::simulate("easy", test::cores(8), test::random_jobs(3, 80, 8));
  std::vector<JobId> jobs;
  for (int job = 1; job <= 80; ++job) jobs.push_back(JobId{job});
  SeveralWaits all{jobs, {.merge = false}}, few{jobs, {.merge = false, .most_segments = 3}};
  test::feed(log, "flat:8", all);
  test::feed(log, "flat:8", few);
  const auto whole = all.finish(), cut = few.finish();
  std::size_t were_cut = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::size_t count = whole[i].segments.size();
    ASSERT_EQ(cut[i].segments.size(), std::min<std::size_t>(count, 3));
    ASSERT_EQ(cut[i].segments.size() + cut[i].left_out, count);
    for (std::size_t cause = 0; cause < kWaitCauses; ++cause)
      ASSERT_EQ(cut[i].total(static_cast<WaitCause>(cause)), whole[i].total(static_cast<WaitCause>(cause)));
    if (count <= 3) continue;
    ++were_cut;
    EXPECT_EQ(cut[i].segments.front().from, whole[i].segments.front().from);
    EXPECT_EQ(cut[i].segments[1].from, whole[i].segments[1].from);
    EXPECT_EQ(cut[i].segments.back().to, whole[i].segments.back().to);
    EXPECT_EQ(to_text(cut[i], {.most_lines = 3}), to_text(whole[i], {.most_lines = 3}));
  }
  EXPECT_GT(were_cut, 10u);
}

}  // namespace
}  // namespace replay::compare
