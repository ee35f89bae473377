// Tests of random numbers: our generator has a fixed sequence, drand48 equals the C library's, and distributions have
// the moments they should have.
#include "traces/models/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "traces/models/gamma.hpp"

namespace replay {
namespace {

// The first three: xoshiro256++ filled by splitmix64(1), as their authors' code gives them.
TEST(Rng, TheFirstNumbersOfASeedStayWhatTheyAre) {
  Rng rng(Seed{1});
  EXPECT_EQ(rng.next(), 14971601782005023387U);
  EXPECT_EQ(rng.next(), 13781649495232077965U);
  EXPECT_EQ(rng.next(), 1847458086238483744U);
  EXPECT_EQ(Rng(Seed{1}, "arrivals").next(), 14696838740923941546U);
}

TEST(Rng, StreamsOfOneSeedDiffer) {
  Rng a(Seed{1}, "a");
  Rng b(Seed{1}, "b");
  Rng again(Seed{1}, "a");
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.next();
    EXPECT_EQ(x, again.next());
    EXPECT_NE(x, b.next());
  }
}

TEST(Rng, IsUniform) {
  Rng rng(Seed{42});
  std::vector<int> counts(16);
  for (int i = 0; i < 160'000; ++i) ++counts.at(rng.below(16));
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1e4) * (count - 1e4) / 1e4;
  EXPECT_LT(chi_square, 37.7);  // 99.9 % of chi-square with 15 degrees of freedom
  EXPECT_GT(chi_square, 3.5);   // 0.1 %: too even is not random either
}

TEST(Drand48, GivesTheNumbersOfTheCLibrary) {
  for (const std::uint64_t seed : {0ULL, 1ULL, 42ULL, 4'000'000'000ULL}) {
    ::srand48(static_cast<long>(static_cast<std::int32_t>(seed)));
    Drand48 ours(Seed{seed});
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(ours.uniform(), ::drand48()) << seed << " " << i;
  }
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments(const std::function<double()>& draw) {
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

// Bands of five standard errors: of the mean sd / sqrt(n), of the variance sqrt((kurtosis - 1) / n) sd^2.
TEST(Gamma, BothMethodsHaveItsMomentsForAnyShape) {
  for (const GammaMethod method : {GammaMethod::kMarsagliaTsang, GammaMethod::kSumOfLogs}) {
    for (const double shape : {0.3, 1.0, 2.5, 10.46, 312.0}) {
      const double scale = 0.7;
      Rng rng(Seed{3}, "gamma");
      const GammaDistribution gamma(shape, scale, method);
      const Moments found = moments([&] { return gamma.draw(rng); });
      const double variance = shape * scale * scale;
      EXPECT_NEAR(found.mean, shape * scale, 5 * std::sqrt(variance / 2e5)) << shape;
      EXPECT_NEAR(found.variance, variance, 5 * std::sqrt((2 + 6 / shape) / 2e5) * variance) << shape;
    }
  }
}

TEST(Gamma, NormalAndExponentialHaveTheirMoments) {
  Rng rng(Seed{4});
  const Moments normal = moments([&] { return draw_normal(rng); });
  EXPECT_NEAR(normal.mean, 0, 0.0112);
  EXPECT_NEAR(normal.variance, 1, 0.0159);
  const Moments exponential = moments([&] { return draw_exponential(rng); });
  EXPECT_NEAR(exponential.mean, 1, 0.0112);
  EXPECT_NEAR(exponential.variance, 1, 0.0317);
}

}  // namespace
}  // namespace replay
