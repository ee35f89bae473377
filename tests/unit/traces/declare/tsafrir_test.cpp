// Tests of Tsafrir's model step by step: published percentages, ranks of four logs, and the rule that an estimate is
// never too short.
#include "traces/declare/tsafrir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "tests/unit/traces/models/reference_csv.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;

const PopularityOrder& order_of(std::string_view name) {
  return std::ranges::find(tsafrir_parameters(), name, &TsafrirParameters::name)->popularity;
}

TEST(TsafrirParameters, AreThePublishedRanksOfFourLogs) {
  const auto rows = test::reference_rows("tsafrir_timerank_popularity.csv");
  ASSERT_EQ(rows.size(), kHeadSize);
  constexpr const char* kColumns[] = {"sdsc", "ctc", "kth", "blue"};
  for (std::size_t rank = 0; rank < kHeadSize; ++rank)
    for (std::size_t column = 0; column < 4; ++column)
      EXPECT_EQ(order_of(kColumns[column])[rank], std::stoi(rows[rank].at(column + 1))) << rank << " " << column;
}

TEST(TsafrirPopularity, OfNoLogInParticularIsDrawnFromAllFour) {
  std::set<PopularityOrder> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng source{Seed{seed}};
    const PopularityOrder order = draw_popularity(source);
    EXPECT_EQ(order[0], 1) << "the limit is the most popular estimate";
    PopularityOrder sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < kHeadSize; ++i) EXPECT_EQ(sorted[i], static_cast<int>(i) + 1) << "each once";
    for (std::size_t rank = 1; rank < kHeadSize; ++rank) {
      bool known = false;  // a popularity counts only from the first log that has it
      for (const TsafrirParameters& log : tsafrir_parameters())
        known |= std::find(log.popularity.begin(), log.popularity.begin() + static_cast<long>(rank) + 1, order[rank]) !=
                 log.popularity.begin() + static_cast<long>(rank) + 1;
      EXPECT_TRUE(known) << "rank " << rank << " popularity " << order[rank];
    }
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 150U);
}

TEST(TsafrirModel, NumbersOfDistinctEstimatesFollowThePublishedPoints) {
  EXPECT_EQ(distinct_estimates(0), 0);
  EXPECT_EQ(distinct_estimates(1), 1);
  EXPECT_EQ(distinct_estimates(20), 10);
  EXPECT_EQ(distinct_estimates(110), 15);
  EXPECT_EQ(distinct_estimates(1000), 35);
  EXPECT_EQ(distinct_estimates(243'306), 557) << "Blue Horizon; the log has 563";
  EXPECT_EQ(distinct_estimates(10'000'000), 565);
}

TEST(TsafrirModel, HeadHasThePublishedPercentages) {
  constexpr double kExpected[] = {21.73, 10.31, 8.71, 7.37, 6.25, 5.30, 4.52, 3.86, 3.31, 2.84,
                                  2.46,  2.13,  1.86, 1.63, 1.44, 1.28, 1.15, 1.04, 0.94, 0.87};
  const auto percent = head_percentages();
  for (std::size_t i = 0; i < kHeadSize; ++i) EXPECT_NEAR(percent[i], kExpected[i], 0.00501) << i + 1;
  EXPECT_NEAR(std::accumulate(percent.begin(), percent.end(), 0.0), 89, 1e-9);
}

TEST(TsafrirModel, HeadTimesAreRoundAndBelowTheLimit) {
  using Times = std::array<Duration, kHeadSize>;
  EXPECT_EQ(head_times(18h), (Times{18h, 5min, 10min, 15min, 20min, 30min, 1h,  2h,  3h,  4h,
                                    5h,  6h,   8h,    10h,   12h,   13h,   14h, 15h, 16h, 17h}));
  EXPECT_EQ(head_times(60h), (Times{60h, 5min, 10min, 15min, 20min, 30min, 1h,  2h,  3h,  4h,
                                    5h,  6h,   8h,    10h,   12h,   18h,   20h, 30h, 40h, 50h}))
      << "fifteen round times, 50 h, and multiples of 10 h from the limit down";
  for (const Duration limit : std::initializer_list<Duration>{1h, 100min, 36h, 1000h}) {
    const auto times = head_times(limit);
    EXPECT_EQ(times[0], limit);
    EXPECT_TRUE(std::is_sorted(times.begin() + 1, times.end()));
    EXPECT_EQ(std::set<Duration>(times.begin(), times.end()).size(), kHeadSize);
    EXPECT_LT(times.back(), limit);
    EXPECT_GT(times[1], 0s);
  }
}

std::vector<EstimateBin> bins_of(std::size_t jobs, Duration limit, std::string_view parameters,
                                 std::uint64_t seed = 1) {
  Rng source{Seed{seed}};
  return draw_estimate_bins(jobs, limit, order_of(parameters), source);
}

TEST(TsafrirModel, TwentyEstimatesServeNineJobsInTen) {
  for (const TsafrirParameters& set : tsafrir_parameters())
    for (const std::size_t jobs : {10'000U, 77'222U, 243'306U}) {
      auto bins = bins_of(jobs, set.limit, set.name);
      EXPECT_EQ(bins.size(), static_cast<std::size_t>(distinct_estimates(jobs)));
      std::ranges::sort(bins, std::ranges::greater{}, &EstimateBin::jobs);
      std::uint64_t top = 0, all = 0;
      for (std::size_t i = 0; i < bins.size(); ++i) {
        top += i < kHeadSize ? bins[i].jobs : 0;
        all += bins[i].jobs;
        EXPECT_GE(bins[i].jobs, 1U);
      }
      EXPECT_EQ(all, jobs);
      EXPECT_NEAR(100.0 * static_cast<double>(top) / static_cast<double>(jobs), 89, 0.1) << set.name << jobs;
      EXPECT_NEAR(100.0 * static_cast<double>(bins[0].jobs) / static_cast<double>(jobs), 21.73, 0.05) << set.name;
    }
}

TEST(TsafrirModel, TheLimitIsAsPopularAsInTheLogOfTheSet) {
  const auto most_popular = [](std::string_view name, Duration limit) {
    const auto bins = bins_of(20'000, limit, name);
    return std::ranges::max_element(bins, {}, &EstimateBin::jobs)->estimate;
  };
  EXPECT_EQ(most_popular("ctc", 18h), Duration{18h});
  EXPECT_EQ(most_popular("kth", 60h), Duration{60h});
  EXPECT_EQ(most_popular("sdsc", 18h), Duration{5min}) << "there the limit is the third";
}

TEST(TsafrirModel, EstimatesDifferAndLieWithinTheLimit) {
  for (const Duration limit : std::initializer_list<Duration>{1h, 18h, 60h}) {
    const auto bins = bins_of(243'306, limit, "ctc");
    std::set<Duration> estimates;
    for (const EstimateBin& bin : bins) {
      EXPECT_GT(bin.estimate, 0s);
      EXPECT_LE(bin.estimate, limit);
      EXPECT_TRUE(estimates.insert(bin.estimate).second) << seconds(bin.estimate);
      EXPECT_EQ(bin.estimate % 10s, 0s);
    }
  }
}

TEST(TsafrirModel, FewJobsHaveFewEstimates) {
  for (std::size_t jobs = 1; jobs <= 60; ++jobs) {
    const auto bins = bins_of(jobs, 18h, "blue", jobs);
    std::uint64_t sum = 0;
    for (const EstimateBin& bin : bins) sum += bin.jobs;
    EXPECT_EQ(sum, jobs);
    EXPECT_EQ(bins.size(), static_cast<std::size_t>(distinct_estimates(jobs)));
  }
}

// Log-uniform, as run times are: from 1 s to 18 h.
std::vector<Duration> some_runtimes(std::size_t count) {
  std::vector<Duration> runtimes;
  Rng source{Seed{3}, "runs"};
  for (std::size_t i = 0; i < count; ++i)
    runtimes.push_back(std::chrono::seconds{static_cast<int>(std::exp(source.uniform() * std::log(64'800)))});
  return runtimes;
}

TEST(TsafrirAssignment, IsAPermutationThatIsNeverTooShort) {
  const auto runtimes = some_runtimes(20'000);
  const auto bins = bins_of(runtimes.size(), 18h, "ctc");
  Rng source{Seed{1}};
  const AssignedEstimates assigned = assign_estimates(runtimes, bins, 18h, source);
  ASSERT_EQ(assigned.raised, 0U);
  std::map<Duration, std::uint64_t> counts;
  for (std::size_t i = 0; i < runtimes.size(); ++i) {
    EXPECT_GE(assigned.estimates[i], runtimes[i]);
    ++counts[assigned.estimates[i]];
  }
  EXPECT_EQ(counts.size(), bins.size());
  for (const EstimateBin& bin : bins) EXPECT_EQ(counts[bin.estimate], bin.jobs) << seconds(bin.estimate);
}

TEST(TsafrirAssignment, EveryAssignmentThatFitsIsPossible) {
  const std::vector<Duration> runtimes{3min, 1min, 1min};
  const std::vector<EstimateBin> bins{{5min, 0, 1}, {10min, 0, 1}, {1min, 0, 1}};
  std::map<std::vector<Duration>, int> seen;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng source{Seed{seed}};
    ++seen[assign_estimates(runtimes, bins, 10min, source).estimates];
  }
  ASSERT_EQ(seen.size(), 4U) << "3 min takes 5 or 10 min; the other two share what is left in either order";
  for (const auto& [estimates, count] : seen) EXPECT_NEAR(count, 500, 100);
}

TEST(TsafrirAssignment, RaisesEstimatesWhereNoPermutationFits) {
  const std::vector<Duration> runtimes{8min, 8min, 1min};
  const std::vector<EstimateBin> bins{{5min, 0, 2}, {10min, 0, 1}};
  Rng source{Seed{1}};
  const AssignedEstimates assigned = assign_estimates(runtimes, bins, 10min, source);
  EXPECT_EQ(assigned.raised, 1U);
  EXPECT_EQ(assigned.estimates, (std::vector<Duration>{10min, 10min, 5min}));
}

TEST(TsafrirAssignment, JobsBeyondTheLimitGetTheLimit) {
  const TsafrirRule rule{.parameters = &tsafrir_parameters()[1], .limit = std::nullopt};
  const std::vector<Duration> runtimes{30h, 10s};
  const AssignedEstimates assigned = model_estimates(runtimes, rule, Seed{1});
  EXPECT_EQ(assigned.beyond_limit, 1U);
  EXPECT_EQ(assigned.estimates[0], Duration{18h});
}

TEST(TsafrirModel, WithoutASetTheLimitIsTheLongestRunTimeUpToTheHour) {
  const std::vector<Duration> runtimes(200, Duration{50min});
  auto longer = runtimes;
  longer[7] = 2h + 1s;
  const auto longest = [](const AssignedEstimates& assigned) { return *std::ranges::max_element(assigned.estimates); };
  EXPECT_EQ(longest(model_estimates(runtimes, {}, Seed{1})), Duration{1h});
  EXPECT_EQ(longest(model_estimates(longer, {}, Seed{1})), Duration{3h});
  EXPECT_EQ(longest(model_estimates(longer, {.parameters = nullptr, .limit = 20h}, Seed{1})), Duration{20h});
}

TEST(TsafrirModel, OneSeedOneAnswer) {
  const auto runtimes = some_runtimes(3000);
  EXPECT_EQ(model_estimates(runtimes, {}, Seed{5}).estimates, model_estimates(runtimes, {}, Seed{5}).estimates);
  EXPECT_NE(model_estimates(runtimes, {}, Seed{5}).estimates, model_estimates(runtimes, {}, Seed{6}).estimates);
  EXPECT_TRUE(model_estimates({}, {}, Seed{5}).estimates.empty());
}

}  // namespace
}  // namespace replay
