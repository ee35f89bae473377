#include "traces/declare/chance.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace replay {
namespace {

TEST(JobRng, IsAnotherOneForEachSeedStreamAndJob) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed : {1U, 2U})
    for (const char* stream : {"a", "b"})
      for (std::int64_t job = 0; job < 1000; ++job) first.insert(job_rng(Seed{seed}, stream, job).next());
  EXPECT_EQ(first.size(), 4000U);
  EXPECT_EQ(job_rng(Seed{1}, "a", 7).next(), job_rng(Seed{1}, "a", 7).next());
}

TEST(JobRng, FirstDrawsOfConsecutiveJobsAreUniform) {
  std::array<int, 10> counts{};
  for (std::int64_t job = 1; job <= 100'000; ++job)
    ++counts[static_cast<std::size_t>(job_rng(Seed{1}, "ov", job).uniform() * 10)];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1e4) * (count - 1e4) / 1e4;
  EXPECT_LT(chi_square, 27.9) << "9 degrees of freedom, 0.1 %";
}

double mean_of(const char* text, double low, double high) {
  const auto distribution = parse_share_distribution(text);
  EXPECT_TRUE(distribution.has_value()) << text;
  Rng source{Seed{2}};
  double sum = 0;
  for (int i = 0; i < 50'000; ++i) {
    const double x = draw_share(*distribution, source);
    EXPECT_GE(x, low);
    EXPECT_LE(x, high);
    sum += x;
  }
  return sum / 50'000;
}

TEST(ShareDistribution, IsWhatItSays) {
  EXPECT_NEAR(mean_of("constant:0.6", 0.6, 0.6), 0.6, 1e-9);
  EXPECT_NEAR(mean_of("uniform:0.2:1", 0.2, 1), 0.6, 0.004);
  EXPECT_NEAR(mean_of("uniform", 0, 1), 0.5, 0.005);
  EXPECT_NEAR(mean_of("normal:0.6:0.1", 0, 1), 0.6, 0.003);
  EXPECT_NEAR(mean_of("normal:1:0.1", 0, 1), 1 - 0.1 * 0.7979, 0.003) << "the half below 1 is left";
}

TEST(ShareDistribution, IsReadBackFromItsText) {
  for (const char* text : {"constant:0.6", "uniform:0.2:1", "normal:0.6:0.1"})
    EXPECT_EQ(to_text(*parse_share_distribution(text)), text);
  EXPECT_EQ(to_text(*parse_share_distribution("uniform")), "uniform:0:1");
}

TEST(ShareDistribution, RefusesWhatIsNone) {
  for (const char* text :
       {"", "0.6", "constant", "constant:", "constant:1.5", "constant:-0.1", "constant:nan", "constant:0.6:1",
        "uniform:1:0.2", "uniform:0.2", "uniform:a:b", "normal:0.5", "normal:0.5:0", "normal:0.5:0.1:2", "gamma:1:1"})
    EXPECT_FALSE(parse_share_distribution(text).has_value()) << text;
}

}  // namespace
}  // namespace replay
