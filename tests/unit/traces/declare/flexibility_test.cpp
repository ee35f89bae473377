// Tests of which jobs are flexible, at which sizes, and of their run times there.
#include "traces/declare/flexibility.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;

constexpr ClassShares kAll{{1, 1, 1}};
constexpr ClassShares kNobody{{0, 0, 0}};

FlexibilityRule rule(SpeedupModel model, ClassShares moldable = kAll, ClassShares malleable = kNobody) {
  return {.speedup = model, .moldable = moldable, .malleable = malleable};
}

JobTraits declared(const LoggedJob& job, const FlexibilityRule& of, CoreCount machine = 128, Seed seed = Seed{1}) {
  JobTraits traits;
  declare_flexibility(traits, job, of, machine, seed);
  return traits;
}

TEST(Flexibility, ThreePointJobsRunFromHalfToTwiceTheirSize) {
  const JobTraits traits = declared({.number = 1, .size = 9, .run = 100s}, rule(SpeedupModel::kThreePoint));
  EXPECT_EQ(traits.flexibility, Flexibility::kMoldable);
  EXPECT_EQ(traits.least, 5);
  EXPECT_EQ(traits.most, 18);
  EXPECT_TRUE(traits.sizes.empty()) << "all of them";
  EXPECT_EQ(to_text(traits.speedup.value()), "three-point:n=9");
  EXPECT_EQ(declared({2, 100, 100s}, rule(SpeedupModel::kThreePoint)).most, 128) << "the machine has no more";
}

TEST(Flexibility, SerialJobsAreRigidUnderThreePointsAndTooWideOnesUnderAnyModel) {
  EXPECT_EQ(declared({1, 1, 100s}, rule(SpeedupModel::kThreePoint)).flexibility, Flexibility::kRigid);
  for (const auto model : {SpeedupModel::kThreePoint, SpeedupModel::kDowney, SpeedupModel::kLinear}) {
    const JobTraits traits = declared({1, 200, 100s}, rule(model));
    EXPECT_EQ(traits.flexibility, Flexibility::kRigid);
    EXPECT_FALSE(traits.least || traits.most);
  }
}

TEST(Flexibility, SharesAreMetAndALargerOneKeepsTheJobsOfASmallerOne) {
  std::map<Flexibility, int> counts;
  for (std::int64_t job = 1; job <= 20'000; ++job) {
    const auto of = [&](double moldable, double malleable) {
      const ClassShares a{{moldable, moldable, moldable}}, b{{malleable, malleable, malleable}};
      return declared({job, 8, 100s}, rule(SpeedupModel::kThreePoint, a, b)).flexibility.value();
    };
    const Flexibility drawn = of(0.5, 0.3);
    ++counts[drawn];
    if (drawn == Flexibility::kMoldable) {
      EXPECT_EQ(of(0.7, 0), drawn);
    }
    if (drawn == Flexibility::kMalleable) {
      EXPECT_EQ(of(0, 0.4), drawn);
    }
  }
  EXPECT_NEAR(counts[Flexibility::kMoldable], 10'000, 300);
  EXPECT_NEAR(counts[Flexibility::kMalleable], 6'000, 300);
  EXPECT_NEAR(counts[Flexibility::kRigid], 4'000, 300);
}

TEST(Flexibility, ClassesGoByTheRunTimeAtTheOptimum) {
  EXPECT_EQ(class_of(Duration{59'999'999}), JobClass::kShort);
  EXPECT_EQ(class_of(Duration{60s}), JobClass::kMedium);
  EXPECT_EQ(class_of(Duration{3600s} - 1us), JobClass::kMedium);
  EXPECT_EQ(class_of(Duration{3600s}), JobClass::kLong);

  const FlexibilityRule only_long = rule(SpeedupModel::kThreePoint, parse_class_shares("--moldable", "long=1"));
  EXPECT_EQ(declared({1, 8, 3599s}, only_long).flexibility, Flexibility::kRigid);
  EXPECT_EQ(declared({1, 8, 3600s}, only_long).flexibility, Flexibility::kMoldable);

  // Under Downey the optimum is the working set, so a job logged as medium can be a short one.
  const FlexibilityRule only_short = rule(SpeedupModel::kDowney, parse_class_shares("--moldable", "short=1"));
  int others = 0;
  for (std::int64_t job = 1; job <= 300; ++job) {
    const JobTraits traits = declared({job, 8, 100s}, only_short);
    const SpeedupCurve& curve = traits.speedup.value();
    const double at_optimum = 100 * curve.runtime_ratio(8, curve.working_set(128));
    EXPECT_EQ(traits.flexibility == Flexibility::kMoldable, at_optimum < 60) << at_optimum;
    others += at_optimum < 60 ? 1 : 0;
  }
  EXPECT_GT(others, 30);
  EXPECT_LT(others, 270);
}

TEST(Flexibility, DowneyJobsRunAtAllSizesBetweenTheirLeastAndMost) {
  for (std::int64_t job = 1; job <= 500; ++job) {
    const JobTraits traits = declared({job, 8, 100s}, rule(SpeedupModel::kDowney));
    ASSERT_TRUE(traits.least && traits.most);
    EXPECT_LE(*traits.least, *traits.most);
    EXPECT_LE(*traits.most, 128);
    EXPECT_EQ(*traits.most, std::min<ProcessCount>(128, traits.speedup->largest_useful().value()));
    EXPECT_TRUE(traits.sizes.empty());
  }
}

TEST(Flexibility, PowerOfTwoBiasBindsOnlyJobsOfSuchASize) {
  FlexibilityRule biased = rule(SpeedupModel::kDowney);
  biased.sizes = OfferedSizes::kPowerOfTwoBias;
  bool some_other = false;
  for (std::int64_t job = 1; job <= 500; ++job) {
    for (const ProcessCount size : declared({job, 16, 100s}, biased).sizes) EXPECT_EQ(size & (size - 1), 0) << size;
    const JobTraits traits = declared({job, 12, 100s}, biased);
    if (traits.flexibility == Flexibility::kRigid) continue;
    EXPECT_TRUE(std::ranges::find(traits.sizes, ProcessCount{12}) != traits.sizes.end());
    EXPECT_LE(traits.sizes.size(), 19U);
    EXPECT_EQ(traits.least, traits.sizes.front());
    EXPECT_EQ(traits.most, traits.sizes.back());
    for (const ProcessCount size : traits.sizes) some_other |= size != 12 && (size & (size - 1)) != 0;
  }
  EXPECT_TRUE(some_other);
}

TEST(Flexibility, SurveyedJobsAreRigidInTwoOfAHundredCasesOrWithNothingElseOnOffer) {
  FlexibilityRule survey = rule(SpeedupModel::kDowney);
  survey.sizes = OfferedSizes::kSurvey;
  int rigid = 0;
  for (std::int64_t job = 1; job <= 5000; ++job) {
    const JobTraits traits = declared({job, 8, 100s}, survey);
    if (traits.flexibility == Flexibility::kRigid) ++rigid;
    if (traits.flexibility == Flexibility::kMoldable) {
      EXPECT_GE(traits.sizes.size(), 2U);
    }
  }
  EXPECT_GT(rigid, 5000 * 0.02 * 0.7);
  EXPECT_LT(rigid, 5000 * 0.15) << "of the others only those with few sizes on offer";
}

TEST(Flexibility, TheOfferedSizesDoNotChangeTheCurve) {
  FlexibilityRule survey = rule(SpeedupModel::kDowney);
  survey.sizes = OfferedSizes::kSurvey;
  for (std::int64_t job = 1; job <= 50; ++job)
    EXPECT_EQ(declared({job, 8, 100s}, survey).speedup, declared({job, 8, 100s}, rule(SpeedupModel::kDowney)).speedup);
}

TEST(Flexibility, MalleableJobsNeedNoCurve) {
  const FlexibilityRule malleable{.speedup = std::nullopt, .malleable = kAll};
  const JobTraits traits = declared({1, 8, 100s}, malleable);
  EXPECT_EQ(traits.flexibility, Flexibility::kMalleable);
  EXPECT_FALSE(traits.speedup || traits.least || traits.most);
}

TEST(Flexibility, ReplacesWhatWasDeclaredBefore) {
  JobTraits traits = declared({1, 8, 100s}, rule(SpeedupModel::kThreePoint));
  traits.sizes = {4, 8};
  traits.cpu_use = 0.5;
  declare_flexibility(traits, {1, 8, 100s}, rule(SpeedupModel::kLinear, kNobody), 128, Seed{1});
  EXPECT_EQ(traits.flexibility, Flexibility::kRigid);
  EXPECT_FALSE(traits.least || traits.most);
  EXPECT_TRUE(traits.sizes.empty());
  EXPECT_EQ(traits.speedup, SpeedupCurve{});
  EXPECT_EQ(traits.cpu_use, 0.5) << "that is not about sizes";
}

TEST(FlexibilityText, SharesAreOneNumberOrOneAClass) {
  EXPECT_EQ(to_text(parse_class_shares("--moldable", "0.8")), "0.8");
  EXPECT_EQ(to_text(parse_class_shares("--moldable", "long=1,short=0.25")), "short=0.25,medium=0,long=1");
  for (const char* text :
       {"", "1.1", "-0.1", "nan", "x", "short", "short=", "short=2", "tiny=1", "short=1,short=1", "0.5,long=1"})
    EXPECT_THROW((void)parse_class_shares("--moldable", text), UsageError) << text;
}

}  // namespace
}  // namespace replay
