#include "scheduler/study/scojo_p/simulated_values.hpp"

#include <algorithm>
#include <cmath>

namespace replay::study {
namespace {

using namespace scojo;

// NaN of nothing; zero if some value is zero.
double geometric_mean(const std::vector<double>& values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

double arithmetic_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<double> values_of(const std::vector<ScojoFigures>& runs, std::size_t group, ScojoValues::Figure figure) {
  std::vector<double> values;
  for (const ScojoFigures& run : runs) values.push_back(run.groups[group].*figure);
  return values;
}

// The workload of all moldable jobs with the same jobs.
std::string_view without_share(std::string_view workload) {
  if (workload == kW1Eighty || workload == kW1Malleable) return kW1;
  return workload == kW2Eighty || workload == kW2Malleable ? kW2 : workload;
}

}  // namespace

const std::vector<ScojoFigures>& ScojoValues::runs(std::string_view workload, std::string_view policy) const {
  static const std::vector<ScojoFigures> kNone;
  const bool is_rigid = policy == kTraditional || policy == kTraditionalOne;
  const auto found =
      outcome_.runs.find({std::string{is_rigid ? without_share(workload) : workload}, std::string{policy}});
  return found == outcome_.runs.end() ? kNone : found->second;
}

double ScojoValues::mean(std::string_view workload, std::string_view policy, std::size_t group, Figure figure) const {
  return geometric_mean(values_of(runs(workload, policy), group, figure));
}

double ScojoValues::average(std::string_view workload, std::string_view policy, std::size_t group,
                            Figure figure) const {
  return arithmetic_mean(values_of(runs(workload, policy), group, figure));
}

double ScojoValues::utilisation_percent(std::string_view workload, std::string_view policy) const {
  std::vector<double> values;
  for (const ScojoFigures& run : runs(workload, policy)) values.push_back(run.utilisation * 100);
  return arithmetic_mean(values);
}

std::vector<double> ScojoValues::responses(std::string_view workload, std::string_view policy,
                                           std::size_t group) const {
  const auto& all = runs(workload, policy);
  if (all.empty()) return {};
  std::vector<double> jobs(kResponseBins);
  for (const ScojoFigures& run : all)
    for (std::size_t bin = 0; bin < kResponseBins; ++bin)
      jobs[bin] += run.responses[group][bin] / static_cast<double>(all.size());
  return jobs;
}

double ScojoGain::percent(const ScojoValues& simulated) const {
  return (1 - simulated.mean(workload, policy, group, figure) / simulated.mean(base_workload, base, group, figure)) *
         100;
}

std::vector<double> ScojoGain::by_seed(const ScojoValues& simulated) const {
  const auto ours = values_of(simulated.runs(workload, policy), group, figure),
             theirs = values_of(simulated.runs(base_workload, base), group, figure);
  std::vector<double> gains;
  for (std::size_t seed = 0; seed < std::min(ours.size(), theirs.size()); ++seed)
    gains.push_back((1 - ours[seed] / theirs[seed]) * 100);
  return gains;
}

}  // namespace replay::study
