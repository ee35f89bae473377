#include "scheduler/study/g_lomarc_ts/simulated_values.hpp"

#include <algorithm>

namespace replay::study {

double GlomarcFigure::of(const GlomarcFigures& figures) const {
  if (const auto* const of_run = std::get_if<OfRun>(&figure_)) return figures.**of_run;
  return figures.groups[group_].*std::get<OfGroup>(figure_);
}

GlomarcFigure relative_response_of(glomarc::Group group) {
  return {group, group == glomarc::kAll ? &GlomarcGroupFigures::relative_600 : &GlomarcGroupFigures::relative};
}

std::vector<double> GlomarcValues::by_seed(const GlomarcRun& run, const GlomarcFigure& figure) const {
  std::vector<double> values;
  const auto found = outcome_.runs.find(run);
  if (found == outcome_.runs.end()) return values;
  for (const GlomarcFigures& figures : found->second) values.push_back(figure.of(figures));
  return values;
}

double GlomarcValues::mean(const GlomarcRun& run, const GlomarcFigure& figure) const {
  return mean_of(by_seed(run, figure));
}

double GlomarcValues::groups_of_case(const GlomarcRun& run, std::size_t way) const {
  const auto found = outcome_.runs.find(run);
  if (found == outcome_.runs.end()) return kNoValue;
  std::vector<double> values;
  for (const GlomarcFigures& figures : found->second) values.push_back(figures.by_case.at(way - 1));
  return mean_of(values);
}

double GlomarcGain::percent(const GlomarcValues& simulated) const {
  return (1 - simulated.mean(run, figure) / simulated.mean(base, figure)) * 100;
}

std::vector<double> GlomarcGain::by_seed(const GlomarcValues& simulated) const {
  const auto ours = simulated.by_seed(run, figure), theirs = simulated.by_seed(base, figure);
  std::vector<double> gains;
  for (std::size_t seed = 0; seed < std::min(ours.size(), theirs.size()); ++seed)
    gains.push_back((1 - ours[seed] / theirs[seed]) * 100);
  return gains;
}

}  // namespace replay::study
