#include "scheduler/study/g_lomarc_ts/tables.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/metrics/confidence.hpp"
#include "scheduler/study/g_lomarc_ts/numbers.hpp"

namespace replay::study {
namespace {

using namespace glomarc;
namespace paper = glomarc_paper;
using OfGroup = GlomarcFigure::OfGroup;

constexpr Band kShareBand{.absolute = 2};        // percentage points
constexpr Band kGainBand{.absolute = 10};        // percentage points
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

double value_of(const paper::ByClass& numbers, Group group) {
  if (group == kAll) return numbers.all;
  return group == kMedium ? numbers.medium : numbers.long_jobs;
}

Table table_of(std::string id, std::string title, std::string row_name) {
  return {.id = std::move(id),
          .title = std::move(title),
          .source = {},
          .row_name = std::move(row_name),
          .columns = {},
          .rows = {}};
}

void add_seeds(Table& table, std::uint64_t seeds, int decimals, const std::string& unit) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    table.columns.push_back({.name = fmt::format("seed {}", seed), .unit = unit, .decimals = decimals});
}

// Half of the 95 % confidence interval of the mean: what other seeds could make of it. NaN of one seed.
void add_interval_column(Table& table, int decimals, const std::string& unit) {
  table.columns.push_back({.name = "+- (95 %)", .unit = unit, .decimals = decimals});
}
double interval_of(const std::vector<double>& by_seed) { return metrics::estimate(by_seed).half_width; }

struct GainRow {
  std::string name;
  GlomarcGain gain;
  std::optional<double> printed{};
  double sign = 1;  // -1: how much more
};

// The mean, its confidence interval and each seed's.
Table gain_table(const GlomarcValues& simulated, Table table, const std::vector<GainRow>& rows, std::string_view why) {
  table.columns.push_back({.name = "mean", .unit = "%", .decimals = 1, .band = kGainBand, .why = std::string{why}});
  add_interval_column(table, 1, "%");
  const std::uint64_t seeds = simulated.outcome().options.seeds;
  add_seeds(table, seeds, 1, "%");
  for (const auto& [name, gain, printed, sign] : rows) {
    Row row{name, {{sign * gain.percent(simulated) + 0.0, printed}}};
    std::vector<double> gains = gain.by_seed(simulated);
    gains.resize(seeds, kNoValue);
    row.values.push_back({interval_of(gains)});
    for (const double of_seed : gains) row.values.push_back({sign * of_seed});
    table.rows.push_back(std::move(row));
  }
  return table;
}

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

void add_response_columns(Table& table) {
  for (const ResponseColumn& column : kResponses)
    table.columns.push_back({.name = std::string{column.name}, .unit = "ratio", .decimals = 2});
}

void add_responses(Row& row, const GlomarcValues& simulated, const GlomarcRun& run) {
  for (const ResponseColumn& column : kResponses)
    row.values.push_back({simulated.mean(run, {column.group, column.figure})});
}

}  // namespace

Table glomarc_workloads(const GlomarcValues& simulated) {
  Table table = table_of("table 5", "Table 5: the workloads", "workload");
  table.source = "Table 5, which has one set of shares for both workloads";
  table.notes = {
      "Work and sizes as the model draws them, before formula 7. Offered load: that work over what the nodes "
      "can do until the last submission; the paper's \"Load = 10.6\" and \"13.0\" are in a unit that it does "
      "not state. Means over the seeds."};
  const Column share{.name = {}, .unit = "%", .decimals = 1, .band = kShareBand};
  const auto add = [&](std::string name, std::string_view why = {}) {
    Column column = share;
    column.name = std::move(name);
    column.why = why;
    table.columns.push_back(std::move(column));
  };
  table.columns.push_back({.name = "offered load", .unit = "%", .decimals = 1});
  for (const std::string_view what : {"jobs", "work"})
    for (const Group group : {kShort, kMedium, kLong}) add(fmt::format("{}, {}", kGlomarcGroupNames[group], what));
  add("serial");
  add("power of two", kWhyPowers);
  for (const auto& [load, by_seed] : simulated.outcome().workloads) {
    const auto mean = [&by_seed = by_seed](const auto& figure) {
      double sum = 0;
      for (const GlomarcFacts& facts : by_seed) sum += figure(facts);
      return sum / static_cast<double>(by_seed.size());
    };
    Row row{std::string{to_text(load)}, {{mean([](const GlomarcFacts& f) { return f.offered_load; })}}};
    const auto add_shares = [&](auto shares, const paper::Shares& printed) {
      const double values[] = {printed.short_jobs, printed.medium, printed.long_jobs};
      for (const Group group : {kShort, kMedium, kLong})
        row.values.push_back({mean([&](const GlomarcFacts& f) { return (f.*shares)[group]; }), values[group - kShort]});
    };
    add_shares(&GlomarcFacts::jobs, paper::kJobShares);
    add_shares(&GlomarcFacts::work, paper::kWorkShares);
    row.values.push_back({mean([](const GlomarcFacts& f) { return f.serial; }), paper::kSerialPercent});
    row.values.push_back({mean([](const GlomarcFacts& f) { return f.power_of_two; }), paper::kPowerOfTwoPercent});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table glomarc_responses(const GlomarcValues& simulated, GlomarcLoad load) {
  const bool is_w1 = load == kW1;
  Table table = table_of(
      is_w1 ? "figure 6" : "W2",
      fmt::format("{}Relative response under {}", is_w1 ? "Figure 6 in numbers: " : "", to_text(load)), "variant");
  add_response_columns(table);
  if (!is_w1) {
    table.source = "text of 5.3; the bound of 600 s is ours, as 17.5 and 36.74 leave 1.8 for short jobs";
    for (std::size_t c = 0; c < std::size(kResponses); ++c)
      if (kResponses[c].is_compared) table.columns[c].band = kResponseBand, table.columns[c].why = kWhySaturated;
    table.columns.push_back({.name = "past the last submission", .unit = "%", .decimals = 1});
    table.notes = {"Past the last submission: from there to the last end, in per cent of the span of the submissions."};
  }
  for (const GlomarcVariant variant : glomarc_variants()) {
    const GlomarcRun run = glomarc_run(load, variant);
    if (!simulated.has(run)) continue;
    Row row{std::string{to_text(variant)}, {}};
    add_responses(row, simulated, run);
    if (!is_w1) {
      if (variant == GlomarcVariant::kSsp)
        for (std::size_t c = 0; c < std::size(kResponses); ++c)
          if (kResponses[c].is_compared) row.values[c].paper = value_of(paper::kSspOnW2, kResponses[c].group);
      row.values.push_back({simulated.mean(run, &GlomarcFigures::past_end) * 100});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table glomarc_gains(const GlomarcValues& simulated) {
  Table table = table_of("gains", "W1: how much less relative response GLTS has", "over, class");
  table.source = "text of 5.2";
  table.notes = {"All jobs with the bound of 600 s, which the paper's numbers of W2 imply, and with 30 s."};
  std::vector<GainRow> rows;
  const GlomarcRun glts = glomarc_run(kW1, GlomarcVariant::kGlts);
  const std::pair<GlomarcVariant, const paper::ByClass*> bases[] = {{GlomarcVariant::kSsp, &paper::kOverSsp},
                                                                    {GlomarcVariant::kCst, &paper::kOverCst},
                                                                    {GlomarcVariant::kCstws, &paper::kOverCstws}};
  for (const auto& [base, printed] : bases)
    for (const ResponseColumn& column : kResponses) {
      if (column.group == kShort) continue;
      rows.push_back({fmt::format("{}, {}", to_text(base), column.name),
                      {glts, glomarc_run(kW1, base), {column.group, column.figure}},
                      value_of(*printed, column.group)});
    }
  return gain_table(simulated, std::move(table), rows, kWhyGains);
}

Table glomarc_by_seed(const GlomarcValues& simulated, GlomarcLoad load) {
  Table table = table_of(fmt::format("by seed, {}", to_text(load)),
                         fmt::format("{}: relative response by seed", to_text(load)), "variant, class");
  table.notes = {
      "All jobs with the bound of 600 s. +-: half of the 95 % confidence interval of the mean over the seeds, "
      "by Student's t."};
  const std::uint64_t seeds = simulated.outcome().options.seeds;
  table.columns.push_back({.name = "mean", .unit = "ratio", .decimals = 2});
  add_interval_column(table, 2, "ratio");
  add_seeds(table, seeds, 2, "ratio");
  for (const Group group : {kMedium, kLong, kAll})
    for (const GlomarcVariant variant : glomarc_variants()) {
      const GlomarcRun run = glomarc_run(load, variant);
      if (!simulated.has(run)) continue;
      const std::vector<double> by_seed = simulated.by_seed(run, relative_response_of(group));
      Row row{fmt::format("{}, {}", to_text(variant), kGlomarcGroupNames[group]),
              {{mean_of(by_seed)}, {interval_of(by_seed)}}};
      for (const double of_seed : by_seed) row.values.push_back({of_seed});
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table glomarc_times(const GlomarcValues& simulated, GlomarcLoad load) {
  Table table = table_of(fmt::format("times {}", to_text(load)),
                         fmt::format("{}: mean times by the wall", to_text(load)), "variant");
  table.notes = {"Wait: until the first start. Suspended: outside the slices of the class, when it is not a guest."};
  const std::pair<std::string_view, OfGroup> times[] = {{"response", &GlomarcGroupFigures::response_s},
                                                        {"wait", &GlomarcGroupFigures::wait_s},
                                                        {"suspended", &GlomarcGroupFigures::suspended_s}};
  for (const auto& [name, figure] : times)
    for (const Group group : {kShort, kMedium, kLong})
      table.columns.push_back(
          {.name = fmt::format("{}, {}", name, kGlomarcGroupNames[group]), .unit = "h", .decimals = 2});
  for (const GlomarcVariant variant : glomarc_variants()) {
    const GlomarcRun run = glomarc_run(load, variant);
    if (!simulated.has(run)) continue;
    Row row{std::string{to_text(variant)}, {}};
    for (const auto& [name, figure] : times)
      for (const Group group : {kShort, kMedium, kLong})
        row.values.push_back({simulated.mean(run, {group, figure}) / 3600});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table glomarc_use(const GlomarcValues& simulated, GlomarcLoad load) {
  Table table = table_of(
      load == kW1 ? "figure 7" : "use W2",
      fmt::format("{}: use of cores (formula 3) and of nodes (formula 2)", load == kW1 ? "Figure 7 in numbers" : "W2"),
      "variant");
  table.notes = {"High load: while at least 12 jobs of all classes wait that have never started."};
  const std::pair<std::string_view, GlomarcFigure::OfRun> uses[] = {
      {"U_core, high load", &GlomarcFigures::core_use_high},
      {"U_node, high load", &GlomarcFigures::node_use_high},
      {"U_core, makespan", &GlomarcFigures::core_use},
      {"U_node, makespan", &GlomarcFigures::node_use},
      {"time of high load", &GlomarcFigures::high_load}};
  for (const auto& [name, figure] : uses)
    table.columns.push_back({.name = std::string{name}, .unit = "%", .decimals = 1});
  table.columns.push_back({.name = "phases of high load", .unit = "", .decimals = 0});
  for (const GlomarcVariant variant : glomarc_variants()) {
    const GlomarcRun run = glomarc_run(load, variant);
    if (!simulated.has(run)) continue;
    Row row{std::string{to_text(variant)}, {}};
    for (const auto& [name, figure] : uses) row.values.push_back({simulated.mean(run, figure) * 100});
    row.values.push_back({simulated.mean(run, &GlomarcFigures::phases)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table glomarc_use_gains(const GlomarcValues& simulated) {
  Table table = table_of("core use", "W1: how much more of the cores GLTS uses in phases of high load", "over");
  table.source = "text of 5.2";
  std::vector<GainRow> rows;
  const std::pair<GlomarcVariant, double> bases[] = {{GlomarcVariant::kSsp, paper::kCoresOverSsp},
                                                     {GlomarcVariant::kCst, paper::kCoresOverCst},
                                                     {GlomarcVariant::kCstws, paper::kCoresOverCstws}};
  for (const auto& [base, printed] : bases)
    rows.push_back({std::string{to_text(base)},
                    {glomarc_run(kW1, GlomarcVariant::kGlts), glomarc_run(kW1, base), &GlomarcFigures::core_use_high},
                    printed,
                    -1});
  return gain_table(simulated, std::move(table), rows, kWhyUse);
}

Table glomarc_groups(const GlomarcValues& simulated) {
  Table table = table_of("groups", "Groups of jobs that share nodes", "workload, variant");
  table.source = "text of 5.2 and 5.3";
  table.columns = {{.name = "groups", .unit = "", .decimals = 0, .band = kGroupBand, .why = std::string{kWhyGroups}},
                   {.name = "jobs of a group", .unit = "", .decimals = 2, .band = kGroupBand},
                   {.name = "medium and long jobs in groups", .unit = "%", .decimals = 1, .band = kInGroupBand},
                   {.name = "of their time", .unit = "%", .decimals = 1},
                   {.name = "all wait", .unit = "", .decimals = 0},
                   {.name = "with running", .unit = "", .decimals = 0},
                   {.name = "running primary", .unit = "", .decimals = 0}};
  table.notes = {"The last three columns count the groups by the paper's cases 1, 2 and 3. Means over the seeds."};
  for (const GlomarcLoad load : {kW1, kW2})
    for (const GlomarcVariant variant : glomarc_variants()) {
      const GlomarcRun run = glomarc_run(load, variant);
      if (!simulated.has(run) || variant == GlomarcVariant::kSsp) continue;
      Row row{fmt::format("{}, {}", to_text(load), to_text(variant)),
              {{simulated.mean(run, &GlomarcFigures::formed)},
               {simulated.mean(run, &GlomarcFigures::group_size)},
               {simulated.mean(run, &GlomarcFigures::in_group) * 100},
               {simulated.mean(run, &GlomarcFigures::time_in_group) * 100}}};
      for (std::size_t way = 1; way <= 3; ++way) row.values.push_back({simulated.groups_of_case(run, way)});
      if (variant == GlomarcVariant::kGlts) {
        row.values[0].paper = load == kW1 ? paper::kGroupsW1 : paper::kGroupsW2;
        row.values[1].paper = load == kW1 ? paper::kGroupSizeW1 : paper::kGroupSizeW2;
        if (load == kW1) row.values[2].paper = paper::kInGroupPercent;
      }
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table glomarc_delays(const GlomarcValues& simulated, GlomarcLoad load) {
  Table table = table_of(fmt::format("delays {}", to_text(load)),
                         fmt::format("{}: R / R_est by the clock of the virtual machine", to_text(load)), "variant");
  table.source = load == kW1 ? "text of 5.2, \"for both M and L jobs\"" : "";
  const std::pair<std::string_view, OfGroup> values[] = {{"mean", &GlomarcGroupFigures::delay},
                                                         {"75 %", &GlomarcGroupFigures::delay_p75},
                                                         {"95 %", &GlomarcGroupFigures::delay_p95}};
  const double printed[] = {paper::kDelayMean, paper::kDelayP75, paper::kDelayP95};
  for (const Group group : {kEligible, kMedium, kLong})
    for (const auto& [name, figure] : values)
      table.columns.push_back({.name = fmt::format("{}, {}", kGlomarcGroupNames[group], name),
                               .unit = "ratio",
                               .decimals = 2,
                               .band = kDelayBand});
  for (const GlomarcVariant variant : glomarc_variants()) {
    const GlomarcRun run = glomarc_run(load, variant);
    if (!simulated.has(run)) continue;
    Row row{std::string{to_text(variant)}, {}};
    for (const Group group : {kEligible, kMedium, kLong})
      for (std::size_t i = 0; i < std::size(values); ++i) {
        Value value{simulated.mean(run, {group, values[i].second})};
        if (load == kW1 && variant == GlomarcVariant::kGlts) value.paper = printed[i];
        row.values.push_back(value);
      }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table glomarc_blocks(const GlomarcValues& simulated) {
  Table table = table_of("figure 8", "Figure 8 in numbers: relative response under W2 by block size", "block size");
  table.notes = {"NH has no blocks. All jobs with the bound of 600 s."};
  constexpr GlomarcVariant kInFigure[] = {GlomarcVariant::kGlts, GlomarcVariant::kFbo, GlomarcVariant::kNs,
                                          GlomarcVariant::kNh};
  for (const GlomarcVariant variant : kInFigure)
    for (const Group group : {kMedium, kLong, kAll})
      table.columns.push_back(
          {.name = fmt::format("{}, {}", to_text(variant), kGlomarcGroupNames[group]), .unit = "ratio", .decimals = 2});
  for (const int block : glomarc_block_sizes(simulated.outcome().options.quick)) {
    Row row{fmt::format("{}", block), {}};
    for (const GlomarcVariant variant : kInFigure)
      for (const Group group : {kMedium, kLong, kAll})
        row.values.push_back({simulated.mean(glomarc_block_run(variant, block), relative_response_of(group))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table glomarc_slacks(const GlomarcValues& simulated) {
  Table table = table_of("figure 9", "Figure 9 in numbers: relative response under W1 by slack factor", "F_slack");
  add_response_columns(table);
  table.columns.push_back({.name = "groups", .unit = "", .decimals = 0});
  table.columns.push_back({.name = "R / R_est, 95 %", .unit = "ratio", .decimals = 2});
  for (const double slack : glomarc_slack_factors(simulated.outcome().options.quick)) {
    const GlomarcRun run = glomarc_slack_run(slack);
    if (!simulated.has(run)) continue;
    Row row{fmt::format("{}", slack), {}};
    add_responses(row, simulated, run);
    row.values.push_back({simulated.mean(run, &GlomarcFigures::formed)});
    row.values.push_back({simulated.mean(run, {kEligible, &GlomarcGroupFigures::delay_p95})});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table glomarc_overheads(const GlomarcValues& simulated) {
  Table table =
      table_of("overhead", "W1: overhead at every slice, or only where the class changes", "variant, overhead");
  add_response_columns(table);
  for (const GlomarcVariant variant : {GlomarcVariant::kSsp, GlomarcVariant::kGlts})
    for (const bool changes_only : {false, true}) {
      const GlomarcRun run{kW1, {.variant = variant, .pays_for_changes_only = changes_only}};
      if (!simulated.has(run)) continue;
      Row row{fmt::format("{}, {}", to_text(variant), changes_only ? "where the class changes" : "at every slice"), {}};
      add_responses(row, simulated, run);
      table.rows.push_back(std::move(row));
    }
  return table;
}

}  // namespace replay::study
