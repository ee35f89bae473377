// The page of the SCOJO-P paper: Figures 4 to 14 in bars and numbers, and what its text says.

#include <fmt/format.h>

#include <array>
#include <utility>

#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/scojo_p/simulated_values.hpp"

namespace replay::study {
namespace {

using namespace scojo;
namespace paper = scojo_p_paper;

// A figure that is shown by class, and how.
struct ScojoMeasure {
  std::string_view name, unit;
  ScojoValues::Member figure;
  double scale;  // from the figure to the unit
  int decimals;
};
constexpr ScojoMeasure kScojoResponse{"mean response", "h", &ScojoGroupFigures::response_s, 1.0 / 3600, 2},
    kScojoWait{"mean wait", "h", &ScojoGroupFigures::wait_s, 1.0 / 3600, 2},
    kScojoSlowdown{"mean bounded slowdown", "ratio", &ScojoGroupFigures::slowdown, 1, 1};

// ---- tables ----

constexpr Band kSizeBand{.absolute = 0.1};  // of a factor on N_opt
constexpr Band kShareBand{.absolute = 5};   // percentage points
constexpr Band kOptimumBand{.relative = 0.1};
constexpr std::string_view kWhyGains =
    "the paper states neither by how much aging raises a priority nor the load of its four workloads, and either moves "
    "these gains by ten points and more: see the tables by seed";
constexpr std::string_view kWhyEighty =
    "rigid jobs keep N_opt however high the load is, so that SCOJO-P has less to shrink; and as Cirne-Berman over full "
    "ranges is worse than no molding here, it is better with fewer jobs that choose";
constexpr std::string_view kWhyOriginal =
    "SCOJO does not mold long jobs (4.1), so under 80 % they are all rigid; they make up most of the response";
constexpr std::string_view kWhySizes =
    "modifiers fall with the load, which the paper does not state, and it does not say over which jobs its means are";
constexpr std::string_view kWhyUtilisation =
    "at half of N_opt a job needs 19 % less core time, so SCOJO-P uses less of the machine than the offered load, "
    "which "
    "the paper does not state";
constexpr std::string_view kWhyDowney =
    "of the constants of the Cirne-Berman model the paper prints those of sigma only";

using Key = ScojoRun;
using Runs = TableOf<Key>;

// A column for each group, named "wait short": value(key, group).
template <class OfKey>
void add_by_group(TableOf<OfKey>& table, const std::string& name, const Column& like, const auto& value,
                  std::size_t first = kAllJobs) {
  for (std::size_t g = first; g < kScojoGroups; ++g) {
    Column column = like;
    column.name = fmt::format("{}{}{}", name, name.empty() ? "" : " ", kScojoGroupNames[g]);
    table.column(std::move(column), [value, g](const OfKey& key) { return value(key, g); });
  }
}

void add_averages(Runs& table, const std::string& name, const Column& like, const ScojoValues& simulated,
                  ScojoValues::Member member, std::size_t first = kAllJobs) {
  add_by_group(
      table, name, like,
      [&simulated, member](const Key& run, std::size_t g) {
        return simulated.average(run.workload, run.policy, g, member);
      },
      first);
}

std::vector<std::string_view> all_policies() {
  std::vector<std::string_view> keys;
  for (const auto& [key, text] : scojo_policies()) keys.push_back(key);
  return keys;
}

// A row for each policy that ran on one of the workloads.
const Table& with_rows(Runs& table, const ScojoValues& simulated, std::initializer_list<std::string_view> workloads,
                       std::span<const std::string_view> policies, bool names_workload = true) {
  for (const std::string_view workload : workloads)
    for (const std::string_view policy : policies)
      if (simulated.has(workload, policy))
        table.row(names_workload ? fmt::format("{}, {}", workload, policy) : std::string{policy},
                  {std::string{workload}, std::string{policy}});
  return table.table();
}

using GainRows = std::vector<GainRow<ScojoValues>>;

Table scojo_gain_table(const ScojoValues& simulated, Table head, const GainRows& rows, std::string_view why) {
  return gain_table(simulated, std::move(head), rows, why, 0, false);
}

Table scojo_workloads(const ScojoValues& simulated) {
  using Facts = ScojoWorkloadFacts;
  TableOf<Facts> table{
      {.id = "workloads",
       .title = "The workloads",
       .source = "text of 5.4; it does not say of which workload",
       .row_name = "workload",
       .notes = {"Load: work at the submitted sizes over what the machine can do until the last arrival, least and "
                 "greatest of the seeds. The others are means over the seeds."}},
      scojo_printed()};
  table.column({"least load", "%", 0}, [](const Facts& of) { return std::ranges::min(of.offered_load) * 100; });
  table.column({"greatest load", "%", 0}, [](const Facts& of) { return std::ranges::max(of.offered_load) * 100; });
  add_by_group(
      table, "", {.unit = "%", .decimals = 1, .band = kShareBand, .why = std::string{kWhyDowney}},
      [](const Facts& of, std::size_t g) { return mean_of(of.share[g]) * 100; }, kShortJobs);
  add_by_group(table, "N_opt", {.unit = "", .decimals = 1, .band = kOptimumBand, .why = std::string{kWhyDowney}},
               [](const Facts& of, std::size_t g) { return mean_of(of.mean_optimum[g]); });
  for (const std::string_view key : {kW1, kW2, kDowney})
    if (const auto found = simulated.outcome().workloads.find(std::string{key});
        found != simulated.outcome().workloads.end())
      table.row(found->first, found->second, key == kDowney ? "Downey" : "three points");
  return table.table();
}

Table scojo_by_class(const ScojoValues& simulated, std::string id, std::string title, const ScojoMeasure& measure,
                     const std::vector<std::string_view>& workloads) {
  TableOf<std::string> table{{.id = std::move(id), .title = std::move(title), .row_name = "policy"}};
  for (const std::string_view workload : workloads)
    add_by_group(table, workloads.size() > 1 ? std::string{workload} : "",
                 {.unit = std::string{measure.unit}, .decimals = measure.decimals},
                 [&simulated, &measure, workload](const std::string& policy, std::size_t g) {
                   return simulated.mean(workload, policy, g, measure.figure) * measure.scale;
                 });
  for (const auto& [policy, text] : scojo_policies())
    if (std::ranges::any_of(workloads,
                            [&, of = policy](std::string_view workload) { return simulated.has(workload, of); }))
      table.row(std::string{policy}, std::string{policy});
  return table.table();
}

Table scojo_gains(const ScojoValues& simulated) {
  const auto wait = &ScojoGroupFigures::wait_s;
  GainRows rows{
      {"W1, SCOJO-P over traditional", scojo_gain(kW1, kScojoP, kTraditional), paper::kScojoOverTraditional},
      {"W1, Cirne-Berman over traditional", scojo_gain(kW1, kCirne, kTraditional), paper::kCirneOverTraditional},
      {"the same up to N_opt", scojo_gain(kW1, kCirneOpt, kTraditional), paper::kCirneOverTraditional}};
  const auto add = [&](std::string name, std::string_view workload, std::size_t group, ScojoValues::Member figure,
                       double printed) {
    rows.push_back({std::move(name), scojo_gain(workload, kScojoP, kCirne, group, figure), printed});
    rows.push_back({"the same up to N_opt", scojo_gain(workload, kScojoP, kCirneOpt, group, figure), printed});
  };
  const auto response = &ScojoGroupFigures::response_s;
  for (std::size_t g = 0; g < kScojoGroups; ++g)
    add(fmt::format("W1, SCOJO-P over Cirne-Berman, response of {} jobs", kScojoGroupNames[g]), kW1, g, response,
        paper::kResponseOverCirne[g]);
  for (std::size_t g = 1; g < kScojoGroups; ++g)
    add(fmt::format("W1, SCOJO-P over Cirne-Berman, wait of {} jobs", kScojoGroupNames[g]), kW1, g, wait,
        paper::kWaitOverCirne[g]);
  add("W2, SCOJO-P over Cirne-Berman, response of long jobs", kW2, kLongJobs, response,
      paper::kLongResponseOverCirneW2);
  add("W2, SCOJO-P over Cirne-Berman, wait of long jobs", kW2, kLongJobs, wait, paper::kLongWaitOverCirneW2);
  return scojo_gain_table(
      simulated,
      {.id = "gains",
       .title = "What the text says in per cent: how much less",
       .source = "text of 5.4 and 6, \"1/3\" and \"1/4\" of a time as 67 % and 75 % less of it",
       .row_name = "response of all jobs, unless stated",
       .notes = {"Cirne-Berman tries all sizes up to N_max, as the paper says; up to N_opt is our variant."}},
      rows, kWhyGains);
}

Table scojo_by_seed(const ScojoValues& simulated, std::string_view workload) {
  Runs table{{.id = fmt::format("by seed, {}", workload),
              .title = fmt::format("{}: means over all jobs, and response against the traditional scheduler", workload),
              .row_name = "policy",
              .notes = {"Means over the seeds: geometric, and arithmetic, in which the seed of the highest load counts "
                        "most. Differences below 7 % on a single seed mean nothing."}}};
  const auto add = [&](const char* name, const char* unit, int decimals, ScojoValues::Member member) {
    table.column({fmt::format("{}, geometric", name), unit, decimals}, [&simulated, member](const Key& run) {
      return simulated.mean(run, {kAllJobs, member});
    });
    table.column({fmt::format("{}, arithmetic", name), unit, decimals}, [&simulated, member](const Key& run) {
      return simulated.average(run.workload, run.policy, kAllJobs, member);
    });
  };
  add("response", "s", 0, &ScojoGroupFigures::response_s);
  add("slowdown", "ratio", 1, &ScojoGroupFigures::slowdown);
  const std::pair<const char*, std::string_view> bases[] = {{"against aging=top", kTraditional},
                                                            {"against aging=one", kTraditionalOne}};
  for (const auto& [name, base] : bases) {
    const auto gain = [base = base](const Key& run) { return scojo_gain(run.workload, run.policy, base); };
    table.column({name, "%", 0}, [&simulated, gain](const Key& run) { return 0 - gain(run).percent(simulated); });
    add_seeds(table, simulated.outcome().options, "%", 0, [&simulated, gain](const Key& run) {
      std::vector<double> changes = gain(run).by_seed(simulated);
      for (double& change : changes) change = 0 - change;
      return changes;
    });
  }
  return with_rows(table, simulated, {workload}, all_policies(), false);
}

Table scojo_adaptations(const ScojoValues& simulated) {
  Runs table{{.id = "figures 8 and 12",
              .title = "Figures 8 and 12 in numbers: jobs shrunk (S) and expanded (E) against N_opt at their start",
              .source = "utilisation from the text of 5.4, W1; the figures have no numbers",
              .row_name = "workload, policy",
              .notes = {"Utilisation: from the first to the last submission of the jobs that count."}},
             scojo_printed()};
  const Column jobs{.unit = "jobs", .decimals = 0};
  add_averages(table, "S", jobs, simulated, &ScojoGroupFigures::shrunk, kShortJobs);
  add_averages(table, "E", jobs, simulated, &ScojoGroupFigures::expanded, kShortJobs);
  table.column({"utilisation", "%", 1, Band{.absolute = 3}, std::string{kWhyUtilisation}},
               [&](const Key& run) { return simulated.utilisation_percent(run.workload, run.policy); });
  return with_rows(table, simulated, {kW1, kW2}, all_policies());
}

Table scojo_sizes(const ScojoValues& simulated) {
  const Column factor{.unit = "ratio", .decimals = 2, .band = kSizeBand, .why = std::string{kWhySizes}};
  Runs table{
      {.id = "sizes",
       .title = "By how much jobs are shrunk at their start",
       .source = "text of 5.4, the middle of a range; short and medium jobs have one range",
       .row_name = "workload, policy",
       .notes = {"Modifier: what SCOJO-P multiplied N_opt with, before the size was held between N_min and N_max. "
                 "Shrunk: of the jobs that were shrunk; the others of all jobs that have a choice. As N_min is "
                 "half of N_opt, the paper's factors of SCOJO-P below 0.5 can only be modifiers."}},
      scojo_printed()};
  add_averages(table, "modifier, shrunk,", factor, simulated, &ScojoGroupFigures::modifier_shrunk);
  add_averages(table, "size / N_opt, shrunk,", factor, simulated, &ScojoGroupFigures::of_optimum_shrunk);
  add_averages(table, "size / N_opt,", factor, simulated, &ScojoGroupFigures::of_optimum);
  constexpr std::string_view kThatChoose[] = {kScojoP, kUnpredicted, kCirne, kCirneOpt, kGreedy, kGreedyClass};
  return with_rows(table, simulated, {kW1, kW2}, kThatChoose);
}

Table scojo_ideal(const ScojoValues& simulated) {
  TableOf<std::string> table{
      {.id = "ideal load", .title = "SCOJO-P by ideal load, all jobs", .row_name = "ideal load"}};
  for (const std::string_view workload : {kW1, kW2}) {
    const auto mean = [&simulated, workload](ScojoValues::Member member, double scale) {
      return [&simulated, workload, member, scale](const std::string& policy) {
        return simulated.mean(workload, policy, kAllJobs, member) / scale;
      };
    };
    table.column({fmt::format("{} response", workload), "h", 2}, mean(&ScojoGroupFigures::response_s, 3600));
    table.column({fmt::format("{} slowdown", workload), "ratio", 1}, mean(&ScojoGroupFigures::slowdown, 1));
    table.column({fmt::format("{} utilisation", workload), "%", 1}, [&simulated, workload](const std::string& policy) {
      return simulated.utilisation_percent(workload, policy);
    });
  }
  for (const double ideal : scojo_ideal_loads())
    if (const std::string key = scojo_ideal_key(ideal); simulated.has(kW1, key) || simulated.has(kW2, key))
      table.row(fmt::format("{}", ideal), key);
  return table.table();
}

Table scojo_eighty(const ScojoValues& simulated) {
  GainRows rows;
  const std::pair<std::string_view, std::string_view> eighty[] = {{kW1Eighty, kW1}, {kW2Eighty, kW2}};
  for (const auto& [workload, all] : eighty)
    for (const std::string_view policy : {kScojoP, kUnpredicted, kCirne, kCirneOpt, kGreedyClass}) {
      GainRow<ScojoValues> row{fmt::format("{}, {}, over 100 %", workload, policy),
                               scojo_gain_on(workload, all, policy)};
      if (workload == kW1Eighty && policy == kScojoP) row.printed = paper::kScojoAtEightyPercent;
      if (workload == kW1Eighty && policy == kCirne) row.printed = paper::kCirneAtEightyPercent;
      rows.push_back(std::move(row));
    }
  for (const std::string_view workload : {kW1Eighty, kW2Eighty})
    for (const std::string_view policy : {kScojoP, kCirne, kCirneOpt, kGreedyClass})
      rows.push_back(
          {fmt::format("{}, {}, over traditional", workload, policy), scojo_gain(workload, policy, kTraditional)});
  return scojo_gain_table(simulated,
                          {.id = "80 %",
                           .title = "80 % of the jobs moldable: how much less response",
                           .source = "text of 5.4",
                           .row_name = "workload, policy",
                           .notes = {"Four fifths of each class are moldable, the rest is rigid."}},
                          rows, kWhyEighty);
}

Table scojo_original(const ScojoValues& simulated) {
  GainRows rows;
  for (const std::string_view workload : {kW1Eighty, kW2Eighty, kW1Malleable, kW2Malleable})
    rows.push_back({std::string{workload}, scojo_gain(workload, kOldScojo, kTraditional)});
  rows[0].printed = paper::kOldScojoMoldable;
  rows[2].printed = paper::kOldScojoMalleable;
  return scojo_gain_table(
      simulated,
      {.id = "SCOJO",
       .title = "The original SCOJO over traditional: how much less response",
       .source = "text of 5.4, which does not say which workload",
       .row_name = "workload",
       .notes = {"Malleable: four fifths of the short and medium jobs are moldable, four fifths of the long ones "
                 "malleable."}},
      rows, kWhyOriginal);
}

Table scojo_downey_sizes(const ScojoValues& simulated) {
  const Column factor{
      .unit = "ratio", .decimals = 2, .band = Band{.relative = 0.3, .absolute = 0.1}, .why = std::string{kWhyDowney}};
  Runs table{{.id = "downey sizes",
              .title = "Modifiers and sizes at start under Downey's curves, of all jobs that have a choice",
              .source = "text of 5.4; SCOJO-P's factors on N_opt are taken as modifiers",
              .row_name = "policy"},
             scojo_printed()};
  add_averages(table, "modifier", factor, simulated, &ScojoGroupFigures::modifier);
  add_averages(table, "size / N_opt,", factor, simulated, &ScojoGroupFigures::of_optimum);
  add_averages(table, "size / submitted,", factor, simulated, &ScojoGroupFigures::of_submitted);
  constexpr std::string_view kThatChoose[] = {kScojoP, kUnpredicted, kCirne, kCirneOpt};
  return with_rows(table, simulated, {kDowney}, kThatChoose, false);
}

// ---- figures ----

// As the paper's figures have them, and Cirne-Berman in our variant.
constexpr std::array<std::string_view, 4> kInFigures{kTraditional, kScojoP, kCirne, kCirneOpt};

// NaN, which a bar cannot have, is none.
double height(double value) { return std::isnan(value) ? 0 : value; }

report::BarChart class_bars(const ScojoValues& simulated, const ScojoMeasure& measure, std::string_view workload) {
  report::BarChart chart{.title = fmt::format("{}, {}", workload, measure.name),
                         .x_name = "class of T(N_opt)",
                         .y_name = fmt::format("{}{}", measure.name, measure.unit == "h" ? ", h" : "")};
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
                         .y_name = "jobs"};
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
                         .labels = {"SS", "SM", "SL", "ES", "EM", "EL"}};
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
    Figure figure{.title = fmt::format("Figures {}: {}", figures, measure->name)};
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
    Figure figure{.title = fmt::format("Figure 7, {}", workload)};
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
                  .tables = {scojo_ideal(simulated)}};
  const std::pair<const ScojoMeasure*, std::string_view> measures[] = {{&kScojoResponse, "mean response, h"},
                                                                       {&kScojoSlowdown, "mean bounded slowdown"}};
  Figure figure{.title = "Ideal load"};
  for (const auto& [measure, name] : measures) {
    CurveChart chart{.title = std::string{measure->name}, .x_name = "ideal load", .y_name = std::string{name}};
    std::size_t colour = 0;
    for (const std::string_view workload : {kW1, kW2}) {
      Curve curve{.name = std::string{workload}, .colour = colour++};
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

std::vector<std::string> about(const SeededOptions& options) {
  return {
      fmt::format("{} jobs of the typeless Lublin-Feitelson model on {} processors, aarr 10.23 (W1) and 9.83 (W2), {}; "
                  "the first "
                  "and the last {} % of the jobs do not count. Run times are known exactly. Runtime model: speedup.",
                  options.jobs, scojo_p_paper::kProcessors, seeds_text(options), scojo_p_paper::kCutPercent),
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
        quick_text(outcome.options, "without Downey's curves and without the ideal loads other than 0.9"));
  result.checks = scojo_checks(simulated);
  result.sections = {{.title = "Workloads", .tables = {scojo_workloads(simulated)}},
                     responses_section(simulated),
                     histogram_section(simulated),
                     adaptation_section(simulated)};
  if (!outcome.options.quick) result.sections.push_back(ideal_section(simulated));
  result.sections.push_back(shares_section(simulated));
  if (simulated.has(kDowney, kScojoP)) result.sections.push_back(downey_section(simulated));
  return result;
}

}  // namespace replay::study
