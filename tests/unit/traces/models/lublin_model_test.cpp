// Tests of the model against figures computed by others: jobs of the authors' program, its daily weights, and the
// statistics of 20 runs of it (tests/data/lublin_*.csv).
#include "traces/models/lublin_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "scheduler/base/error.hpp"
#include "scheduler/model/allocation.hpp"
#include "tests/unit/traces/models/reference_csv.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

std::vector<LublinJob> draw(const LublinModel& model, std::size_t count) {
  LublinStream stream(model);
  std::vector<LublinJob> jobs;
  while (jobs.size() < count) jobs.push_back(stream.next());
  return jobs;
}

TEST(LublinModel, WithDrand48ItGivesTheJobsOfTheAuthorsProgram) {
  std::map<std::string, std::vector<LublinJob>> drawn;
  for (const bool types : {false, true})
    drawn[types ? "batch+interactive" : "typeless_default"] =
        draw({.types = types, .generator = Generator::kDrand48, .seed = Seed{1}}, 20);
  for (const auto& row : test::reference_rows("lublin_golden_drand48.csv")) {
    const auto number = std::stoul(row.at(2));
    const LublinJob expected{std::stoll(row.at(3)), std::stoi(row.at(4)), std::stoll(row.at(5)), row.at(6) == "1"};
    const LublinJob& found = drawn.at(row.at(0)).at(number - 1);
    EXPECT_EQ(found, expected) << row.at(0) << " job " << number << ": " << found.arrival << " " << found.size << " "
                               << found.runtime;
  }
}

TEST(LublinModel, TheWeightsOfTheDayAreThoseOfTheGammaDistribution) {
  for (const auto& row : test::reference_rows("lublin_bucket_weights.csv")) {
    const auto bucket = std::stoul(row.at(0));
    for (const LublinKind kind : {LublinKind::kTypeless, LublinKind::kInteractive, LublinKind::kBatch}) {
      const LublinParameters p = default_lublin_parameters(kind, 128);
      EXPECT_NEAR(bucket_weights(p.anum, p.bnum).at(bucket), std::stod(row.at(2 + static_cast<std::size_t>(kind))),
                  1e-6)
          << to_text(kind) << " " << row.at(1);
    }
  }
}

TEST(LublinModel, TheMeanGapIsThatOfTheDistribution) {
  // Shape 2, scale 1/2: e^x has the density 4 x e^-2x, so the mean of e^x below 13 is 4 (1 - 14 e^-13) / (1 - 27
  // e^-26).
  EXPECT_NEAR(mean_gap({.aarr = 2, .barr = 0.5, .arar = 1}), 4 * (1 - 14 * std::exp(-13.0)), 1e-9);
  // Shape 1/2: still exact to many digits in spite of the pole at 0. With barr = 1/3, 13 is far in the tail.
  EXPECT_NEAR(mean_gap({.aarr = 0.5, .barr = 1.0 / 3, .arar = 1}), std::sqrt(1.5), 1e-4);
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 == values.size()) return values.back();
  return std::lerp(values[below], values[below + 1], at - static_cast<double>(below));
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

template <class Condition>
double share(const std::vector<LublinJob>& jobs, Condition condition) {
  return static_cast<double>(std::ranges::count_if(jobs, condition)) / static_cast<double>(jobs.size());
}

using Statistics = std::map<std::string, double>;

void add_distributions(Statistics& result, const std::vector<LublinJob>& jobs) {
  std::vector<double> sizes, runtimes, log_runtimes, gaps;
  std::int64_t before = 0;
  for (const LublinJob& job : jobs) {
    sizes.push_back(job.size);
    runtimes.push_back(static_cast<double>(job.runtime));
    log_runtimes.push_back(std::log(static_cast<double>(job.runtime)));
    if (&job != &jobs.front()) gaps.push_back(static_cast<double>(job.arrival - before));
    before = job.arrival;
  }
  result["size_mean"] = mean(sizes);
  result["runtime_mean"] = mean(runtimes);
  result["interarrival_mean"] = mean(gaps);
  result["logruntime_mean"] = mean(log_runtimes);
  for (const int percent : {5, 10, 25, 50, 75, 90, 95, 99}) {
    result["size_p" + std::to_string(percent)] = quantile(sizes, percent / 100.0);
    result["runtime_p" + std::to_string(percent)] = quantile(runtimes, percent / 100.0);
    result["interarrival_p" + std::to_string(percent)] = quantile(gaps, percent / 100.0);
  }
}

void add_shares(Statistics& result, const std::vector<LublinJob>& jobs) {
  const auto is_power = [](ProcessCount n) { return std::has_single_bit(static_cast<std::uint32_t>(n)); };
  result["serial_share"] = share(jobs, [](const LublinJob& j) { return j.size == 1; });
  result["pow2_share_incl_serial"] = share(jobs, [&](const LublinJob& j) { return is_power(j.size); });
  result["pow2_share_parallel"] = share(jobs, [&](const LublinJob& j) { return j.size > 1 && is_power(j.size); });
  result["share_runtime_lt60"] = share(jobs, [](const LublinJob& j) { return j.runtime < 60; });
  result["share_60_3600"] = share(jobs, [](const LublinJob& j) { return j.runtime >= 60 && j.runtime < 3600; });
  result["share_ge3600"] = share(jobs, [](const LublinJob& j) { return j.runtime >= 3600; });
  result["share_le600"] = share(jobs, [](const LublinJob& j) { return j.runtime <= 600; });
  result["share_gt10800"] = share(jobs, [](const LublinJob& j) { return j.runtime > 10800; });
  for (int hour = 0; hour < 24; ++hour) {
    const std::string name = (hour < 10 ? "hour0" : "hour") + std::to_string(hour) + "_share";
    result[name] = share(jobs, [&](const LublinJob& j) { return j.arrival / 3600 % 24 == hour; });
  }
}

Statistics statistics(const std::vector<LublinJob>& jobs, CoreCount machine_size, bool types) {
  Statistics result;
  add_distributions(result, jobs);
  add_shares(result, jobs);
  double work = 0;
  for (const LublinJob& job : jobs) work += job.size * static_cast<double>(job.runtime);
  result["area_mean"] = work / static_cast<double>(jobs.size());
  result["offered_load_sum_rn_over_P_maxarr"] = work / (machine_size * static_cast<double>(jobs.back().arrival));
  if (!types) return result;
  result["interactive_share"] = share(jobs, [](const LublinJob& j) { return !j.batch; });
  for (const bool batch : {false, true}) {
    std::vector<LublinJob> part;
    std::ranges::copy_if(jobs, std::back_inserter(part), [&](const LublinJob& j) { return j.batch == batch; });
    Statistics of_part;
    add_distributions(of_part, part);
    add_shares(of_part, part);
    const std::string prefix = batch ? "batch_" : "interactive_";
    result[prefix + "size_mean"] = of_part["size_mean"];
    result[prefix + "runtime_mean"] = of_part["runtime_mean"];
    result[prefix + "runtime_p50"] = of_part["runtime_p50"];
    result[prefix + "serial"] = of_part["serial_share"];
    result[prefix + "pow2"] = of_part["pow2_share_incl_serial"];
  }
  return result;
}

LublinModel model_of(const std::string& configuration) {
  LublinModel model;
  model.types = configuration.starts_with("types");
  if (const auto at = configuration.find("_a"); configuration.starts_with("default_"))
    model.typeless.aarr = std::stod(configuration.substr(at + 2));
  if (configuration.starts_with("a")) model.typeless.aarr = std::stod(configuration.substr(1));
  return model;
}

// Over 20 seeds, the mean of a statistic is known to sd / sqrt(20), and so is the reference's: their difference has a
// standard error of 0.32 sd, and with some 280 statistics compared the largest of them is expected near 3.3 errors. A
// band of 1.6 sd is 5 errors. Percentiles of whole numbers may have no deviation at all, hence half a unit besides.
TEST(LublinModel, ItsStatisticsOverTwentySeedsAreThoseOfTheAuthorsProgram) {
  std::map<std::string, std::map<std::string, std::pair<double, double>>> reference;
  for (const auto& row : test::reference_rows("lublin_reference_stats.csv"))
    reference[row.at(0)][row.at(1)] = {std::stod(row.at(2)), std::stod(row.at(3))};
  ASSERT_EQ(reference.size(), 5U);
  int compared = 0;
  for (const auto& [configuration, expected] : reference) {
    LublinModel model = model_of(configuration);
    Statistics mean_over_seeds;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      model.seed = Seed{seed};
      for (const auto& [name, value] : statistics(draw(model, 10'000), 128, model.types))
        mean_over_seeds[name] += value / 20;
    }
    for (const auto& [name, value] : mean_over_seeds) {
      const auto [wanted, deviation] = expected.at(name);
      const double whole_number = name.find("_p") != std::string::npos ? 0.5 : 0;
      EXPECT_NEAR(value, wanted, 1.6 * deviation + whole_number) << configuration << " " << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 290);
}

TEST(LublinModel, TheSameSeedGivesTheSameJobsAndAnotherOneOthers) {
  for (const Generator generator : {Generator::kXoshiro, Generator::kDrand48}) {
    const LublinModel model{.types = true, .generator = generator, .seed = Seed{7}};
    LublinModel other = model;
    other.seed = Seed{8};
    EXPECT_EQ(draw(model, 500), draw(model, 500));
    EXPECT_NE(draw(model, 500), draw(other, 500));
  }
}

// Fixed values, so that a change of the generator, of exp or of log is noticed: figures name seeds.
TEST(LublinModel, TheFirstJobsOfOurOwnGeneratorStayWhatTheyAre) {
  const std::vector<LublinJob> jobs = draw({}, 3);
  EXPECT_EQ(jobs, (std::vector<LublinJob>{{1068, 4, 5238}, {1145, 4, 24}, {20008, 1, 28}}));
}

TEST(LublinModel, OtherArrivalsLeaveSizesAndRunTimesAlone) {
  const std::vector<LublinJob> lublin = draw({}, 200);
  const std::vector<LublinJob> poisson = draw({.arrivals = ArrivalProcess::kPoisson}, 200);
  for (std::size_t i = 0; i < lublin.size(); ++i) {
    EXPECT_EQ(lublin[i].size, poisson[i].size);
    EXPECT_EQ(lublin[i].runtime, poisson[i].runtime);
  }
}

TEST(LublinModel, PoissonArrivalsHaveTheModelsMeanGapAndNoDay) {
  const std::vector<LublinJob> jobs = draw({.arrivals = ArrivalProcess::kPoisson}, 100'000);
  EXPECT_NEAR(static_cast<double>(jobs.back().arrival) / 1e5, mean_gap(LublinModel{}.typeless), 15);
  for (int hour = 0; hour < 24; ++hour)
    EXPECT_NEAR(share(jobs, [&](const LublinJob& j) { return j.arrival / 3600 % 24 == hour; }), 1.0 / 24, 0.004);
}

TEST(LublinModel, SizesFollowTheMachine) {
  for (const CoreCount machine : {1, 2, 3, 32, 100, 430, 1152, 1'000'000}) {
    LublinModel model{.machine_size = machine};
    for (auto [kind, parameters] : {std::pair{LublinKind::kTypeless, &model.typeless},
                                    {LublinKind::kInteractive, &model.interactive},
                                    {LublinKind::kBatch, &model.batch}})
      *parameters = default_lublin_parameters(kind, machine);
    for (const bool types : {false, true}) {
      model.types = types;
      for (const LublinJob& job : draw(model, 2000)) {
        ASSERT_GE(job.size, 1);
        ASSERT_LE(job.size, processes_at(machine, 1));
      }
    }
  }
}

TEST(LublinParameters, TheSizeThatPartsSmallFromLargeGoesWithTheLargest) {
  const LublinParameters p256 = default_lublin_parameters(LublinKind::kTypeless, 256);
  EXPECT_DOUBLE_EQ(p256.uhi, 8);  // as in the archive's lublin_256
  EXPECT_DOUBLE_EQ(p256.umed, 5.5);
  GivenLublinParameters given;
  given[4] = 6;
  ASSERT_EQ(kLublinParameters[4].name, "uhi");
  EXPECT_DOUBLE_EQ(lublin_parameters(LublinKind::kTypeless, 128, given).umed, 3.5);
  given[3] = 5;
  EXPECT_DOUBLE_EQ(lublin_parameters(LublinKind::kTypeless, 128, given).umed, 5);
}

TEST(LublinParameters, NonsenseIsNamed) {
  const auto complaint = [](auto change) {
    LublinModel model;
    change(model.typeless);
    return test::message_of<UsageError>([&] { (void)draw(model, 10); });
  };
  EXPECT_EQ(complaint([](LublinParameters& p) { p.uprob = 1.5; }), "--uprob: expected 0 to 1, found 1.5");
  EXPECT_EQ(complaint([](LublinParameters& p) { p.barr = std::nan(""); }), "--barr: expected 1e-05 to 1000, found nan");
  EXPECT_NE(complaint([](LublinParameters& p) { p.ulow = 5; }).find("ascending"), std::string::npos);
  EXPECT_NE(complaint([](LublinParameters& p) { p.uhi = 8; }).find("machine size 128"), std::string::npos);
  EXPECT_NE(complaint([](LublinParameters& p) { p.aarr = 1000; }).find("aarr"), std::string::npos);
  EXPECT_NE(complaint([](LublinParameters& p) { p.a1 = p.a2 = 5000; }).find("a1"), std::string::npos);
}

}  // namespace
}  // namespace replay
