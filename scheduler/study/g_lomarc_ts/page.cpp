// The page of the G-LOMARC-TS paper: Figures 6 to 9 in bars, curves and numbers, and what its text says.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/tables.hpp"

namespace replay::study {
namespace {

using namespace glomarc;
namespace paper = glomarc_paper;

// NaN, which a bar cannot have, is none.
double height(double value) { return std::isnan(value) ? 0 : value; }

struct Bars {
  std::string_view name;
  GlomarcFigure figure;
  double scale = 1;
};

report::BarChart variant_bars(const GlomarcValues& simulated, GlomarcLoad load, std::string_view y_name,
                              const std::vector<Bars>& bars) {
  report::BarChart chart{.title = std::string{to_text(load)},
                         .x_name = "variant",
                         .y_name = std::string{y_name},
                         .labels = {},
                         .series = {}};
  for (const Bars& bar : bars) chart.series.push_back({std::string{bar.name}, {}});
  for (const GlomarcVariant variant : glomarc_variants()) {
    const GlomarcRun run = glomarc_run(load, variant);
    if (!simulated.has(run)) continue;
    chart.labels.emplace_back(to_text(variant));
    for (std::size_t i = 0; i < bars.size(); ++i)
      chart.series[i].values.push_back(height(simulated.mean(run, bars[i].figure) * bars[i].scale));
  }
  return chart;
}

Figure response_bars(const GlomarcValues& simulated, GlomarcLoad load, std::string title) {
  return {std::move(title),
          {variant_bars(simulated, load, "relative response",
                        {{"medium", relative_response_of(kMedium)},
                         {"long", relative_response_of(kLong)},
                         {"all, 600 s", relative_response_of(kAll)}})}};
}

Figure use_bars(const GlomarcValues& simulated) {
  Figure figure{.title = "Figure 7: use of cores and nodes in phases of high load", .panels = {}};
  for (const GlomarcLoad load : {GlomarcLoad::kW1, GlomarcLoad::kW2})
    figure.panels.emplace_back(
        variant_bars(simulated, load, "used, %",
                     {{"cores", &GlomarcFigures::core_use_high, 100}, {"nodes", &GlomarcFigures::node_use_high, 100}}));
  return figure;
}

// Figure 8: a panel a class, a curve a variant.
Figure block_curves(const GlomarcValues& simulated) {
  Figure figure{.title = "Figure 8: relative response under W2 by block size", .panels = {}};
  for (const Group group : {kMedium, kLong}) {
    CurveChart chart{.title = fmt::format("W2, {} jobs", kGlomarcGroupNames[group]),
                     .x_name = "block size",
                     .y_name = "relative response",
                     .curves = {},
                     .from_zero = false};
    for (const GlomarcVariant variant :
         {GlomarcVariant::kGlts, GlomarcVariant::kFbo, GlomarcVariant::kNs, GlomarcVariant::kNh}) {
      Curve curve{.name = std::string{to_text(variant)}, .points = {}, .colour = chart.curves.size()};
      for (const int block : glomarc_block_sizes(simulated.outcome().options.quick)) {
        const GlomarcRun run = glomarc_block_run(variant, block);
        if (simulated.has(run))
          curve.points.push_back({static_cast<double>(block), simulated.mean(run, relative_response_of(group))});
      }
      chart.curves.push_back(std::move(curve));
    }
    figure.panels.emplace_back(std::move(chart));
  }
  return figure;
}

Figure slack_curves(const GlomarcValues& simulated) {
  CurveChart chart{.title = "W1, GLTS", .x_name = "slack factor", .y_name = "relative response", .curves = {}};
  for (const Group group : {kMedium, kLong, kAll}) {
    Curve curve{.name = fmt::format("{}{}", kGlomarcGroupNames[group], group == kAll ? ", 600 s" : ""),
                .points = {},
                .colour = chart.curves.size()};
    for (const double slack : glomarc_slack_factors(simulated.outcome().options.quick))
      if (simulated.has(glomarc_slack_run(slack)))
        curve.points.push_back({slack, simulated.mean(glomarc_slack_run(slack), relative_response_of(group))});
    chart.curves.push_back(std::move(curve));
  }
  return {"Figure 9: relative response under W1 by slack factor", {std::move(chart)}};
}

std::vector<Section> sections(const GlomarcValues& simulated) {
  return {
      {.title = "Workloads", .text = {}, .figures = {}, .tables = {glomarc_workloads(simulated)}},
      {.title = "Figure 6: relative response under the normal load",
       .text =
           {"SSP: space sharing only. CST and CSTWS: pairs, the best match and the first. GLTS: groups. FBO: matches "
            "in the first block only; NS: blocks are not sorted; NH: neither sorting nor blocks, and the first group "
            "that passes."},
       .figures = {response_bars(simulated, kW1, "Figure 6")},
       .tables = {glomarc_responses(simulated, kW1), glomarc_gains(simulated), glomarc_by_seed(simulated, kW1),
                  glomarc_times(simulated, kW1)}},
      {.title = "Figure 7: use of the machine",
       .text = {},
       .figures = {use_bars(simulated)},
       .tables = {glomarc_use(simulated, kW1), glomarc_use_gains(simulated), glomarc_use(simulated, kW2)}},
      {.title = "Groups and fairness (5.2)",
       .text =
           {"That there are fewer than four candidates in 85 % of the cases (5.3) is not in the event log, and is not "
            "checked here."},
       .figures = {},
       .tables = {glomarc_groups(simulated), glomarc_delays(simulated, kW1), glomarc_delays(simulated, kW2)}},
      {.title = "Figure 8: the heavier load, and the size of blocks (5.3)",
       .text = {},
       .figures = {response_bars(simulated, kW2, "W2, blocks of 16"), block_curves(simulated)},
       .tables = {glomarc_responses(simulated, kW2), glomarc_by_seed(simulated, kW2), glomarc_blocks(simulated),
                  glomarc_times(simulated, kW2)}},
      {.title = "Figure 9: fairness against use (5.4)",
       .text = {},
       .figures = {slack_curves(simulated)},
       .tables = {glomarc_slacks(simulated)}},
      {.title = "Overhead of slices",
       .text = {"Jobs that go on in the next slice need not be exchanged; the paper pays all the same (footnote 3)."},
       .figures = {},
       .tables = {glomarc_overheads(simulated)}}};
}

std::vector<std::string> about(const GlomarcOptions& options) {
  return {
      fmt::format(
          "{} jobs of the typeless Lublin-Feitelson model, aarr 10.33 (W1) and 9.83 (W2), {}, on {} nodes of two "
          "CPUs of two cores. Slowdowns of Table 4, sizes by formula 7. Run times are known exactly. Runtime "
          "model: pairs.",
          options.jobs, options.seeds == 1 ? std::string{"seed 1"} : fmt::format("seeds 1 to {}", options.seeds),
          paper::kNodes),
      "All variants run in the time slices of scojo-pect, with the parameters of Table 6. Relative response: response "
      "by "
      "the wall over the run time at one process a node, at least 1; the run time counts as 30 s at least, and for all "
      "jobs also as 600 s, which is what the paper's numbers of W2 imply. Means over the jobs, then over the seeds.",
      "Classes by request: short up to ten minutes, medium up to three hours, long beyond. R / R_est is by the clock "
      "of "
      "the job's virtual machine, which stands outside the slices of its class.",
      "The paper's figures have no numbers that could stand beside ours; what its text states does, behind ours in "
      "grey."};
}

}  // namespace

Result glomarc_result(const GlomarcOutcome& outcome) {
  const GlomarcValues simulated{outcome};
  Result result{.name = "g-lomarc-ts",
                .title = "G-LOMARC-TS, again",
                .paper =
                    "X. Zeng, A. C. Sodan: Job Scheduling with Lookahead Group Matchmaking for Time/Space Sharing on "
                    "Multi-core Parallel Machines, JSSPP 2009. Figures 6 to 9 and the text of section 5.",
                .about = about(outcome.options)};
  if (outcome.options.quick)
    result.limits.push_back(
        fmt::format("--quick: {}, {} jobs, fewer block sizes and slack factors",
                    outcome.options.seeds == 1 ? "one seed" : fmt::format("{} seeds", outcome.options.seeds),
                    outcome.options.jobs));
  result.checks = glomarc_checks(simulated);
  result.sections = sections(simulated);
  return result;
}

}  // namespace replay::study
