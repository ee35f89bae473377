// Tests of the sizes that a job offers and of its times there; the numbers for three points are worked by hand:
// S(2), S(3), .., S(8) of N = 4 are 1.6, 2.1, 2.6, 2.75, 2.9, 3.05, 3.2.
#include "scheduler/model/job_sizes.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "scheduler/runtime_model/misjudgement.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

Job moldable(Declaration declaration, ProcessCount processes = 4, Duration estimate = 100s) {
  Job job;
  job.processes = processes;
  job.estimate = estimate;
  job.flexibility = Flexibility::kMoldable;
  job.declaration = std::make_shared<const Declaration>(std::move(declaration));
  return job;
}

Declaration from_to(ProcessCount least, ProcessCount most, std::optional<SpeedupCurve> curve = SpeedupCurve{}) {
  Declaration declaration;
  declaration.least = least;
  declaration.most = most;
  declaration.speedup = std::move(curve);
  return declaration;
}

Declaration listed(std::vector<ProcessCount> sizes) {
  Declaration declaration;
  declaration.sizes = std::move(sizes);
  declaration.speedup = SpeedupCurve{};
  return declaration;
}

const SpeedupCurve kThreePoints{ThreePointSpeedup{.optimum = 4}};

TEST(JobSizes, OfARigidJobAndOfOneWithoutACurveAreTheSubmittedOne) {
  Job rigid = moldable(from_to(2, 8));
  rigid.flexibility = Flexibility::kRigid;
  for (const Job& job : {rigid, moldable(from_to(2, 8, std::nullopt)), Job{.processes = 4}}) {
    EXPECT_FALSE(has_choice_of_size(job));
    EXPECT_EQ(least_size(job), 4);
    EXPECT_EQ(most_size(job), 4);
    EXPECT_EQ(largest_size(job, 100), 4);
    EXPECT_EQ(largest_size(job, 3), std::nullopt);
    EXPECT_EQ(fastest_size(job, 100), 4);
    EXPECT_TRUE(can_start_with(job, 4));
    EXPECT_FALSE(can_start_with(job, 5));
  }
}

TEST(JobSizes, GoFromLeastToMost) {
  const Job job = moldable(from_to(2, 8));
  EXPECT_EQ(largest_size(job, 100), 8);
  EXPECT_EQ(largest_size(job, 5), 5);
  EXPECT_EQ(largest_size(job, 1), std::nullopt);
  EXPECT_FALSE(can_start_with(job, 1));
  EXPECT_TRUE(can_start_with(job, 7));
  EXPECT_FALSE(can_start_with(job, 9));
}

TEST(JobSizes, MayBeAList) {
  const Job job = moldable(listed({2, 6, 16}), 5);
  EXPECT_EQ(least_size(job), 2);
  EXPECT_EQ(most_size(job), 16);
  EXPECT_EQ(largest_size(job, 15), 6);
  EXPECT_EQ(largest_size(job, 1), std::nullopt);
  EXPECT_TRUE(can_start_with(job, 5)) << "the submitted size, though it is not listed";
  EXPECT_FALSE(can_start_with(job, 4));
  Declaration cut = listed({2, 6, 16});
  cut.most = 10;
  EXPECT_EQ(largest_size(moldable(cut), 100), 6);
}

TEST(JobSizes, TheFastestIsTheSmallestOfTheLeastTime) {
  EXPECT_EQ(fastest_size(moldable(from_to(2, 8, kThreePoints)), 100), 8);
  EXPECT_EQ(fastest_size(moldable(from_to(2, 16, kThreePoints)), 100), 8) << "beyond 2N it gets no faster";
  EXPECT_EQ(fastest_size(moldable(from_to(2, 8, kThreePoints)), 5), 5);
  EXPECT_EQ(fastest_size(moldable(from_to(1, 64, SpeedupCurve{DowneySpeedup{4, 0.5}})), 100), 7) << "2A - 1";
  EXPECT_EQ(fastest_size(moldable(from_to(1, 64, SpeedupCurve{DowneySpeedup{4, 0}})), 100), 4) << "linear up to A";
  // The efficiencies make 8 slower than 4: S(4) = 2.6, S(8) = 0.8.
  const SpeedupCurve falling{ThreePointSpeedup{4, {0.8, 0.65, 0.1}}};
  EXPECT_EQ(fastest_size(moldable(from_to(2, 8, falling)), 100), 4);
  // One microsecond of work takes a microsecond at any size.
  EXPECT_EQ(fastest_size(moldable(from_to(2, 8), 4, Duration{1}), 100), 4) << "at 2 and 3 it takes two";
}

TEST(JobSizes, TheOptimumIsThatOfTheCurve) {
  EXPECT_EQ(optimum_size(moldable(from_to(2, 8, kThreePoints), 5), 100), 4) << "N of the curve, not the submitted size";
  EXPECT_EQ(optimum_size(moldable(from_to(2, 8), 5), 100), 5) << "linear: the submitted size";
  EXPECT_EQ(optimum_size(Job{.processes = 5}, 100), 5);
  Job rigid = moldable(from_to(2, 8, kThreePoints), 5);
  rigid.flexibility = Flexibility::kRigid;
  EXPECT_EQ(optimum_size(rigid, 100), 5);
  // n / S(n)^2 of Downey's curve with sigma = 0 is 1 / n up to A, n / A^2 from there on: the working set is A.
  const SpeedupCurve downey{DowneySpeedup{12, 0}};
  EXPECT_EQ(optimum_size(moldable(from_to(1, 64, downey)), 100), 12);
  EXPECT_EQ(optimum_size(moldable(from_to(1, 64, downey)), 10), 10) << "on 1..10";
  EXPECT_EQ(optimum_size(moldable(from_to(16, 64, downey)), 100), 16) << "brought to its sizes";
  EXPECT_EQ(optimum_size(moldable(from_to(1, 8, downey)), 100), 8);
  Declaration powers = listed({2, 4, 8, 16});
  powers.speedup = downey;
  EXPECT_EQ(optimum_size(moldable(powers), 100), 8);
}

TEST(JobSizes, AWishIsRoundedHalfUpAndThenClamped) {
  const Job job = moldable(from_to(2, 8));
  EXPECT_EQ(size_near(job, 2.5, 100), 3);
  EXPECT_EQ(size_near(job, 3.4999, 100), 3);
  EXPECT_EQ(size_near(job, 0, 100), 2);
  EXPECT_EQ(size_near(job, 1e300, 100), 8);
  EXPECT_EQ(size_near(job, 7, 6), 6) << "the machine has no more";
  EXPECT_EQ(size_near(moldable(from_to(1, 8)), 0.49999999999999994, 100), 1);
  EXPECT_EQ(size_near(moldable(listed({2, 6, 16})), 15.4, 100), 6) << "the largest that is not above";
  EXPECT_EQ(size_near(moldable(listed({2, 6, 16})), 15.5, 100), 16);
  EXPECT_EQ(size_near(moldable(listed({2, 6, 16})), 1, 100), 2) << "else the least";
  EXPECT_EQ(size_near(Job{.processes = 5}, 1, 100), 5) << "no choice";
  EXPECT_EQ(size_near(moldable(from_to(20, 30), 4), 8, 10), 4) << "no size fits the machine";
}

TEST(JobSizes, TimesAreRoundedUpToAMicrosecond) {
  const Job job = moldable(from_to(2, 8, kThreePoints));
  EXPECT_EQ(estimate_at(job, 4), 100s);
  EXPECT_EQ(estimate_at(job, 2), Duration{162'500'000});
  EXPECT_EQ(estimate_at(job, 3), Duration{123'809'524});
  EXPECT_EQ(estimate_at(job, 5), Duration{94'545'455});
  EXPECT_EQ(estimate_at(job, 6), Duration{89'655'173});
  EXPECT_EQ(estimate_at(job, 7), Duration{85'245'902});
  EXPECT_EQ(estimate_at(job, 8), Duration{81'250'000});
  Job huge = moldable(from_to(1, 8), 8, Duration::max() / 2);
  EXPECT_EQ(estimate_at(huge, 1), Duration::max()) << "it does not wrap around";
}

TEST(Misjudgement, ChangesTheTrueTimeAtOtherSizesAndNotAtItsOwn) {
  TracedJob traced;
  traced.job = moldable(from_to(2, 8, kThreePoints));
  traced.truth.runtime = 100s;
  traced.truth.speedup_power = 0.5;
  EXPECT_EQ(runtime_at(traced, 4), 100s);
  EXPECT_EQ(runtime_at(traced, 2), Duration{127'475'488}) << "100 s times the root of 1.625";
  EXPECT_EQ(estimate_at(traced.job, 2), Duration{162'500'000}) << "what it declares stays";
  traced.truth.speedup_power = 4;
  EXPECT_EQ(runtime_at(traced, 2), 200s) << "never slower than half as fast on half the processors";
}

TEST(Misjudgement, IsDrawnBetweenTheErrorAndItsInverseForJobsThatDeclareSomething) {
  Workload workload;
  for (int i = 1; i <= 2000; ++i) {
    TracedJob traced;
    traced.job = moldable(from_to(2, 8));
    traced.job.id = JobId{i};
    if (i % 4 == 0) traced.job.declaration = nullptr;
    workload.jobs.push_back(traced);
  }
  Workload again = workload;
  misjudge(workload, {.curve_error = 1}, 7);
  misjudge(again, {.curve_error = 1}, 7);
  int above = 0;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const JobTruth truth = workload.jobs[i].truth;
    EXPECT_EQ(truth.speedup_power, again.jobs[i].truth.speedup_power);
    EXPECT_EQ(truth.slowdown_power, 1) << "no error was asked for";
    if (i % 4 == 3) {
      EXPECT_EQ(truth.speedup_power, 1);
    } else {
      EXPECT_GE(truth.speedup_power, 0.5);
      EXPECT_LE(truth.speedup_power, 2);
    }
    above += truth.speedup_power > 1 ? 1 : 0;
  }
  EXPECT_NEAR(above, 750, 80) << "half of those that declare something";
}

}  // namespace
}  // namespace replay::test
