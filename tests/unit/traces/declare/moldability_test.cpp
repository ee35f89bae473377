// Tests of the moldability model against a million draws of an independent program (means and percentiles in
// cirne_moldability_stats.csv), and against the laws themselves.
#include "traces/declare/moldability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "scheduler/model/speedup.hpp"

namespace replay {
namespace {

constexpr int kDraws = 200'000;

// quantity -> mean, p5, p25, p50, p75, p90, p95, p99, max
std::map<std::string, std::vector<double>> reference() {
  std::ifstream file(REPLAY_SOURCE_DIR "/tests/data/cirne_moldability_stats.csv");
  std::map<std::string, std::vector<double>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::size_t end = line.front() == '"' ? line.find('"', 1) + 1 : line.find(',');
    std::string name = line.substr(0, end);
    std::erase(name, '"');
    std::istringstream cells(line.substr(end + 1));
    for (std::string cell; std::getline(cells, cell, ',');) rows[name].push_back(std::stod(cell));
  }
  return rows;
}

// Mean within 1 % of the spread between p5 and p95, percentiles between those of neighbouring ranks of our own draws.
void expect_like(const std::string& quantity, std::vector<double> values) {
  const auto rows = reference();
  ASSERT_TRUE(rows.contains(quantity)) << quantity;
  const std::vector<double>& expected = rows.at(quantity);
  ASSERT_EQ(expected.size(), 9U);
  std::ranges::sort(values);
  double sum = 0;
  for (const double value : values) sum += value;
  EXPECT_NEAR(sum / static_cast<double>(values.size()), expected[0], 0.01 * (expected[6] - expected[1])) << quantity;
  constexpr double kRanks[] = {0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};
  const auto at = [&](double rank) {
    return values[static_cast<std::size_t>(std::clamp(rank, 0.0, 1.0) * static_cast<double>(values.size() - 1))];
  };
  for (std::size_t i = 0; i < std::size(kRanks); ++i) {
    EXPECT_LE(at(kRanks[i] - 0.006) * (1 - 1e-4), expected[i + 1]) << quantity << " at " << kRanks[i];
    EXPECT_GE(at(kRanks[i] + 0.006) * (1 + 1e-4), expected[i + 1]) << quantity << " at " << kRanks[i];
  }
}

std::vector<Moldability> draws(double sigma_factor = 1) {
  Rng source{Seed{4}, "test"};
  std::vector<Moldability> jobs;
  for (int i = 0; i < kDraws; ++i) jobs.push_back(draw_moldability(source, sigma_factor));
  return jobs;
}

template <class Of>
std::vector<double> of_all(const std::vector<Moldability>& jobs, Of of) {
  std::vector<double> values;
  for (const Moldability& job : jobs) values.push_back(static_cast<double>(of(job)));
  return values;
}

TEST(Moldability, HasTheStatisticsOfAMillionReferenceDraws) {
  const auto jobs = draws();
  const auto largest = [](const Moldability& job) { return SpeedupCurve{job.curve}.largest_useful().value(); };
  expect_like("cmin", of_all(jobs, [](const Moldability& job) { return job.smallest; }));
  expect_like("sigma", of_all(jobs, [](const Moldability& job) { return job.curve.sigma; }));
  expect_like("A", of_all(jobs, [](const Moldability& job) { return job.curve.a; }));
  expect_like("cmax", of_all(jobs, largest));
  expect_like("cmin_eff=min(cmin,cmax)",
              of_all(jobs, [](const Moldability& job) { return size_range(job, 1 << 30).least; }));
  for (const int n : {2, 8, 32, 128})
    expect_like("speedup_at_n=" + std::to_string(n),
                of_all(jobs, [n](const Moldability& job) { return SpeedupCurve{job.curve}.speedup(n); }));
  expect_like("N_PWS_on_128(argmin n/S^2, first minimum)",
              of_all(jobs, [](const Moldability& job) { return SpeedupCurve{job.curve}.working_set(128); }));
}

TEST(Moldability, RequestCountsHaveTheStatisticsOfTheReference) {
  Rng source{Seed{5}, "test"};
  std::vector<double> counts;
  for (int i = 0; i < kDraws; ++i) counts.push_back(draw_request_count(source));
  EXPECT_EQ(*std::ranges::min_element(counts), 2);
  EXPECT_EQ(*std::ranges::max_element(counts), 19);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(counts, 2.0)) / kDraws, 0.379, 0.005);
  expect_like("number_of_requests_cu", std::move(counts));
}

TEST(Moldability, SharesThatFollowFromTheLawsComeOut) {
  const auto jobs = draws();
  const auto share = [&](auto is) { return static_cast<double>(std::ranges::count_if(jobs, is)) / kDraws; };
  EXPECT_NEAR(share([](const Moldability& job) { return job.smallest == 1; }), 0.6279, 0.004);
  EXPECT_NEAR(share([](const Moldability& job) { return job.curve.sigma == 0; }), 0.1427, 0.004);
  EXPECT_NEAR(share([](const Moldability& job) { return job.curve.sigma <= 1; }), 0.4268, 0.004);
}

TEST(Moldability, TheSigmaFactorChangesNothingElse) {
  const auto once = draws(1), twice = draws(2);
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_DOUBLE_EQ(twice[i].curve.sigma, 2 * once[i].curve.sigma);
    EXPECT_EQ(twice[i].curve.a, once[i].curve.a);
    EXPECT_EQ(twice[i].smallest, once[i].smallest);
  }
}

TEST(Moldability, SurveyedConstraintsHaveTheSharesOfTheAnswers) {
  Rng source{Seed{6}, "test"};
  std::map<SizeConstraint, double> shares;
  for (int i = 0; i < kDraws; ++i) shares[draw_surveyed_constraint(source)] += 1.0 / kDraws;
  EXPECT_NEAR(shares[SizeConstraint::kRigid], 0.02, 0.002);
  EXPECT_NEAR(shares[SizeConstraint::kPowerOfTwo], 0.10, 0.004);
  EXPECT_NEAR(shares[SizeConstraint::kSquare], 0.02, 0.002);
  EXPECT_NEAR(shares[SizeConstraint::kEven], 0.08, 0.004);
  EXPECT_NEAR(shares[SizeConstraint::kMultipleOfFour], 0.08, 0.004);
  EXPECT_NEAR(shares[SizeConstraint::kNone], 0.70, 0.006);
}

std::vector<ProcessCount> all(ProcessCount least, ProcessCount most, SizeConstraint constraint) {
  const AllowedSizes allowed({least, most}, constraint);
  std::vector<ProcessCount> sizes;
  for (std::int64_t i = 0; i < allowed.count(); ++i) sizes.push_back(allowed.at(i));
  return sizes;
}

TEST(AllowedSizes, AreThoseOfTheRangeThatFitTheConstraint) {
  using Sizes = std::vector<ProcessCount>;
  EXPECT_EQ(all(3, 6, SizeConstraint::kNone), (Sizes{3, 4, 5, 6}));
  EXPECT_EQ(all(1, 9, SizeConstraint::kPowerOfTwo), (Sizes{1, 2, 4, 8}));
  EXPECT_EQ(all(2, 25, SizeConstraint::kSquare), (Sizes{4, 9, 16, 25}));
  EXPECT_EQ(all(1, 7, SizeConstraint::kEven), (Sizes{2, 4, 6}));
  EXPECT_EQ(all(5, 16, SizeConstraint::kMultipleOfFour), (Sizes{8, 12, 16}));
  EXPECT_EQ(all(5, 8, SizeConstraint::kSquare), Sizes{});
  EXPECT_EQ(all(1, 8, SizeConstraint::kRigid), Sizes{});
  EXPECT_EQ(AllowedSizes({1, 2147483647}, SizeConstraint::kPowerOfTwo).count(), 31);
  EXPECT_EQ(AllowedSizes({2, 2147483647}, SizeConstraint::kNone).at(0), 2);
}

TEST(DrawSizes, AreAllowedOnesAndTheLoggedSizeInPlaceOfOne) {
  Rng source{Seed{7}, "test"};
  const AllowedSizes allowed({2, 64}, SizeConstraint::kEven);
  std::map<ProcessCount, int> counts;
  for (int i = 0; i < 20'000; ++i) {
    const auto sizes = draw_sizes(source, allowed, 5, 7);
    ASSERT_EQ(sizes.size(), 5U);
    EXPECT_TRUE(std::ranges::is_sorted(sizes));
    for (const ProcessCount size : sizes) {
      EXPECT_TRUE(size == 7 || (size % 2 == 0 && size >= 2 && size <= 64)) << size;
      ++counts[size];
    }
  }
  EXPECT_EQ(counts[7], 20'000);
  for (const auto& [size, count] : counts) {
    if (size == 7) continue;
    EXPECT_NEAR(count, 20'000 * 4 / 32.0, 250) << size << ": all are equally probable";
  }
}

TEST(DrawSizes, FewAllowedSizesAreAllTaken) {
  Rng source{Seed{8}, "test"};
  EXPECT_EQ(draw_sizes(source, AllowedSizes({1, 8}, SizeConstraint::kRigid), 9, 6), (std::vector<ProcessCount>{6}));
  for (int i = 0; i < 100; ++i) {
    const auto sizes = draw_sizes(source, AllowedSizes({1, 8}, SizeConstraint::kPowerOfTwo), 19, 4);
    EXPECT_TRUE(std::ranges::find(sizes, ProcessCount{4}) != sizes.end());
    EXPECT_GE(sizes.size(), 3U) << "one of 1, 2, 4 and 8 has made room for 4";
    for (const ProcessCount size : sizes) EXPECT_EQ(size & (size - 1), 0) << size;
  }
}

}  // namespace
}  // namespace replay
