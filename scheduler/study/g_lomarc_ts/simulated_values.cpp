#include "scheduler/study/g_lomarc_ts/simulated_values.hpp"

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

double GlomarcValues::groups_of_case(const GlomarcRun& run, std::size_t way) const {
  const auto found = outcome_.runs.find(run);
  if (found == outcome_.runs.end()) return kNoValue;
  std::vector<double> values;
  for (const GlomarcFigures& figures : found->second) values.push_back(figures.by_case.at(way - 1));
  return mean_of(values);
}

}  // namespace replay::study
