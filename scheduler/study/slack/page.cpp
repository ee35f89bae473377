// The page of the slack paper: Tables 1 to 3, Figures 9 and 10, and what its text says.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scheduler/study/slack/numbers.hpp"
#include "scheduler/study/slack/study.hpp"

namespace replay::study {
namespace {

using slack_paper::kHeuristics;
using slack_paper::kMonths;
using slack_paper::kYear;

constexpr Band kWaitBand{.relative = 0.25, .absolute = 10};
constexpr Band kGainBand{.absolute = 6};  // percentage points
double gain_percent(double wait, double conservative) { return (1 - wait / conservative) * 100; }

struct SimulatedValues {
  const SlackOutcome& outcome;

  [[nodiscard]] double all(const std::string& key) const { return outcome.year(key).all.mean_s(); }
  [[nodiscard]] double high(const std::string& key) const { return outcome.year(key).high.mean_s(); }
  [[nodiscard]] double low(const std::string& key) const { return outcome.year(key).low.mean_s(); }
  [[nodiscard]] double conservative() const { return all("conservative"); }
  [[nodiscard]] double gain(const std::string& key) const { return gain_percent(all(key), conservative()); }
  [[nodiscard]] bool has(const std::string& key) const { return outcome.runs.contains(key); }
  [[nodiscard]] bool is_whole_year() const { return outcome.months.size() == kMonths.size(); }
};

// The paper's row of a month; null for a month that the paper does not have.
const slack_paper::MonthRow* paper_month(const std::string& name) {
  const auto found = std::ranges::find(kMonths, name, &slack_paper::MonthRow::month);
  return found == kMonths.end() ? nullptr : &*found;
}

std::optional<double> of(const slack_paper::MonthRow* row, double slack_paper::MonthRow::*member) {
  return row == nullptr ? std::nullopt : std::optional{row->*member};
}

// The reasons why waits differ, only those that hold for the months that were run.
std::string why_waits_differ(const SimulatedValues& simulated) {
  std::string why;
  std::size_t above = 0, compared = 0, jobs_of_september = 0;
  for (std::size_t m = 0; m < simulated.outcome.months.size(); ++m) {
    const auto* paper = paper_month(simulated.outcome.months[m]);
    if (paper == nullptr) continue;
    ++compared;
    if (paper->conservative > simulated.outcome.runs.at("conservative")[m].all.mean_s()) ++above;
    if (paper == kMonths.begin()) jobs_of_september = simulated.outcome.jobs[m];
  }
  if (jobs_of_september > 0 && jobs_of_september != slack_paper::kJobsOfSeptember)
    why = fmt::format("the months do not hold the very same jobs ({} in September, {} in the paper)", jobs_of_september,
                      slack_paper::kJobsOfSeptember);
  if (compared > 0 && above == compared)
    why += fmt::format(
        "{}the paper's waits lie above ours under conservative backfilling in all of these months too, so the level "
        "differs before slack comes in; what can be compared is the gain",
        why.empty() ? "" : "; ");
  return why;
}

Column wait_column(std::string name, const SimulatedValues& simulated) {
  return {.name = std::move(name), .unit = "s", .decimals = 1, .band = kWaitBand, .why = why_waits_differ(simulated)};
}

// Calls add(name, paper's row or null, index of the month or nothing for the year).
template <class Add>
void for_each_row(const SimulatedValues& simulated, const Add& add) {
  for (std::size_t m = 0; m < simulated.outcome.months.size(); ++m)
    add(simulated.outcome.months[m], paper_month(simulated.outcome.months[m]), std::optional{m});
  add("all", simulated.is_whole_year() ? &kYear : nullptr, std::optional<std::size_t>{});
}

Table table_1(const SimulatedValues& simulated) {
  using Paper = slack_paper::MonthRow;
  Table table{.id = "table 1",
              .title = "Table 1: average wait, conservative and slack-based backfilling",
              .source = "Table 1; SF = 3, AWT = 2401 s, ascending scheduled time, all priorities 0",
              .row_name = "month",
              .columns = {{"jobs", "", 0},
                          wait_column("conservative", simulated),
                          wait_column("slack", simulated),
                          {"gain", "%", 1, kGainBand}},
              .rows = {},
              .notes = {"The last row is over all jobs, not over months, as in the paper. Records that are no jobs (no "
                        "processors) do not count."}};
  for_each_row(simulated, [&](const std::string& name, const Paper* paper, std::optional<std::size_t> month) {
    const auto waits = [&](const std::string& key) {
      return month ? simulated.outcome.runs.at(key)[*month].all : simulated.outcome.year(key).all;
    };
    const double conservative = waits("conservative").mean_s(), slack = waits("equal ast").mean_s();
    table.rows.push_back({name,
                          {{static_cast<double>(waits("equal ast").jobs)},
                           {conservative, of(paper, &Paper::conservative)},
                           {slack, of(paper, &Paper::equal)},
                           {gain_percent(slack, conservative), of(paper, &Paper::improvement_percent)}}});
  });
  return table;
}

Table table_2(const SimulatedValues& simulated) {
  using Paper = slack_paper::MonthRow;
  Table table{.id = "table 2",
              .title = "Table 2: average wait when every fifth job has user and political priority 1",
              .source =
                  "Table 2; November's low priority is printed as 1882.3 and must be 4882.3, as all = 0.2 high + 0.8 "
                  "low in every other row",
              .row_name = "month",
              .columns = {wait_column("equal, all", simulated), wait_column("unequal, all", simulated),
                          wait_column("high", simulated), wait_column("low", simulated)},
              .rows = {}};
  for_each_row(simulated, [&](const std::string& name, const Paper* paper, std::optional<std::size_t> month) {
    const auto waits = [&](const std::string& key) {
      return month ? simulated.outcome.runs.at(key)[*month] : simulated.outcome.year(key);
    };
    const MonthWaits unequal = waits("unequal ast");
    table.rows.push_back({name,
                          {{waits("equal ast").all.mean_s(), of(paper, &Paper::equal)},
                           {unequal.all.mean_s(), of(paper, &Paper::unequal_all)},
                           {unequal.high.mean_s(), of(paper, &Paper::unequal_high)},
                           {unequal.low.mean_s(), of(paper, &Paper::unequal_low)}}});
  });
  return table;
}

Table table_3(const SimulatedValues& simulated) {
  Table table{.id = "table 3",
              .title = "Table 3: the five heuristics, over all jobs",
              .source =
                  "Table 3, gains from the text of 5.2; loss is against ascending scheduled time with equal "
                  "priorities, gap is low less high",
              .row_name = "heuristic",
              .columns = {wait_column("equal", simulated),
                          {"gain", "%", 1, kGainBand},
                          wait_column("unequal", simulated),
                          {"loss", "%", 1, kGainBand},
                          wait_column("high", simulated),
                          wait_column("low", simulated),
                          {"gap", "s", 1}},
              .rows = {}};
  const bool compares = simulated.is_whole_year();
  const auto paper = [compares](double value) { return compares ? std::optional{value} : std::nullopt; };
  for (const auto& row : kHeuristics) {
    const std::string equal = fmt::format("equal {}", row.heuristic),
                      unequal = fmt::format("unequal {}", row.heuristic);
    table.rows.push_back({std::string{row.name},
                          {{simulated.all(equal), paper(row.equal)},
                           {simulated.gain(equal), paper(row.improvement_percent)},
                           {simulated.all(unequal), paper(row.unequal)},
                           {(simulated.all(unequal) / simulated.all("equal ast") - 1) * 100, paper(row.loss_percent)},
                           {simulated.high(unequal), paper(row.high)},
                           {simulated.low(unequal), paper(row.low)},
                           {simulated.low(unequal) - simulated.high(unequal), paper(row.gap)}}});
  }
  return table;
}

std::string key_of_factor(int factor) { return factor == 3 ? "equal ast" : fmt::format("sf {}", factor); }
std::string key_of_gap(double gap) {
  return gap == 0 ? "equal ast" : gap == 2 ? "unequal ast" : fmt::format("gap {}", gap);
}

Section figure_9(const SimulatedValues& simulated) {
  CurveChart chart{
      .title = "Wait by slack factor", .x_name = "slack factor SF", .y_name = "average wait, s", .curves = {}};
  Table table{.id = "figure 9",
              .title = "Figure 9 in numbers",
              .source = "text of 5.2; the figure itself has no numbers",
              .row_name = "SF",
              .columns = {{"average wait", "s", 1}, {"gain", "%", 1, kGainBand}},
              .rows = {}};
  Curve ours{.name = "slack, ours", .points = {}}, paper{.name = "slack, paper", .points = {}, .is_paper = true};
  for (int factor = 0; factor <= 9; ++factor) {
    const std::string key = key_of_factor(factor);
    if (!simulated.has(key)) continue;
    ours.points.push_back({static_cast<double>(factor), simulated.all(key)});
    std::optional<double> printed;
    if (simulated.is_whole_year() && factor == 3) printed = kYear.improvement_percent;
    if (simulated.is_whole_year() && factor == 9) printed = slack_paper::kImprovementAtNine;
    if (printed) paper.points.push_back({static_cast<double>(factor), kYear.conservative * (1 - *printed / 100)});
    table.rows.push_back({fmt::format("{}", factor), {{simulated.all(key)}, {simulated.gain(key), printed}}});
  }
  const double level = simulated.conservative();
  chart.curves = {ours, {.name = "conservative, ours", .points = {{0, level}, {9, level}}, .colour = 1}};
  if (!paper.points.empty()) {
    chart.curves.push_back(paper);
    chart.curves.push_back({.name = "conservative, paper",
                            .points = {{0, kYear.conservative}, {9, kYear.conservative}},
                            .is_paper = true,
                            .colour = 1});
  }
  return {.title = "Figure 9: the slack factor",
          .text = {"More slack, less waiting, but a job may be kept waiting longer. A factor of 0 is conservative "
                   "backfilling."},
          .figures = {{"Figure 9", {chart}}},
          .tables = {table}};
}

Section figure_10(const SimulatedValues& simulated) {
  CurveChart chart{.title = "Wait by priority gap",
                   .x_name = "gap: user + political priority of every fifth job",
                   .y_name = "average wait, s",
                   .curves = {}};
  Table table{.id = "figure 10",
              .title = "Figure 10 in numbers",
              .source = "Table 2's last row; the figure itself has no numbers",
              .row_name = "gap",
              .columns = {wait_column("all", simulated), wait_column("high", simulated), wait_column("low", simulated)},
              .rows = {},
              .notes = {"At gap 0, high and low are the same fifth and the others, without priorities."}};
  Curve all{.name = "all, ours", .points = {}}, high{.name = "high, ours", .points = {}, .colour = 1},
      low{.name = "low, ours", .points = {}, .colour = 2};
  for (const double gap : {0.0, 0.5, 1.0, 1.5, 2.0}) {
    const std::string key = key_of_gap(gap);
    if (!simulated.has(key)) continue;
    all.points.push_back({gap, simulated.all(key)});
    high.points.push_back({gap, simulated.high(key)});
    low.points.push_back({gap, simulated.low(key)});
    Row row{fmt::format("{}", gap), {{simulated.all(key)}, {simulated.high(key)}, {simulated.low(key)}}};
    if (simulated.is_whole_year() && gap == 0) row.values[0].paper = kYear.equal;
    if (simulated.is_whole_year() && gap == 2) {
      row.values[0].paper = kYear.unequal_all;
      row.values[1].paper = kYear.unequal_high;
      row.values[2].paper = kYear.unequal_low;
    }
    table.rows.push_back(std::move(row));
  }
  chart.curves = {all, high, low};
  if (simulated.is_whole_year())
    chart.curves.push_back(
        {.name = "all, paper", .points = {{0, kYear.equal}, {2, kYear.unequal_all}}, .is_paper = true});
  return {.title = "Figure 10: the priority gap", .figures = {{"Figure 10", {chart}}}, .tables = {table}};
}

Table variants(const SimulatedValues& simulated) {
  Table table{.id = "text of section 5",
              .title = "What the text tells without numbers",
              .source = {},
              .row_name = "variant",
              .columns = {{"all", "s", 1}, {"high", "s", 1}, {"low", "s", 1}, {"gap", "s", 1}, {"gain", "%", 1}},
              .rows = {}};
  const auto add = [&](std::string name, const std::string& key) {
    table.rows.push_back({std::move(name),
                          {{simulated.all(key)},
                           {simulated.high(key)},
                           {simulated.low(key)},
                           {simulated.low(key) - simulated.high(key)},
                           {simulated.gain(key)}}});
  };
  add("equal priorities", "equal ast");
  add("equal, AWT of each month", "monthly average");
  add("unequal priorities", "unequal ast");
  add("unequal, alpha_p = 1, others 0.2", "priority weighs more");
  return table;
}

// ---- statements ----

std::string seconds_text(double value) { return fmt::format("{:.1f} s", value); }

Check promise_check(const SimulatedValues& simulated) {
  std::size_t watched = 0, broken = 0, jobs = 0;
  for (const auto& [key, months] : simulated.outcome.runs) {
    const MonthWaits year = simulated.outcome.year(key);
    watched += year.watched, broken += year.broken;
    if (year.watched > 0) jobs += year.all.jobs;
  }
  return {.statement = "No job starts later than the start first planned for it plus its first slack (4.2)",
          .holds = broken == 0 && watched > 0,
          .found = fmt::format("{} broken promises among {} starts of all runs; the other {} came in one second with a "
                               "later one, so their first plan is not seen",
                               broken, watched, jobs - watched)};
}

Check heuristics_check(const SimulatedValues& simulated) {
  Check check{
      .statement = "All five heuristics wait less than conservative backfilling (5.2)", .holds = true, .found = {}};
  for (const auto& row : kHeuristics) {
    const double gain = simulated.gain(fmt::format("equal {}", row.heuristic));
    check.holds = check.holds && gain > 0;
    check.found += fmt::format("{}{} {:.1f} %", check.found.empty() ? "less by " : ", ", row.heuristic, gain);
  }
  return check;
}

Check order_check(const SimulatedValues& simulated) {
  auto rows = kHeuristics;
  std::ranges::sort(rows, {}, [&](const auto& row) { return simulated.all(fmt::format("equal {}", row.heuristic)); });
  std::string found;
  for (const auto& row : rows) found += fmt::format("{}{}", found.empty() ? "" : " < ", row.heuristic);
  return {.statement = "Ascending scheduled time waits least, descending utilisation most (Table 3)",
          .holds = rows.front().heuristic == "ast" && rows.back().heuristic == "du",
          .found = found};
}

Check gap_check(const SimulatedValues& simulated) {
  constexpr double kClose = 0.05;
  Check check{.statement =
                  "But for the largest gap, the wait of all jobs stays close to that of equal priorities (5.3; here: "
                  "within 5 %)",
              .holds = true,
              .found = {}};
  for (const double gap : {0.5, 1.0, 1.5}) {
    if (!simulated.has(key_of_gap(gap))) continue;
    const double loss = simulated.all(key_of_gap(gap)) / simulated.all("equal ast") - 1;
    check.holds = check.holds && std::abs(loss) <= kClose;
    check.found += fmt::format("{}gap {}: {:+.1f} %", check.found.empty() ? "" : ", ", gap, loss * 100);
  }
  check.found +=
      fmt::format(", gap 2: {:+.1f} %", (simulated.all("unequal ast") / simulated.all("equal ast") - 1) * 100);
  return check;
}

std::vector<Check> checks(const SimulatedValues& simulated) {
  const double gain = simulated.gain("equal ast"), gain_nine = simulated.gain("sf 9");
  const std::string unequal = "unequal ast", weighs = "priority weighs more";
  const double gap = simulated.low(unequal) - simulated.high(unequal),
               gap_weighs = simulated.low(weighs) - simulated.high(weighs);
  return {
      {.statement = "Slack-based backfilling waits 16.5 % less than conservative (Table 1; here: between 10 and 20 %)",
       .holds = gain >= 10 && gain <= 20,
       .found = fmt::format("{:.1f} % less: {} against {}", gain, seconds_text(simulated.all("equal ast")),
                            seconds_text(simulated.conservative()))},
      heuristics_check(simulated),
      order_check(simulated),
      {.statement = "More slack helps a little: 19.25 % with SF = 9 (5.2)",
       .holds = gain_nine > gain,
       .found = fmt::format("{:.1f} % with 9, {:.1f} % with 3", gain_nine, gain)},
      {.statement = "Without slack (SF = 0) it is conservative backfilling",
       .holds = simulated.all("sf 0") == simulated.all("conservative instant"),
       .found = fmt::format("{} and {}, one pass an instant", seconds_text(simulated.all("sf 0")),
                            seconds_text(simulated.all("conservative instant")))},
      promise_check(simulated),
      {.statement = "High priority waits less than all, low priority more (Table 2)",
       .holds = simulated.high(unequal) < simulated.all(unequal) && simulated.all(unequal) < simulated.low(unequal),
       .found = fmt::format("{} < {} < {}", seconds_text(simulated.high(unequal)), seconds_text(simulated.all(unequal)),
                            seconds_text(simulated.low(unequal)))},
      {.statement = "High priority waits less than all jobs with equal priorities (5.3)",
       .holds = simulated.high(unequal) < simulated.all("equal ast"),
       .found = fmt::format("{} against {}", seconds_text(simulated.high(unequal)),
                            seconds_text(simulated.all("equal ast")))},
      {.statement = "Priorities cost something, and all jobs still wait less than under conservative (5.3)",
       .holds =
           simulated.all(unequal) > simulated.all("equal ast") && simulated.all(unequal) < simulated.conservative(),
       .found = fmt::format("{} < {} < {}", seconds_text(simulated.all("equal ast")),
                            seconds_text(simulated.all(unequal)), seconds_text(simulated.conservative()))},
      gap_check(simulated),
      {.statement = "The average wait of each month as AWT saves a few per cent more (5.2)",
       .holds = simulated.gain("monthly average") > gain,
       .found = fmt::format("{:.1f} % with it, {:.1f} % with 2401 s", simulated.gain("monthly average"), gain)},
      {.statement = "alpha_p = 1 with the others 0.2 widens the gap a little, and both groups wait longer (5.3)",
       .holds = gap_weighs > gap && simulated.high(weighs) > simulated.high(unequal) &&
                simulated.low(weighs) > simulated.low(unequal),
       .found =
           fmt::format("gap {} against {}; high {} against {}, low {} against {}", seconds_text(gap_weighs),
                       seconds_text(gap), seconds_text(simulated.high(weighs)), seconds_text(simulated.high(unequal)),
                       seconds_text(simulated.low(weighs)), seconds_text(simulated.low(unequal)))},
  };
}

report::BarChart month_bars(const SimulatedValues& simulated, bool is_paper) {
  report::BarChart chart{.title = is_paper ? "Paper" : "Ours",
                         .x_name = "month",
                         .y_name = "average wait, s",
                         .labels = {},
                         .series = {{"conservative", {}}, {"slack, SF = 3", {}}}};
  for (std::size_t m = 0; m < simulated.outcome.months.size(); ++m) {
    const auto* paper = paper_month(simulated.outcome.months[m]);
    if (is_paper && paper == nullptr) continue;
    chart.labels.push_back(simulated.outcome.months[m]);
    const double conservative = simulated.outcome.runs.at("conservative")[m].all.mean_s();
    chart.series[0].values.push_back(is_paper ? paper->conservative : conservative);
    chart.series[1].values.push_back(is_paper ? paper->equal : simulated.outcome.runs.at("equal ast")[m].all.mean_s());
  }
  return chart;
}

}  // namespace

Result slack_result(const SlackOutcome& outcome, bool quick, const std::string& source) {
  const SimulatedValues simulated{outcome};
  Result result{.name = "slack",
                .title = "Slack-based backfilling, again",
                .paper =
                    "D. Talby, D. Feitelson: Supporting Priorities and Improving Utilization of the IBM SP Scheduler "
                    "Using Slack-Based Backfilling, IPPS 1999. Tables 1 to 3, Figures 9 and 10.",
                .about = {fmt::format("Jobs: {}, by the month of their submission in the log's local time. Each month "
                                      "begins on an empty machine of {} processors. Jobs are killed at their estimate. "
                                      "Conservative backfilling compresses in the order of planned starts.",
                                      source, slack_paper::kProcessors),
                          "Ours stands first, the paper's number behind it in grey."}};
  if (quick) result.limits.push_back("--quick: some of the months, of the slack factors and of the priority gaps");
  if (!simulated.is_whole_year())
    result.limits.push_back(
        fmt::format("{} of 12 months: the paper's numbers of the year stand beside nothing", outcome.months.size()));
  result.checks = checks(simulated);
  Section tables{.title = "Tables", .figures = {{"Table 1 as bars", {month_bars(simulated, false)}}}};
  if (!month_bars(simulated, true).labels.empty()) tables.figures[0].panels.emplace_back(month_bars(simulated, true));
  tables.tables = {table_1(simulated), table_2(simulated), table_3(simulated)};
  result.sections = {std::move(tables),
                     figure_9(simulated),
                     figure_10(simulated),
                     {.title = "More of section 5", .tables = {variants(simulated)}}};
  return result;
}

}  // namespace replay::study
