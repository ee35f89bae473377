#include "scheduler/validate/paper_seeds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/sweep/engine/cell_line.hpp"

namespace replay::validate {
namespace {

constexpr std::string_view kMetrics[] = {"mean_wait", "mean_response", "mean_slowdown"};

std::string result_name(std::size_t policy, std::size_t figure) {
  return fmt::format("{}/{}", kPaperPolicies[policy], kMetrics[figure]);
}

sweep::Results simulate_seed(std::uint64_t seed, const std::string& trace, const ValidationSetting& setting) {
  experiment::RunSpec run = simulated(setting, trace, "");
  run.policies.assign(std::begin(kPaperPolicies), std::end(kPaperPolicies));
  run.jobs_from.clear();
  run.outputs = "none";
  run.seed = seed;  // as the cells of that seed have it
  const experiment::Prepared prepared = experiment::prepare(std::move(run));
  sweep::Results results;
  for (std::size_t p = 0; p < std::size(kPaperPolicies); ++p) {
    const metrics::Summary summary = simulate_to_end(prepared, p).summary;
    for (std::size_t i = 0; i < compare::kFigureCount; ++i) results[result_name(p, i)] = summary.value(kMetrics[i]);
  }
  return results;
}

std::vector<double> gain_of_each_seed(const SeedSeries& series, std::size_t policy, std::size_t figure) {
  return metrics::percent_differences(series.values[0][figure], series.values[policy][figure]);
}

}  // namespace

std::vector<SeedSeries> simulate_paper_seeds(const std::filesystem::path& traces, const PaperWorkload& workload,
                                             const ValidationSetting& setting) {
  std::vector<SeedSeries> all;
  for (const int load : kPaperLoads)
    for (const std::string_view arrivals : kPaperArrivals) all.push_back({load, arrivals, {}});
  const auto trace_of = [&](std::size_t cell) {
    const SeedSeries& series = all[cell / kPaperSeeds];
    return write_paper_trace(traces, workload, series.arrivals, series.load_percent, cell % kPaperSeeds + 1);
  };
  terminal::ProgressLine progress;
  const std::vector<std::string> results = sweep::run_batch(
      {.count = all.size() * kPaperSeeds,
       .compute =
           [&](std::size_t cell, const auto&) {
             return sweep::results_json(simulate_seed(cell % kPaperSeeds + 1, trace_of(cell), setting));
           },
       .name = [](std::size_t cell) { return fmt::format("seed {}", cell % kPaperSeeds + 1); }},
      [&](std::string_view line) { progress.show(line); });
  for (std::size_t cell = 0; cell < results.size(); ++cell) {
    const sweep::Results of_seed = sweep::parse_results(results[cell]);
    for (std::size_t p = 0; p < std::size(kPaperPolicies); ++p)
      for (std::size_t i = 0; i < compare::kFigureCount; ++i)
        all[cell / kPaperSeeds].values[p][i].push_back(of_seed.at(result_name(p, i)));
  }
  return all;
}

std::vector<SeedMeans> seed_means(std::span<const SeedSeries> all) {
  std::vector<SeedMeans> means;
  for (const SeedSeries& series : all)
    for (std::size_t p = 0; p < series.values.size(); ++p) {
      SeedMeans& mean = means.emplace_back();
      mean.load_percent = series.load_percent;
      mean.arrivals = series.arrivals;
      mean.policy = kPaperPolicies[p];
      for (std::size_t i = 0; i < compare::kFigureCount; ++i) {
        mean.figures[i] = metrics::estimate(series.values[p][i]);
        mean.gains[i] = metrics::estimate(gain_of_each_seed(series, p, i));
      }
    }
  return means;
}

TypicalSeed typical_seed(std::span<const SeedSeries> all, double faint_wait) {
  INVARIANT(!all.empty() && !all[0].values[0][compare::kWait].empty(), "no seed to choose from");
  const std::size_t seeds = all[0].values[0][compare::kWait].size();
  std::vector<double> squares(seeds);
  std::vector<std::size_t> faint(seeds);
  std::size_t gains = 0;
  for (const SeedSeries& series : all)
    for (std::size_t p = 0; p < series.values.size(); ++p) {
      for (std::size_t s = 0; s < seeds; ++s) {
        const double wait = series.values[p][compare::kWait][s];
        if (wait > 0 && wait < faint_wait) ++faint[s];
      }
      if (p == 0) continue;
      ++gains;
      const std::vector<double> here = gain_of_each_seed(series, p, compare::kResponse);
      const double mean = metrics::estimate(here).mean;
      for (std::size_t s = 0; s < seeds; ++s) squares[s] += (here[s] - mean) * (here[s] - mean);
    }
  std::size_t best = 0;
  for (std::size_t s = 1; s < seeds; ++s)
    if (std::tie(faint[s], squares[s]) < std::tie(faint[best], squares[best])) best = s;
  return {best + 1, std::sqrt(squares[best] / static_cast<double>(gains)), faint[best]};
}

}  // namespace replay::validate
