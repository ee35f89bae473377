#include "scheduler/validate/paper_seeds.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/parallel.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/terminal/progress_line.hpp"

namespace replay::validate {
namespace {

std::array<double, compare::kFigureCount> figures_in(const metrics::Summary& summary) {
  return {summary.value("mean_wait"), summary.value("mean_response"), summary.value("mean_slowdown")};
}

void simulate_seed(SeedSeries& series, std::size_t seed_index, const std::string& trace,
                   const ValidationSetting& setting) {
  experiment::RunSpec run = simulated(setting, trace, "");
  run.policies.assign(std::begin(kPaperPolicies), std::end(kPaperPolicies));
  run.jobs_from.clear();
  run.outputs = "none";
  run.seed = seed_index + 1;  // as the cells of that seed have it
  const experiment::Prepared prepared = experiment::prepare(std::move(run));
  for (std::size_t p = 0; p < std::size(kPaperPolicies); ++p) {
    const auto figures = figures_in(simulate_to_end(prepared, p).summary);
    for (std::size_t i = 0; i < figures.size(); ++i) series.values[p][i][seed_index] = figures[i];
  }
}

std::vector<double> gain_of_each_seed(const SeedSeries& series, std::size_t policy, std::size_t figure) {
  return metrics::percent_differences(series.values[0][figure], series.values[policy][figure]);
}

}  // namespace

std::vector<SeedSeries> simulate_paper_seeds(const std::filesystem::path& traces, const PaperWorkload& workload,
                                             const ValidationSetting& setting) {
  std::vector<SeedSeries> all;
  for (const int load : kPaperLoads)
    for (const std::string_view arrivals : kPaperArrivals) {
      SeedSeries& series = all.emplace_back(SeedSeries{load, arrivals, {}});
      for (auto& policy : series.values)
        for (auto& figure : policy) figure.resize(kPaperSeeds);
    }
  terminal::ProgressLine progress;
  std::atomic<std::size_t> done{0};
  for_each_in_parallel(all.size() * kPaperSeeds, 0, [&](std::size_t i) {
    if (stops_asked() > 0) throw CellInterrupted{};
    SeedSeries& series = all[i / kPaperSeeds];
    const std::size_t seed = i % kPaperSeeds;
    simulate_seed(series, seed, write_paper_trace(traces, workload, series.arrivals, series.load_percent, seed + 1),
                  setting);
    progress.show(fmt::format("{} of {} traces simulated", ++done, all.size() * kPaperSeeds));
  });
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
