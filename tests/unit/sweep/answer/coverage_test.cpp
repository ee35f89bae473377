// 1,000 studies made with known differences, from fixed seeds: the 95 % interval of the difference covers the true one in 93 to
// 97 % of them, and marks are wrong in at most 5 %. With 1,000 studies the share itself has a standard error of 0.7 %.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "scheduler/sweep/answer/comparison.hpp"
#include "tests/support/random.hpp"
#include "tests/unit/sweep/answer/made_study.hpp"

namespace replay::sweep {
namespace {

constexpr int kStudies = 1000;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  double uniform() { return (static_cast<double>(random_.below(std::uint64_t{1} << 52)) + 0.5) * 0x1p-52; }
  double exponential() { return -std::log(uniform()); }  // mean 1
  double normal() {
    return std::sqrt(2 * exponential()) * std::cos(2 * std::numbers::pi * uniform());
  }  // Box and Muller

 private:
  test::Random random_;
};

struct Pair {
  double first, second;
};

/// The share of the studies whose interval of second - first covers `truth`.
double coverage(int seeds, double truth, const std::function<Pair(Draw&)>& of_seed) {
  Draw draw{20260927};
  int covered = 0;
  for (int study = 0; study < kStudies; ++study) {
    std::vector<double> first, second;
    for (int seed = 0; seed < seeds; ++seed) {
      const Pair pair = of_seed(draw);
      first.push_back(pair.first);
      second.push_back(pair.second);
    }
    const StudyComparison comparison = compare(test::made_study({"a", "b"}, {"0.6"}, {{first}, {second}}));
    const metrics::Estimate estimate = comparison.metrics[0].settings[0].between(0, 1).estimate;
    covered += estimate.low() <= truth && truth <= estimate.high() ? 1 : 0;
  }
  return static_cast<double>(covered) / kStudies;
}

// Workloads differ by far more than the policies do; the pairs take that out.
Pair normal_pair(Draw& draw) {
  const double workload = 100 + 40 * draw.normal();
  return {workload + 5 * draw.normal(), workload - 3 + 5 * draw.normal()};
}

// Waits are skewed: here with the policy's own part exponential, of mean 5 and 5.
Pair skewed_pair(Draw& draw) {
  const double workload = 50 * draw.exponential();
  return {workload + 5 * draw.exponential(), workload - 3 + 5 * draw.exponential()};
}

// The second policy saves a tenth of an exponential wait of mean 50: the differences are as skewed as the waits.
Pair skewed_difference(Draw& draw) {
  const double workload = 50 * draw.exponential();
  return {workload, 0.9 * workload};
}

TEST(Coverage, OfNormalValuesIsThatOfTheInterval) {
  for (const int seeds : {3, 5, 10, 30}) {
    const double share = coverage(seeds, -3, normal_pair);
    EXPECT_GE(share, 0.93) << seeds;
    EXPECT_LE(share, 0.97) << seeds;
  }
}

TEST(Coverage, OfSkewedValuesIsThatOfTheInterval) {
  for (const int seeds : {5, 10, 30}) {
    const double share = coverage(seeds, -3, skewed_pair);
    EXPECT_GE(share, 0.93) << seeds;
    EXPECT_LE(share, 0.97) << seeds;
  }
}

// What docs/sweep.md says of very skewed differences.
TEST(Coverage, OfDifferencesAsSkewedAsAnExponentialNeedsAHundredSeeds) {
  const double of_ten = coverage(10, -5, skewed_difference);
  EXPECT_GT(of_ten, 0.87);
  EXPECT_LT(of_ten, 0.93);
  const double of_many = coverage(100, -5, skewed_difference);
  EXPECT_GE(of_many, 0.93);
  EXPECT_LE(of_many, 0.97);
}

// Four policies that are the same, in five settings: of 30 differences one or more would be taken for one in most studies,
// if each were tested alone.
TEST(Coverage, MarksAreWrongInAtMostOneStudyOfTwenty) {
  Draw draw{7};
  int marked = 0, outside = 0;
  for (int study = 0; study < kStudies; ++study) {
    std::vector<std::vector<std::vector<double>>> waits(4, std::vector<std::vector<double>>(5));
    for (std::size_t load = 0; load < 5; ++load)
      for (int seed = 0; seed < 10; ++seed) {
        const double workload = 100 + 40 * draw.normal();
        for (auto& of_policy : waits) of_policy[load].push_back(workload + 5 * draw.normal());
      }
    const MetricComparison metric =
        compare(test::made_study({"a", "b", "c", "d"}, {"1", "2", "3", "4", "5"}, waits)).metrics[0];
    bool is_outside = false;
    for (const Setting& setting : metric.settings)
      for (const Difference& difference : setting.differences)
        is_outside = is_outside || difference.estimate.low() > 0 || difference.estimate.high() < 0;
    outside += is_outside ? 1 : 0;
    marked += metric.open < metric.tests ? 1 : 0;
  }
  EXPECT_LE(marked, 64) << "5 %, and two standard errors";
  EXPECT_GE(marked, 10) << "and the correction is not far too strict";
  EXPECT_GT(outside, 500);
}

}  // namespace
}  // namespace replay::sweep
