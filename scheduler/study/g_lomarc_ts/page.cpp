// The page of the G-LOMARC-TS paper: Figures 6 to 9 in bars, curves and numbers, and what its text says.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/simulated_values.hpp"

namespace replay::study {
namespace {

using namespace glomarc;
namespace paper = glomarc_paper;

// ---- tables ----

using OfGroup = GlomarcFigure::OfGroup;

constexpr Band kShareBand{.absolute = 2};        // percentage points
constexpr Band kResponseBand{.relative = 0.25};  // of a relative response
constexpr Band kDelayBand{.absolute = 0.1};      // of R / R_est
constexpr Band kGroupBand{.relative = 0.1};      // of groups and their size
constexpr Band kInGroupBand{.absolute = 3};      // percentage points
constexpr std::string_view kWhyPowers =
    "the model makes 62.7 % parallel powers of two, and 87 % with the serial jobs; neither is the paper's 75 %";
constexpr std::string_view kWhyGains =
    "groups are hardly better than pairs here, under any reading of the paper that was tried";
constexpr std::string_view kWhyUse =
    "groups gain nothing over pairs here, and a gain as large as the paper's over space sharing did not come out under "
    "any reading that was tried";
constexpr std::string_view kWhyGroups =
    "1,500 groups of 2.5 jobs would be 3,750 jobs, more than the 3,600 that are eligible; 41.7 % of these are 1,500 "
    "jobs, so the paper's 1,500 \"groups\" are jobs";
constexpr std::string_view kWhySaturated =
    "SSP saturates, so that its responses grow with the length of the workload and differ by seed";

using Runs = TableOf<GlomarcRun>;

struct ResponseColumn {
  std::string_view name;
  Group group;
  OfGroup figure;
  bool is_compared;  // with the paper's
};
constexpr ResponseColumn kResponses[] = {{"medium", kMedium, &GlomarcGroupFigures::relative, true},
                                         {"long", kLong, &GlomarcGroupFigures::relative, true},
                                         {"all, bound 600 s", kAll, &GlomarcGroupFigures::relative_600, true},
                                         {"all, bound 30 s", kAll, &GlomarcGroupFigures::relative, false},
                                         {"short, bound 30 s", kShort, &GlomarcGroupFigures::relative, false}};

void add_responses(Runs& table, const GlomarcValues& simulated, const std::optional<Band>& band = {}) {
  for (const ResponseColumn& of : kResponses)
    table.column({.name = std::string{of.name},
                  .unit = "ratio",
                  .decimals = 2,
                  .band = of.is_compared ? band : std::nullopt,
                  .why = std::string{band ? kWhySaturated : ""}},
                 [&simulated, figure = GlomarcFigure{of.group, of.figure}](const GlomarcRun& run) {
                   return simulated.mean(run, figure);
                 });
}

// `scale`: from the figure to the unit.
void add_figure(Runs& table, const GlomarcValues& simulated, Column column, const GlomarcFigure& figure,
                double scale = 1) {
  table.column(std::move(column),
               [&simulated, figure, scale](const GlomarcRun& run) { return simulated.mean(run, figure) * scale; });
}

// A row for each variant that was run on the load.
const Table& with_variants(Runs& table, const GlomarcValues& simulated, GlomarcLoad load) {
  for (const GlomarcVariant variant : glomarc_variants())
    if (const GlomarcRun run = glomarc_run(load, variant); simulated.has(run))
      table.row(std::string{to_text(variant)}, run);
  return table.table();
}

Table glomarc_workloads(const GlomarcValues& simulated) {
  using BySeed = std::vector<GlomarcFacts>;
  TableOf<BySeed> table{
      {.id = "table 5",
       .title = "Table 5: the workloads",
       .source = "Table 5, which has one set of shares for both workloads",
       .row_name = "workload",
       .notes =
           {"Work and sizes as the model draws them, before formula 7. Offered load: that work over what the nodes "
            "can do until the last submission; the paper's \"Load = 10.6\" and \"13.0\" are in a unit that it does "
            "not state. Means over the seeds."}},
      glomarc_printed()};
  const auto add = [&table](std::string name, const auto& figure, const std::optional<Band>& band = kShareBand,
                            std::string_view why = {}) {
    table.column({std::move(name), "%", 1, band, std::string{why}}, [figure](const BySeed& by_seed) {
      std::vector<double> values;
      for (const GlomarcFacts& facts : by_seed) values.push_back(figure(facts));
      return mean_of(values);
    });
  };
  add(
      "offered load", [](const GlomarcFacts& of) { return of.offered_load; }, std::nullopt);
  const std::pair<std::string_view, std::array<double, kGlomarcGroups> GlomarcFacts::*> shares[] = {
      {"jobs", &GlomarcFacts::jobs}, {"work", &GlomarcFacts::work}};
  for (const auto& [what, share] : shares)
    for (const Group group : {kShort, kMedium, kLong})
      add(fmt::format("{}, {}", kGlomarcGroupNames[group], what),
          [share = share, group](const GlomarcFacts& of) { return (of.*share)[group]; });
  add("serial", [](const GlomarcFacts& of) { return of.serial; });
  add(
      "power of two", [](const GlomarcFacts& of) { return of.power_of_two; }, kShareBand, kWhyPowers);
  for (const auto& [load, by_seed] : simulated.outcome().workloads)
    table.row(std::string{to_text(load)}, by_seed, "workloads");
  return table.table();
}

Table glomarc_responses(const GlomarcValues& simulated, GlomarcLoad load) {
  if (load == kW1) {
    Runs table{{.id = "figure 6", .title = "Figure 6 in numbers: Relative response under W1", .row_name = "variant"}};
    add_responses(table, simulated);
    return with_variants(table, simulated, load);
  }
  Runs table{
      {.id = "W2",
       .title = "Relative response under W2",
       .source = "text of 5.3; the bound of 600 s is ours, as 17.5 and 36.74 leave 1.8 for short jobs",
       .row_name = "variant",
       .notes = {"Past the last submission: from there to the last end, in per cent of the span of the submissions."}},
      glomarc_printed()};
  add_responses(table, simulated, kResponseBand);
  add_figure(table, simulated, {"past the last submission", "%", 1}, &GlomarcFigures::past_end, 100);
  return with_variants(table, simulated, load);
}

Table glomarc_gains(const GlomarcValues& simulated) {
  std::vector<GainRow<GlomarcValues>> rows;
  for (const GlomarcVariant base : {GlomarcVariant::kSsp, GlomarcVariant::kCst, GlomarcVariant::kCstws})
    for (const ResponseColumn& column : kResponses) {
      if (column.group == kShort) continue;
      rows.push_back({fmt::format("{}, {}", to_text(base), column.name),
                      {glomarc_run(kW1, GlomarcVariant::kGlts), glomarc_run(kW1, base), {column.group, column.figure}},
                      glomarc_printed().at(
                          "gains", fmt::format("{}, {}", to_text(base), kGlomarcGroupNames[column.group]), "mean")});
    }
  return gain_table(
      simulated,
      {.id = "gains",
       .title = "W1: how much less relative response GLTS has",
       .source = "text of 5.2",
       .row_name = "over, class",
       .notes = {"All jobs with the bound of 600 s, which the paper's numbers of W2 imply, and with 30 s."}},
      rows, kWhyGains, 1, true);
}

Table glomarc_by_seed(const GlomarcValues& simulated, GlomarcLoad load) {
  using Key = std::pair<GlomarcRun, Group>;
  TableOf<Key> table{
      {.id = fmt::format("by seed, {}", to_text(load)),
       .title = fmt::format("{}: relative response by seed", to_text(load)),
       .row_name = "variant, class",
       .notes = {
           "All jobs with the bound of 600 s. +-: half of the 95 % confidence interval of the mean over the seeds, "
           "by Student's t."}}};
  const auto by_seed = [&](const Key& key) { return simulated.by_seed(key.first, relative_response_of(key.second)); };
  table.column({"mean", "ratio", 2}, [by_seed](const Key& key) { return mean_of(by_seed(key)); });
  add_interval(table, "ratio", 2, by_seed);
  add_seeds(table, simulated.outcome().options, "ratio", 2, by_seed);
  for (const Group group : {kMedium, kLong, kAll})
    for (const GlomarcVariant variant : glomarc_variants())
      if (const GlomarcRun run = glomarc_run(load, variant); simulated.has(run))
        table.row(fmt::format("{}, {}", to_text(variant), kGlomarcGroupNames[group]), {run, group});
  return table.table();
}

Table glomarc_times(const GlomarcValues& simulated, GlomarcLoad load) {
  Runs table{{.id = fmt::format("times {}", to_text(load)),
              .title = fmt::format("{}: mean times by the wall", to_text(load)),
              .row_name = "variant",
              .notes = {"Wait: until the first start. Suspended: outside the slices of the class, when it is not a "
                        "guest."}}};
  const std::pair<std::string_view, OfGroup> times[] = {{"response", &GlomarcGroupFigures::response_s},
                                                        {"wait", &GlomarcGroupFigures::wait_s},
                                                        {"suspended", &GlomarcGroupFigures::suspended_s}};
  for (const auto& [name, figure] : times)
    for (const Group group : {kShort, kMedium, kLong})
      add_figure(table, simulated, {fmt::format("{}, {}", name, kGlomarcGroupNames[group]), "h", 2}, {group, figure},
                 1.0 / 3600);
  return with_variants(table, simulated, load);
}

Table glomarc_use(const GlomarcValues& simulated, GlomarcLoad load) {
  Runs table{{.id = load == kW1 ? "figure 7" : "use W2",
              .title = fmt::format("{}: use of cores (formula 3) and of nodes (formula 2)",
                                   load == kW1 ? "Figure 7 in numbers" : "W2"),
              .row_name = "variant",
              .notes = {"High load: while at least 12 jobs of all classes wait that have never started."}}};
  add_figure(table, simulated, {"U_core, high load", "%", 1}, &GlomarcFigures::core_use_high, 100);
  add_figure(table, simulated, {"U_node, high load", "%", 1}, &GlomarcFigures::node_use_high, 100);
  add_figure(table, simulated, {"U_core, makespan", "%", 1}, &GlomarcFigures::core_use, 100);
  add_figure(table, simulated, {"U_node, makespan", "%", 1}, &GlomarcFigures::node_use, 100);
  add_figure(table, simulated, {"time of high load", "%", 1}, &GlomarcFigures::high_load, 100);
  add_figure(table, simulated, {"phases of high load", "", 0}, &GlomarcFigures::phases);
  return with_variants(table, simulated, load);
}

Table glomarc_use_gains(const GlomarcValues& simulated) {
  std::vector<GainRow<GlomarcValues>> rows;
  for (const GlomarcVariant base : {GlomarcVariant::kSsp, GlomarcVariant::kCst, GlomarcVariant::kCstws})
    rows.push_back({std::string{to_text(base)},
                    {glomarc_run(kW1, GlomarcVariant::kGlts), glomarc_run(kW1, base), &GlomarcFigures::core_use_high},
                    glomarc_printed().at("core use", to_text(base), "mean"),
                    -1});
  return gain_table(simulated,
                    {.id = "core use",
                     .title = "W1: how much more of the cores GLTS uses in phases of high load",
                     .source = "text of 5.2",
                     .row_name = "over"},
                    rows, kWhyUse, 1, true);
}

Table glomarc_groups(const GlomarcValues& simulated) {
  Runs table{{.id = "groups",
              .title = "Groups of jobs that share nodes",
              .source = "text of 5.2 and 5.3",
              .row_name = "workload, variant",
              .notes = {"The last three columns count the groups by the paper's cases 1, 2 and 3. Means over the "
                        "seeds."}},
             glomarc_printed()};
  add_figure(table, simulated, {"groups", "", 0, kGroupBand, std::string{kWhyGroups}}, &GlomarcFigures::formed);
  add_figure(table, simulated, {"jobs of a group", "", 2, kGroupBand}, &GlomarcFigures::group_size);
  add_figure(table, simulated, {"medium and long jobs in groups", "%", 1, kInGroupBand}, &GlomarcFigures::in_group,
             100);
  add_figure(table, simulated, {"of their time", "%", 1}, &GlomarcFigures::time_in_group, 100);
  std::size_t way = 1;
  for (const char* name : {"all wait", "with running", "running primary"})
    table.column({name, "", 0},
                 [&simulated, of = way++](const GlomarcRun& run) { return simulated.groups_of_case(run, of); });
  for (const GlomarcLoad load : {kW1, kW2})
    for (const GlomarcVariant variant : glomarc_variants())
      if (const GlomarcRun run = glomarc_run(load, variant); simulated.has(run) && variant != GlomarcVariant::kSsp)
        table.row(fmt::format("{}, {}", to_text(load), to_text(variant)), run);
  return table.table();
}

Table glomarc_delays(const GlomarcValues& simulated, GlomarcLoad load) {
  Runs table{{.id = fmt::format("delays {}", to_text(load)),
              .title = fmt::format("{}: R / R_est by the clock of the virtual machine", to_text(load)),
              .source = load == kW1 ? "text of 5.2, \"for both M and L jobs\"" : "",
              .row_name = "variant"},
             glomarc_printed()};
  const std::pair<std::string_view, OfGroup> values[] = {{"mean", &GlomarcGroupFigures::delay},
                                                         {"75 %", &GlomarcGroupFigures::delay_p75},
                                                         {"95 %", &GlomarcGroupFigures::delay_p95}};
  for (const Group group : {kEligible, kMedium, kLong})
    for (const auto& [name, figure] : values)
      add_figure(table, simulated, {fmt::format("{}, {}", kGlomarcGroupNames[group], name), "ratio", 2, kDelayBand},
                 {group, figure});
  return with_variants(table, simulated, load);
}

Table glomarc_blocks(const GlomarcValues& simulated) {
  TableOf<int> table{{.id = "figure 8",
                      .title = "Figure 8 in numbers: relative response under W2 by block size",
                      .row_name = "block size",
                      .notes = {"NH has no blocks. All jobs with the bound of 600 s."}}};
  for (const GlomarcVariant variant :
       {GlomarcVariant::kGlts, GlomarcVariant::kFbo, GlomarcVariant::kNs, GlomarcVariant::kNh})
    for (const Group group : {kMedium, kLong, kAll})
      table.column({fmt::format("{}, {}", to_text(variant), kGlomarcGroupNames[group]), "ratio", 2},
                   [&simulated, variant, group](int block) {
                     return simulated.mean(glomarc_block_run(variant, block), relative_response_of(group));
                   });
  for (const int block : glomarc_block_sizes(simulated.outcome().options.quick))
    table.row(fmt::format("{}", block), block);
  return table.table();
}

Table glomarc_slacks(const GlomarcValues& simulated) {
  Runs table{{.id = "figure 9",
              .title = "Figure 9 in numbers: relative response under W1 by slack factor",
              .row_name = "F_slack"}};
  add_responses(table, simulated);
  add_figure(table, simulated, {"groups", "", 0}, &GlomarcFigures::formed);
  add_figure(table, simulated, {"R / R_est, 95 %", "ratio", 2}, {kEligible, &GlomarcGroupFigures::delay_p95});
  for (const double slack : glomarc_slack_factors(simulated.outcome().options.quick))
    if (const GlomarcRun run = glomarc_slack_run(slack); simulated.has(run)) table.row(fmt::format("{}", slack), run);
  return table.table();
}

Table glomarc_overheads(const GlomarcValues& simulated) {
  Runs table{{.id = "overhead",
              .title = "W1: overhead at every slice, or only where the class changes",
              .row_name = "variant, overhead"}};
  add_responses(table, simulated);
  for (const GlomarcVariant variant : {GlomarcVariant::kSsp, GlomarcVariant::kGlts})
    for (const bool changes_only : {false, true})
      if (const GlomarcRun run{kW1, {.variant = variant, .pays_for_changes_only = changes_only}}; simulated.has(run))
        table.row(fmt::format("{}, {}", to_text(variant), changes_only ? "where the class changes" : "at every slice"),
                  run);
  return table.table();
}

// ---- figures ----

// NaN, which a bar cannot have, is none.
double height(double value) { return std::isnan(value) ? 0 : value; }

struct Bars {
  std::string_view name;
  GlomarcFigure figure;
  double scale = 1;
};

report::BarChart variant_bars(const GlomarcValues& simulated, GlomarcLoad load, std::string_view y_name,
                              const std::vector<Bars>& bars) {
  report::BarChart chart{.title = std::string{to_text(load)}, .x_name = "variant", .y_name = std::string{y_name}};
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
  Figure figure{.title = "Figure 7: use of cores and nodes in phases of high load"};
  for (const GlomarcLoad load : {GlomarcLoad::kW1, GlomarcLoad::kW2})
    figure.panels.emplace_back(
        variant_bars(simulated, load, "used, %",
                     {{"cores", &GlomarcFigures::core_use_high, 100}, {"nodes", &GlomarcFigures::node_use_high, 100}}));
  return figure;
}

// Figure 8: a panel a class, a curve a variant.
Figure block_curves(const GlomarcValues& simulated) {
  Figure figure{.title = "Figure 8: relative response under W2 by block size"};
  for (const Group group : {kMedium, kLong}) {
    CurveChart chart{.title = fmt::format("W2, {} jobs", kGlomarcGroupNames[group]),
                     .x_name = "block size",
                     .y_name = "relative response",
                     .from_zero = false};
    for (const GlomarcVariant variant :
         {GlomarcVariant::kGlts, GlomarcVariant::kFbo, GlomarcVariant::kNs, GlomarcVariant::kNh}) {
      Curve curve{.name = std::string{to_text(variant)}, .colour = chart.curves.size()};
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
  CurveChart chart{.title = "W1, GLTS", .x_name = "slack factor", .y_name = "relative response"};
  for (const Group group : {kMedium, kLong, kAll}) {
    Curve curve{.name = fmt::format("{}{}", kGlomarcGroupNames[group], group == kAll ? ", 600 s" : ""),
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
      {.title = "Workloads", .tables = {glomarc_workloads(simulated)}},
      {.title = "Figure 6: relative response under the normal load",
       .text =
           {"SSP: space sharing only. CST and CSTWS: pairs, the best match and the first. GLTS: groups. FBO: matches "
            "in the first block only; NS: blocks are not sorted; NH: neither sorting nor blocks, and the first group "
            "that passes."},
       .figures = {response_bars(simulated, kW1, "Figure 6")},
       .tables = {glomarc_responses(simulated, kW1), glomarc_gains(simulated), glomarc_by_seed(simulated, kW1),
                  glomarc_times(simulated, kW1)}},
      {.title = "Figure 7: use of the machine",
       .figures = {use_bars(simulated)},
       .tables = {glomarc_use(simulated, kW1), glomarc_use_gains(simulated), glomarc_use(simulated, kW2)}},
      {.title = "Groups and fairness (5.2)",
       .text =
           {"That there are fewer than four candidates in 85 % of the cases (5.3) is not in the event log, and is not "
            "checked here."},
       .tables = {glomarc_groups(simulated), glomarc_delays(simulated, kW1), glomarc_delays(simulated, kW2)}},
      {.title = "Figure 8: the heavier load, and the size of blocks (5.3)",
       .figures = {response_bars(simulated, kW2, "W2, blocks of 16"), block_curves(simulated)},
       .tables = {glomarc_responses(simulated, kW2), glomarc_by_seed(simulated, kW2), glomarc_blocks(simulated),
                  glomarc_times(simulated, kW2)}},
      {.title = "Figure 9: fairness against use (5.4)",
       .figures = {slack_curves(simulated)},
       .tables = {glomarc_slacks(simulated)}},
      {.title = "Overhead of slices",
       .text = {"Jobs that go on in the next slice need not be exchanged; the paper pays all the same (footnote 3)."},
       .tables = {glomarc_overheads(simulated)}}};
}

std::vector<std::string> about(const SeededOptions& options) {
  return {
      fmt::format(
          "{} jobs of the typeless Lublin-Feitelson model, aarr 10.33 (W1) and 9.83 (W2), {}, on {} nodes of two "
          "CPUs of two cores. Slowdowns of Table 4, sizes by formula 7. Run times are known exactly. Runtime "
          "model: pairs.",
          options.jobs, seeds_text(options), paper::kNodes),
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
    result.limits.push_back(quick_text(outcome.options, "fewer block sizes and slack factors"));
  result.checks = glomarc_checks(simulated);
  result.sections = sections(simulated);
  return result;
}

}  // namespace replay::study
