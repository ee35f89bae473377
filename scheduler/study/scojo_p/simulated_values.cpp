#include "scheduler/study/scojo_p/simulated_values.hpp"

#include <cmath>

namespace replay::study {
namespace {

using namespace scojo;

// The workload of all moldable jobs with the same jobs.
std::string_view without_share(std::string_view workload) {
  if (workload == kW1Eighty || workload == kW1Malleable) return kW1;
  return workload == kW2Eighty || workload == kW2Malleable ? kW2 : workload;
}

}  // namespace

const std::vector<ScojoFigures>& ScojoValues::runs(const Run& run) const {
  static const std::vector<ScojoFigures> kNone;
  const bool is_rigid = run.policy == kTraditional || run.policy == kTraditionalOne;
  const auto found =
      outcome_.runs.find({std::string{is_rigid ? without_share(run.workload) : run.workload}, run.policy});
  return found == outcome_.runs.end() ? kNone : found->second;
}

std::vector<double> ScojoValues::by_seed(const Run& run, const Figure& figure) const {
  std::vector<double> values;
  for (const ScojoFigures& figures : runs(run)) values.push_back(figures.groups[figure.group].*figure.member);
  return values;
}

// Zero if some value is zero.
double ScojoValues::mean(const Run& run, const Figure& figure) const {
  const std::vector<double> values = by_seed(run, figure);
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

double ScojoValues::utilisation_percent(std::string_view workload, std::string_view policy) const {
  std::vector<double> values;
  for (const ScojoFigures& run : runs({std::string{workload}, std::string{policy}}))
    values.push_back(run.utilisation * 100);
  return mean_of(values);
}

std::vector<double> ScojoValues::responses(std::string_view workload, std::string_view policy,
                                           std::size_t group) const {
  const auto& all = runs({std::string{workload}, std::string{policy}});
  if (all.empty()) return {};
  std::vector<double> jobs(kResponseBins);
  for (const ScojoFigures& run : all)
    for (std::size_t bin = 0; bin < kResponseBins; ++bin)
      jobs[bin] += run.responses[group][bin] / static_cast<double>(all.size());
  return jobs;
}

}  // namespace replay::study
