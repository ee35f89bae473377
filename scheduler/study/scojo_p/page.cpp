// The page of the SCOJO-P paper: Figures 4 to 14 in bars and numbers, and what its text says.

#include <fmt/format.h>

#include <array>

#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/scojo_p/tables.hpp"

namespace replay::study {
namespace {

using namespace scojo;

// As the paper's figures have them, and Cirne-Berman in our variant.
constexpr std::array<std::string_view, 4> kInFigures{kTraditional, kScojoP, kCirne, kCirneOpt};

// NaN, which a bar cannot have, is none.
double height(double value) { return std::isnan(value) ? 0 : value; }

report::BarChart class_bars(const ScojoValues& simulated, const ScojoMeasure& measure, std::string_view workload) {
  report::BarChart chart{.title = fmt::format("{}, {}", workload, measure.name),
                         .x_name = "class of T(N_opt)",
                         .y_name = fmt::format("{}{}", measure.name, measure.unit == "h" ? ", h" : ""),
                         .labels = {},
                         .series = {}};
  for (const std::string_view group : kScojoGroupNames) chart.labels.emplace_back(group);
  for (const std::string_view policy : kInFigures) {
    if (!simulated.has(workload, policy)) continue;
    auto& series = chart.series.emplace_back(report::BarSeries{std::string{policy}, {}});
    for (std::size_t g = 0; g < kScojoGroups; ++g)
      series.values.push_back(height(simulated.mean(workload, policy, g, measure.figure) * measure.scale));
  }
  return chart;
}

report::BarChart response_histogram(const ScojoValues& simulated, std::string_view workload, std::size_t group) {
  report::BarChart chart{.title = fmt::format("{}, {} jobs", workload, kScojoGroupNames[group]),
                         .x_name = "response up to",
                         .y_name = "jobs",
                         .labels = {},
                         .series = {}};
  for (const ResponseBin& bin : response_bins(group)) chart.labels.emplace_back(bin.label);
  for (const std::string_view policy : kInFigures)
    if (simulated.has(workload, policy))
      chart.series.push_back({std::string{policy}, simulated.responses(workload, policy, group)});
  return chart;
}

report::BarChart adaptation_bars(const ScojoValues& simulated, std::string_view workload) {
  report::BarChart chart{.title = fmt::format("{}, jobs shrunk (S) and expanded (E)", workload),
                         .x_name = "against N_opt, by class: short, medium, long",
                         .y_name = "jobs",
                         .labels = {"SS", "SM", "SL", "ES", "EM", "EL"},
                         .series = {}};
  for (const std::string_view policy : {kUnpredicted, kScojoP, kCirne, kCirneOpt}) {
    if (!simulated.has(workload, policy)) continue;
    auto& series = chart.series.emplace_back(report::BarSeries{std::string{policy}, {}});
    for (const auto figure : {&ScojoGroupFigures::shrunk, &ScojoGroupFigures::expanded})
      for (std::size_t g = 1; g < kScojoGroups; ++g)
        series.values.push_back(simulated.average(workload, policy, g, figure));
  }
  return chart;
}

Section responses_section(const ScojoValues& simulated) {
  const std::vector<std::string_view> both{kW1, kW2};
  Section section{
      .title = "Figures 4 to 6 and 9 to 11: response, wait and bounded slowdown",
      .text = {"All jobs moldable, curves of three points. Cirne-Berman may expand jobs to N_max, as the paper "
               "has it; \"up to N_opt\" is our variant. Greedy and conservative Cirne-Berman are ours too."}};
  const std::pair<const ScojoMeasure*, std::string_view> measures[] = {
      {&kScojoResponse, "4 and 9"}, {&kScojoWait, "5 and 10"}, {&kScojoSlowdown, "6 and 11"}};
  for (const auto& [measure, figures] : measures) {
    Figure figure{.title = fmt::format("Figures {}: {}", figures, measure->name), .panels = {}};
    for (const std::string_view workload : both) figure.panels.emplace_back(class_bars(simulated, *measure, workload));
    section.figures.push_back(std::move(figure));
    section.tables.push_back(scojo_by_class(simulated, fmt::format("figures {}", figures),
                                            fmt::format("Figures {} in numbers: {}", figures, measure->name), *measure,
                                            both));
  }
  section.tables.push_back(scojo_gains(simulated));
  section.tables.push_back(scojo_by_seed(simulated, kW1));
  section.tables.push_back(scojo_by_seed(simulated, kW2));
  return section;
}

Section histogram_section(const ScojoValues& simulated) {
  Section section{.title = "Figure 7: how the responses are distributed",
                  .text = {"A bin has what is above the limit before it, up to its own; the limits are ours, as the "
                           "figure's cannot be taken from the text. Mean over the seeds."}};
  for (const std::string_view workload : {kW1, kW2}) {
    Figure figure{.title = fmt::format("Figure 7, {}", workload), .panels = {}};
    for (std::size_t g = 1; g < kScojoGroups; ++g)
      figure.panels.emplace_back(response_histogram(simulated, workload, g));
    section.figures.push_back(std::move(figure));
  }
  return section;
}

Section adaptation_section(const ScojoValues& simulated) {
  return {.title = "Figures 8 and 12: which jobs change their size",
          .text = {"At their start, against N_opt; jobs of the greedy policies take the fastest size that is free."},
          .figures = {{"Figures 8 and 12", {adaptation_bars(simulated, kW1), adaptation_bars(simulated, kW2)}}},
          .tables = {scojo_adaptations(simulated), scojo_sizes(simulated)}};
}

Section ideal_section(const ScojoValues& simulated) {
  Section section{.title = "The ideal load (5.3)",
                  .text = {"The load that SCOJO-P aims at; the paper found 0.9 to be the best of those that it tried."},
                  .figures = {},
                  .tables = {scojo_ideal(simulated)}};
  const std::pair<const ScojoMeasure*, std::string_view> measures[] = {{&kScojoResponse, "mean response, h"},
                                                                       {&kScojoSlowdown, "mean bounded slowdown"}};
  Figure figure{.title = "Ideal load", .panels = {}};
  for (const auto& [measure, name] : measures) {
    CurveChart chart{
        .title = std::string{measure->name}, .x_name = "ideal load", .y_name = std::string{name}, .curves = {}};
    std::size_t colour = 0;
    for (const std::string_view workload : {kW1, kW2}) {
      Curve curve{.name = std::string{workload}, .points = {}, .colour = colour++};
      for (const double ideal : scojo_ideal_loads())
        if (simulated.has(workload, scojo_ideal_key(ideal)))
          curve.points.push_back(
              {ideal, simulated.mean(workload, scojo_ideal_key(ideal), kAllJobs, measure->figure) * measure->scale});
      chart.curves.push_back(std::move(curve));
    }
    figure.panels.emplace_back(std::move(chart));
  }
  section.figures.push_back(std::move(figure));
  return section;
}

Section shares_section(const ScojoValues& simulated) {
  return {.title = "Fewer moldable jobs, and the original SCOJO",
          .text = {},
          .figures = {},
          .tables = {scojo_eighty(simulated), scojo_original(simulated),
                     scojo_by_class(simulated, "80 %, response", "80 % moldable: mean response", kScojoResponse,
                                    {kW1Eighty, kW2Eighty})}};
}

Section downey_section(const ScojoValues& simulated) {
  return {
      .title = "Figures 13 and 14: curves of Downey as Cirne and Berman draw them",
      .text = {"W1, all jobs moldable. The traditional scheduler starts jobs at the size that they were submitted "
               "with, also where a curve does not offer it."},
      .figures = {{"Figures 13 and 14",
                   {class_bars(simulated, kScojoResponse, kDowney), class_bars(simulated, kScojoSlowdown, kDowney)}}},
      .tables = {scojo_by_class(simulated, "figure 13", "Figure 13 in numbers: mean response", kScojoResponse,
                                {kDowney, kDowneyRaised}),
                 scojo_by_class(simulated, "figure 14", "Figure 14 in numbers: mean bounded slowdown", kScojoSlowdown,
                                {kDowney, kDowneyRaised}),
                 scojo_downey_sizes(simulated)}};
}

std::vector<std::string> about(const ScojoOptions& options) {
  return {
      fmt::format("{} jobs of the typeless Lublin-Feitelson model on {} processors, aarr 10.23 (W1) and 9.83 (W2), {}; "
                  "the first "
                  "and the last {} % of the jobs do not count. Run times are known exactly. Runtime model: speedup.",
                  options.jobs, scojo_p_paper::kProcessors,
                  options.seeds == 1 ? std::string{"seed 1"} : fmt::format("seeds 1 to {}", options.seeds),
                  scojo_p_paper::kCutPercent),
      "Classes: short below a minute, long from an hour, by T(N_opt). Bounded slowdown: the response over T(N_opt), at "
      "least 30 s, and at least 1. Times and slowdowns are geometric means over the seeds, counts and sizes arithmetic "
      "ones.",
      "The paper's figures have no numbers that could stand beside ours; what its text states does, behind ours in "
      "grey."};
}

}  // namespace

Result scojo_result(const ScojoOutcome& outcome) {
  const ScojoValues simulated{outcome};
  Result result{
      .name = "scojo-p",
      .title = "SCOJO-P and Cirne-Berman, again",
      .paper =
          "L. Barsanti, A. Sodan: Adaptive Job Scheduling Via Predictive Job Resource Allocation, JSSPP 2006. "
          "Figures 4 to 14 and the text of sections 5 and 6.",
      .about = about(outcome.options)};
  if (outcome.options.quick)
    result.limits.push_back(
        fmt::format("--quick: {}, {} jobs, without Downey's curves and without the ideal loads other than 0.9",
                    outcome.options.seeds == 1 ? "one seed" : fmt::format("{} seeds", outcome.options.seeds),
                    outcome.options.jobs));
  result.checks = scojo_checks(simulated);
  result.sections = {{.title = "Workloads", .text = {}, .figures = {}, .tables = {scojo_workloads(simulated)}},
                     responses_section(simulated),
                     histogram_section(simulated),
                     adaptation_section(simulated)};
  if (!outcome.options.quick) result.sections.push_back(ideal_section(simulated));
  result.sections.push_back(shares_section(simulated));
  if (simulated.has(kDowney, kScojoP)) result.sections.push_back(downey_section(simulated));
  return result;
}

}  // namespace replay::study
