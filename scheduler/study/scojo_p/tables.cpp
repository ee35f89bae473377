#include "scheduler/study/scojo_p/tables.hpp"

#include <fmt/format.h>

#include <utility>

#include "scheduler/study/scojo_p/numbers.hpp"

namespace replay::study {
namespace {

using namespace scojo;
namespace paper = scojo_p_paper;

constexpr Band kGainBand{.absolute = 10};   // percentage points
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

double by_group(const paper::ByClass& numbers, std::size_t group) {
  const double values[] = {numbers.all, numbers.short_jobs, numbers.medium, numbers.long_jobs};
  return values[group];
}

// A column for each group: "wait short".
void add_by_group(Table& table, const std::string& name, const Column& like) {
  for (const std::string_view group : kScojoGroupNames) {
    Column column = like;
    column.name = fmt::format("{}{}{}", name, name.empty() ? "" : " ", group);
    table.columns.push_back(std::move(column));
  }
}

struct GainRow {
  std::string name;
  ScojoGain gain;
  std::optional<double> printed{};
};

// The mean and each seed's.
Table gain_table(const ScojoValues& simulated, const std::vector<GainRow>& rows, std::string_view why) {
  const Column mean{.name = "mean", .unit = "%", .decimals = 1, .band = kGainBand, .why = std::string{why}};
  Table table{.id = {}, .title = {}, .source = {}, .row_name = {}, .columns = {mean}, .rows = {}};
  const std::uint64_t seeds = simulated.outcome().options.seeds;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    table.columns.push_back({.name = fmt::format("seed {}", seed), .unit = "%", .decimals = 0});
  for (const auto& [name, gain, printed] : rows) {
    std::vector<double> seed_gains = gain.by_seed(simulated);
    seed_gains.resize(seeds, kUnknown);
    Row row{name, {{gain.percent(simulated), printed}}};
    for (const double of_seed : seed_gains) row.values.push_back({of_seed});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Table scojo_workloads(const ScojoValues& simulated) {
  Table table{.id = "workloads",
              .title = "The workloads",
              .source = "text of 5.4; it does not say of which workload",
              .row_name = "workload",
              .columns = {{"least load", "%", 0}, {"greatest load", "%", 0}},
              .rows = {},
              .notes = {"Load: work at the submitted sizes over what the machine can do until the last arrival, least "
                        "and greatest of the seeds. The others are means over the seeds."}};
  const Column share{.name = {}, .unit = "%", .decimals = 1, .band = kShareBand, .why = std::string{kWhyDowney}};
  const Column optimum{.name = {}, .unit = "", .decimals = 1, .band = kOptimumBand, .why = std::string{kWhyDowney}};
  for (std::size_t g = 1; g < kScojoGroups; ++g) {
    table.columns.push_back(share);
    table.columns.back().name = kScojoGroupNames[g];
  }
  add_by_group(table, "N_opt", optimum);
  for (const std::string_view key : {kW1, kW2, kDowney}) {
    const auto found = simulated.outcome().workloads.find(std::string{key});
    if (found == simulated.outcome().workloads.end()) continue;
    const ScojoWorkloadFacts& facts = found->second;
    const bool is_downey = key == kDowney;
    Row row{std::string{key},
            {{std::ranges::min(facts.offered_load) * 100}, {std::ranges::max(facts.offered_load) * 100}}};
    const auto mean = [](const std::vector<double>& values) {
      double sum = 0;
      for (const double value : values) sum += value;
      return sum / static_cast<double>(values.size());
    };
    for (std::size_t g = 1; g < kScojoGroups; ++g)
      row.values.push_back(
          {mean(facts.share[g]) * 100, by_group(is_downey ? paper::kSharesDowney : paper::kShares, g)});
    for (std::size_t g = 0; g < kScojoGroups; ++g)
      row.values.push_back(
          {mean(facts.mean_optimum[g]), by_group(is_downey ? paper::kOptimumDowney : paper::kOptimum, g)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table scojo_by_class(const ScojoValues& simulated, std::string id, std::string title, const ScojoMeasure& measure,
                     const std::vector<std::string_view>& workloads) {
  Table table{
      .id = std::move(id), .title = std::move(title), .source = {}, .row_name = "policy", .columns = {}, .rows = {}};
  const Column column{.name = {}, .unit = std::string{measure.unit}, .decimals = measure.decimals};
  for (const std::string_view workload : workloads)
    add_by_group(table, workloads.size() > 1 ? std::string{workload} : std::string{}, column);
  for (const auto& [policy, text] : scojo_policies()) {
    Row row{std::string{policy}, {}};
    bool was_run = false;
    for (const std::string_view workload : workloads) {
      was_run = was_run || simulated.has(workload, policy);
      for (std::size_t g = 0; g < kScojoGroups; ++g)
        row.values.push_back({simulated.mean(workload, policy, g, measure.figure) * measure.scale});
    }
    if (was_run) table.rows.push_back(std::move(row));
  }
  return table;
}

Table scojo_gains(const ScojoValues& simulated) {
  const auto wait = &ScojoGroupFigures::wait_s;
  std::vector<GainRow> rows{
      {"W1, SCOJO-P over traditional", scojo_gain(kW1, kScojoP, kTraditional), paper::kScojoOverTraditional},
      {"W1, Cirne-Berman over traditional", scojo_gain(kW1, kCirne, kTraditional), paper::kCirneOverTraditional},
      {"the same up to N_opt", scojo_gain(kW1, kCirneOpt, kTraditional), paper::kCirneOverTraditional}};
  const auto add = [&](std::string name, std::string_view workload, std::size_t group, ScojoValues::Figure figure,
                       double printed) {
    rows.push_back({std::move(name), scojo_gain(workload, kScojoP, kCirne, group, figure), printed});
    rows.push_back({"the same up to N_opt", scojo_gain(workload, kScojoP, kCirneOpt, group, figure), printed});
  };
  const auto response = &ScojoGroupFigures::response_s;
  for (std::size_t g = 0; g < kScojoGroups; ++g)
    add(fmt::format("W1, SCOJO-P over Cirne-Berman, response of {} jobs", kScojoGroupNames[g]), kW1, g, response,
        by_group(paper::kResponseOverCirne, g));
  for (std::size_t g = 1; g < kScojoGroups; ++g)
    add(fmt::format("W1, SCOJO-P over Cirne-Berman, wait of {} jobs", kScojoGroupNames[g]), kW1, g, wait,
        by_group(paper::kWaitOverCirne, g));
  add("W2, SCOJO-P over Cirne-Berman, response of long jobs", kW2, kLongJobs, response,
      paper::kLongResponseOverCirneW2);
  add("W2, SCOJO-P over Cirne-Berman, wait of long jobs", kW2, kLongJobs, wait, paper::kLongWaitOverCirneW2);
  Table table = gain_table(simulated, rows, kWhyGains);
  table.id = "gains";
  table.title = "What the text says in per cent: how much less";
  table.source = "text of 5.4 and 6, \"1/3\" and \"1/4\" of a time as 67 % and 75 % less of it";
  table.row_name = "response of all jobs, unless stated";
  table.notes = {"Cirne-Berman tries all sizes up to N_max, as the paper says; up to N_opt is our variant."};
  return table;
}

Table scojo_by_seed(const ScojoValues& simulated, std::string_view workload) {
  Table table{.id = fmt::format("by seed, {}", workload),
              .title = fmt::format("{}: means over all jobs, and response against the traditional scheduler", workload),
              .source = {},
              .row_name = "policy",
              .columns = {},
              .rows = {},
              .notes = {"Means over the seeds: geometric, and arithmetic, in which the seed of the highest load counts "
                        "most. Differences below 7 % on a single seed mean nothing."}};
  const std::uint64_t seeds = simulated.outcome().options.seeds;
  constexpr std::pair<std::string_view, ScojoValues::Figure> kFigures[] = {{"response", &ScojoGroupFigures::response_s},
                                                                           {"slowdown", &ScojoGroupFigures::slowdown}};
  for (const auto& [name, figure] : kFigures)
    for (const std::string_view kind : {"geometric", "arithmetic"})
      table.columns.push_back({.name = fmt::format("{}, {}", name, kind),
                               .unit = figure == &ScojoGroupFigures::response_s ? "s" : "ratio",
                               .decimals = figure == &ScojoGroupFigures::response_s ? 0 : 1});
  for (const std::string_view base : {"aging=top", "aging=one"}) {
    table.columns.push_back({.name = fmt::format("against {}", base), .unit = "%", .decimals = 0});
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      table.columns.push_back({.name = fmt::format("seed {}", seed), .unit = "%", .decimals = 0});
  }
  for (const auto& [policy, text] : scojo_policies()) {
    if (!simulated.has(workload, policy)) continue;
    Row row{std::string{policy}, {}};
    for (const auto& [name, figure] : kFigures) {
      row.values.push_back({simulated.mean(workload, policy, kAllJobs, figure)});
      row.values.push_back({simulated.average(workload, policy, kAllJobs, figure)});
    }
    for (const std::string_view base : {kTraditional, kTraditionalOne}) {
      const ScojoGain gain = scojo_gain(workload, policy, base);
      row.values.push_back({0 - gain.percent(simulated)});
      std::vector<double> gains = gain.by_seed(simulated);
      gains.resize(seeds, kUnknown);
      for (const double of_seed : gains) row.values.push_back({0 - of_seed});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table scojo_adaptations(const ScojoValues& simulated) {
  Table table{.id = "figures 8 and 12",
              .title = "Figures 8 and 12 in numbers: jobs shrunk (S) and expanded (E) against N_opt at their start",
              .source = "utilisation from the text of 5.4, W1; the figures have no numbers",
              .row_name = "workload, policy",
              .columns = {},
              .rows = {},
              .notes = {"Utilisation: from the first to the last submission of the jobs that count."}};
  for (const std::string_view kind : {"S", "E"})
    for (std::size_t g = 1; g < kScojoGroups; ++g)
      table.columns.push_back({.name = fmt::format("{} {}", kind, kScojoGroupNames[g]), .unit = "jobs", .decimals = 0});
  table.columns.push_back({.name = "utilisation",
                           .unit = "%",
                           .decimals = 1,
                           .band = Band{.absolute = 3},
                           .why = std::string{kWhyUtilisation}});
  for (const std::string_view workload : {kW1, kW2})
    for (const auto& [policy, text] : scojo_policies()) {
      if (!simulated.has(workload, policy)) continue;
      Row row{fmt::format("{}, {}", workload, policy), {}};
      for (const auto figure : {&ScojoGroupFigures::shrunk, &ScojoGroupFigures::expanded})
        for (std::size_t g = 1; g < kScojoGroups; ++g)
          row.values.push_back({simulated.average(workload, policy, g, figure)});
      std::optional<double> printed;
      if (workload == kW1 && policy == kScojoP) printed = paper::kUtilisationScojo;
      if (workload == kW1 && policy == kCirne) printed = paper::kUtilisationCirne;
      row.values.push_back({simulated.utilisation_percent(workload, policy), printed});
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table scojo_sizes(const ScojoValues& simulated) {
  const Column factor{.name = {}, .unit = "ratio", .decimals = 2, .band = kSizeBand, .why = std::string{kWhySizes}};
  Table table{
      .id = "sizes",
      .title = "By how much jobs are shrunk at their start",
      .source = "text of 5.4, the middle of a range; short and medium jobs have one range",
      .row_name = "workload, policy",
      .columns = {},
      .rows = {},
      .notes = {"Modifier: what SCOJO-P multiplied N_opt with, before the size was held between N_min and N_max. "
                "Shrunk: of the jobs that were shrunk; the others of all jobs that have a choice. As N_min is "
                "half of N_opt, the paper's factors of SCOJO-P below 0.5 can only be modifiers."}};
  add_by_group(table, "modifier, shrunk,", factor);
  add_by_group(table, "size / N_opt, shrunk,", factor);
  add_by_group(table, "size / N_opt,", factor);
  for (const std::string_view workload : {kW1, kW2})
    for (const std::string_view policy : {kScojoP, kUnpredicted, kCirne, kCirneOpt, kGreedy, kGreedyClass}) {
      if (!simulated.has(workload, policy)) continue;
      Row row{fmt::format("{}, {}", workload, policy), {}};
      for (const auto figure :
           {&ScojoGroupFigures::modifier_shrunk, &ScojoGroupFigures::of_optimum_shrunk, &ScojoGroupFigures::of_optimum})
        for (std::size_t g = 0; g < kScojoGroups; ++g)
          row.values.push_back({simulated.average(workload, policy, g, figure)});
      if (workload == kW1 && policy == kScojoP) {
        row.values[kAllJobs].paper = paper::kScaled.middle();
        row.values[kShortJobs].paper = row.values[kMediumJobs].paper = paper::kScaledShortAndMedium.middle();
        row.values[kLongJobs].paper = paper::kScaledLong.middle();
      }
      if (workload == kW1 && policy == kUnpredicted)
        row.values[kLongJobs].paper = paper::kScaledLongUnpredicted.middle();
      if (workload == kW1 && (policy == kCirne || policy == kCirneOpt)) {
        row.values[2 * kScojoGroups + kAllJobs].paper = paper::kScaledByCirne;
        row.values[2 * kScojoGroups + kShortJobs].paper = paper::kScaledByCirneShort;
      }
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table scojo_ideal(const ScojoValues& simulated) {
  Table table{.id = "ideal load",
              .title = "SCOJO-P by ideal load, all jobs",
              .source = {},
              .row_name = "ideal load",
              .columns = {},
              .rows = {}};
  for (const std::string_view workload : {kW1, kW2}) {
    table.columns.push_back({.name = fmt::format("{} response", workload), .unit = "h", .decimals = 2});
    table.columns.push_back({.name = fmt::format("{} slowdown", workload), .unit = "ratio", .decimals = 1});
    table.columns.push_back({.name = fmt::format("{} utilisation", workload), .unit = "%", .decimals = 1});
  }
  for (const double ideal : scojo_ideal_loads()) {
    const std::string key = scojo_ideal_key(ideal);
    if (!simulated.has(kW1, key) && !simulated.has(kW2, key)) continue;
    Row row{fmt::format("{}", ideal), {}};
    for (const std::string_view workload : {kW1, kW2}) {
      row.values.push_back({simulated.mean(workload, key, kAllJobs, &ScojoGroupFigures::response_s) / 3600});
      row.values.push_back({simulated.mean(workload, key, kAllJobs, &ScojoGroupFigures::slowdown)});
      row.values.push_back({simulated.utilisation_percent(workload, key)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table scojo_eighty(const ScojoValues& simulated) {
  std::vector<GainRow> rows;
  const std::pair<std::string_view, std::string_view> eighty[] = {{kW1Eighty, kW1}, {kW2Eighty, kW2}};
  for (const auto& [workload, all] : eighty)
    for (const std::string_view policy : {kScojoP, kUnpredicted, kCirne, kCirneOpt, kGreedyClass}) {
      GainRow row{fmt::format("{}, {}, over 100 %", workload, policy), {workload, policy, all, policy}};
      if (workload == kW1Eighty && policy == kScojoP) row.printed = paper::kScojoAtEightyPercent;
      if (workload == kW1Eighty && policy == kCirne) row.printed = paper::kCirneAtEightyPercent;
      rows.push_back(std::move(row));
    }
  for (const std::string_view workload : {kW1Eighty, kW2Eighty})
    for (const std::string_view policy : {kScojoP, kCirne, kCirneOpt, kGreedyClass})
      rows.push_back(
          {fmt::format("{}, {}, over traditional", workload, policy), scojo_gain(workload, policy, kTraditional)});
  Table table = gain_table(simulated, rows, kWhyEighty);
  table.id = "80 %";
  table.title = "80 % of the jobs moldable: how much less response";
  table.source = "text of 5.4";
  table.row_name = "workload, policy";
  table.notes = {"Four fifths of each class are moldable, the rest is rigid."};
  return table;
}

Table scojo_original(const ScojoValues& simulated) {
  std::vector<GainRow> rows;
  for (const std::string_view workload : {kW1Eighty, kW2Eighty, kW1Malleable, kW2Malleable}) {
    GainRow row{std::string{workload}, scojo_gain(workload, kOldScojo, kTraditional)};
    if (workload == kW1Eighty) row.printed = paper::kOldScojoMoldable;
    if (workload == kW1Malleable) row.printed = paper::kOldScojoMalleable;
    rows.push_back(std::move(row));
  }
  Table table = gain_table(simulated, rows, kWhyOriginal);
  table.id = "SCOJO";
  table.title = "The original SCOJO over traditional: how much less response";
  table.source = "text of 5.4, which does not say which workload";
  table.row_name = "workload";
  table.notes = {
      "Malleable: four fifths of the short and medium jobs are moldable, four fifths of the long ones "
      "malleable."};
  return table;
}

Table scojo_downey_sizes(const ScojoValues& simulated) {
  const Column factor{.name = {},
                      .unit = "ratio",
                      .decimals = 2,
                      .band = Band{.relative = 0.3, .absolute = 0.1},
                      .why = std::string{kWhyDowney}};
  Table table{.id = "downey sizes",
              .title = "Modifiers and sizes at start under Downey's curves, of all jobs that have a choice",
              .source = "text of 5.4; SCOJO-P's factors on N_opt are taken as modifiers",
              .row_name = "policy",
              .columns = {},
              .rows = {}};
  add_by_group(table, "modifier", factor);
  add_by_group(table, "size / N_opt,", factor);
  add_by_group(table, "size / submitted,", factor);
  for (const std::string_view policy : {kScojoP, kUnpredicted, kCirne, kCirneOpt}) {
    if (!simulated.has(kDowney, policy)) continue;
    Row row{std::string{policy}, {}};
    for (const auto figure :
         {&ScojoGroupFigures::modifier, &ScojoGroupFigures::of_optimum, &ScojoGroupFigures::of_submitted})
      for (std::size_t g = 0; g < kScojoGroups; ++g)
        row.values.push_back({simulated.average(kDowney, policy, g, figure)});
    Value* const of_optimum = &row.values[kScojoGroups];
    Value* const of_submitted = &row.values[2 * kScojoGroups];
    if (policy == kScojoP) {
      for (std::size_t g = 0; g < kScojoGroups; ++g) row.values[g].paper = by_group(paper::kScaledDowney, g);
      of_submitted[kShortJobs].paper = paper::kShortOverSubmitted;
      of_submitted[kMediumJobs].paper = paper::kMediumOverSubmitted;
      of_submitted[kLongJobs].paper = paper::kLongOverSubmitted;
    }
    if (policy == kUnpredicted) row.values[kLongJobs].paper = paper::kScaledDowneyLongUnpredicted;
    if (policy == kCirne) {
      of_optimum[kShortJobs].paper = of_optimum[kMediumJobs].paper = paper::kCirneDowneyShortAndMedium;
      of_optimum[kLongJobs].paper = paper::kCirneDowneyLong;
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace replay::study
