// Tests that our own policies follow their rules on random workloads, and that a schedule of theirs that was changed
// afterwards does not: the report names the job and the instant.

#include <gtest/gtest.h>

#include "tests/support/random_workload.hpp"
#include "tests/unit/audit/schedules.hpp"

namespace replay::test {
namespace {

using audit::FindingKind;
using audit::Index;

constexpr std::uint64_t kSeeds = 60;
constexpr CoreCount kCores = 12;

audit::Schedule simulated(std::string_view policy, std::uint64_t seed) {
  return schedule_of(simulate(policy, cores(kCores), random_jobs(seed, 150, kCores), "rigid"));
}

class OwnSchedule : public testing::TestWithParam<const char*> {
 protected:
  static audit::Report audited(const audit::Schedule& schedule) {
    return audit::audit(schedule, rule(GetParam(), kCores));
  }
  static void expect_found(const audit::Schedule& schedule, Index job, Instant when,
                           std::initializer_list<FindingKind> kinds) {
    const audit::Report report = audited(schedule);
    const auto finding = finding_about(report, job);
    ASSERT_TRUE(finding) << "job " << schedule.jobs[job].name << "\n" << lines(report, schedule);
    EXPECT_EQ(finding->at, when) << lines(report, schedule);
    EXPECT_TRUE(std::ranges::find(kinds, finding->kind) != kinds.end()) << lines(report, schedule);
    EXPECT_EQ(report.first.front().at, when) << "nothing is wrong before\n" << lines(report, schedule);
  }
};

TEST_P(OwnSchedule, FollowsItsRule) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const audit::Schedule schedule = simulated(GetParam(), seed);
    const audit::Report report = audited(schedule);
    ASSERT_EQ(report.total(), 0u) << "seed " << seed << "\n" << lines(report, schedule);
    EXPECT_EQ(report.jobs, 150u);
  }
}

TEST_P(OwnSchedule, WithAJobThatStartsLaterIsFound) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    audit::Schedule schedule = simulated(GetParam(), seed);
    const auto job = static_cast<Index>(seed * 2 % schedule.jobs.size());
    const Instant right = schedule.jobs[job].started;
    schedule.jobs[job].started += 1s;
    schedule.jobs[job].ended += 1s;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expect_found(schedule, job, right, {FindingKind::kNotStarted, FindingKind::kLaterThanGuarantee});
  }
}

TEST_P(OwnSchedule, WithAJobThatStartsEarlierIsFound) {
  int tampered = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    audit::Schedule schedule = simulated(GetParam(), seed);
    const auto waits = [](const audit::Job& job) { return job.started > job.submitted && job.ended > job.started; };
    const auto waiting = std::ranges::find_if(schedule.jobs.rbegin(), schedule.jobs.rend(), waits);
    if (waiting == schedule.jobs.rend()) continue;
    ++tampered;
    const auto job = static_cast<Index>(schedule.jobs.rend() - waiting - 1);
    waiting->started -= 1us;
    waiting->ended -= 1us;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expect_found(schedule, job, waiting->started, {FindingKind::kAgainstRule, FindingKind::kTooManyProcessors});
  }
  EXPECT_GT(tampered, 50);
}

TEST_P(OwnSchedule, WithTwoJobsSwappedIsFound) {
  int tampered = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    audit::Schedule schedule = simulated(GetParam(), seed);
    for (Index first = 60; first + 1 < schedule.jobs.size(); ++first) {
      audit::Job& a = schedule.jobs[first];
      audit::Job& b = schedule.jobs[first + 1];
      if (a.started >= b.started || b.submitted >= a.started) continue;
      const Instant early = a.started;
      const Instant late = b.started;
      a.ended += late - early, a.started = late;
      b.ended -= late - early, b.started = early;
      SCOPED_TRACE(fmt::format("seed {}, jobs {} and {}", seed, a.name, b.name));
      expect_found(schedule, first, early, {FindingKind::kNotStarted, FindingKind::kLaterThanGuarantee});
      expect_found(schedule, first + 1, early, {FindingKind::kAgainstRule, FindingKind::kTooManyProcessors});
      ++tampered;
      break;
    }
  }
  EXPECT_GT(tampered, 20);
}

TEST_P(OwnSchedule, WithAJobThatCameLaterThanItStartedIsFound) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    audit::Schedule schedule = simulated(GetParam(), seed);
    const auto job = static_cast<Index>(seed * 2 % schedule.jobs.size());
    schedule.jobs[job].submitted = schedule.jobs[job].started + 1s;
    const auto finding = finding_about(audited(schedule), job);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->kind, FindingKind::kBeforeSubmission);
    EXPECT_EQ(finding->expected, schedule.jobs[job].submitted);
    EXPECT_EQ(finding->found, schedule.jobs[job].started);
  }
}

// With one processor less, the first start that does not fit is the first finding of its kind.
TEST_P(OwnSchedule, OnAMachineOfOneProcessorLessIsFound) {
  int filled = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::vector<TracedJob> all_need_time = random_jobs(seed, 150, kCores);
    for (TracedJob& job : all_need_time) job.truth.runtime = std::max<Duration>(job.truth.runtime, 1s);
    const audit::Schedule schedule = schedule_of(simulate(GetParam(), cores(kCores), all_need_time, "rigid"));
    std::vector<const audit::Job*> by_start;
    for (const audit::Job& job : schedule.jobs) by_start.push_back(&job);
    std::ranges::stable_sort(by_start, {}, &audit::Job::started);
    Instant full = kNever;  // when all processors are in use for the first time
    for (const audit::Job* job : by_start) {
      CoreCount in_use = 0;
      for (const audit::Job& other : schedule.jobs)
        if (other.started <= job->started && other.ended > job->started) in_use += other.processors;
      if (in_use != kCores) continue;
      full = job->started;
      break;
    }
    if (full == kNever) continue;
    ++filled;
    const audit::Report report = audit::audit(schedule, rule(GetParam(), kCores - 1));
    const auto first = std::ranges::find(report.first, FindingKind::kTooManyProcessors, &audit::Finding::kind);
    ASSERT_NE(first, report.first.end()) << "seed " << seed;
    EXPECT_EQ(first->at, full) << "seed " << seed << "\n" << lines(report, schedule);
    EXPECT_EQ(schedule.jobs[first->job].started, full);
  }
  EXPECT_GT(filled, 50);
}

INSTANTIATE_TEST_SUITE_P(Policies, OwnSchedule,
                         testing::Values("fcfs", "easy", "easy:pass=instant", "conservative",
                                         "conservative:pass=instant", "conservative:compress=start-order",
                                         "conservative:compress=start-order:pass=instant",
                                         "conservative:compress-at=every-end",
                                         "conservative:compress-at=every-end:pass=instant",
                                         "conservative:compress=start-order:compress-at=every-end"),
                         [](const testing::TestParamInfo<const char*>& policy) {
                           std::string name = policy.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c < 'a' || c > 'z'; }, '_');
                           return name;
                         });

// The schedule of one policy fails the audit for another's rule.
TEST(OtherSchedules, DoNotFollowTheRule) {
  const auto findings = [](std::string_view policy, std::string_view as) {
    std::size_t count = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
      count += audit::audit(simulated(policy, seed), rule(as, kCores)).total();
    return count;
  };
  EXPECT_GT(findings("easy", "fcfs"), 0u);
  EXPECT_GT(findings("fcfs", "easy"), 0u);
  EXPECT_GT(findings("easy", "conservative"), 0u);
  EXPECT_GT(findings("conservative", "easy"), 0u);
  EXPECT_GT(findings("easy", "easy:pass=instant"), 0u);
  EXPECT_GT(findings("conservative", "conservative:compress=start-order"), 0u);
  EXPECT_GT(findings("conservative", "conservative:compress-at=every-end"), 0u);
  EXPECT_GT(findings("conservative:compress-at=every-end", "conservative"), 0u);
}

}  // namespace
}  // namespace replay::test
