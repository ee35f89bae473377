// The page of the slack paper: Tables 1 to 3, Figures 9 and 10, and what its text says.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/study/slack/numbers.hpp"
#include "scheduler/study/slack/study.hpp"
#include "scheduler/study/table_of.hpp"

namespace replay::study {
namespace {

using slack_paper::kHeuristics;
using slack_paper::kMonths;

constexpr Band kWaitBand{.relative = 0.25, .absolute = 10};
constexpr Band kGainBand{.absolute = 6};  // percentage points
double gain_percent(double wait, double conservative) { return (1 - wait / conservative) * 100; }

struct SimulatedValues {
  const SlackOutcome& outcome;

  [[nodiscard]] double all(const std::string& key) const { return outcome.year(key).all.mean_s(); }
  [[nodiscard]] double high(const std::string& key) const { return outcome.year(key).high.mean_s(); }
  [[nodiscard]] double low(const std::string& key) const { return outcome.year(key).low.mean_s(); }
  [[nodiscard]] double gap(const std::string& key) const { return low(key) - high(key); }
  [[nodiscard]] double conservative() const { return all("conservative"); }
  [[nodiscard]] double gain(const std::string& key) const { return gain_percent(all(key), conservative()); }
  [[nodiscard]] bool has(const std::string& key) const { return outcome.runs.contains(key); }
  [[nodiscard]] bool is_whole_year() const { return outcome.months.size() == kMonths.size(); }
};

// The reasons why waits differ, only those that hold for the months that were run.
std::string why_waits_differ(const SimulatedValues& simulated) {
  std::string why;
  std::size_t above = 0, compared = 0, jobs_of_september = 0;
  for (std::size_t m = 0; m < simulated.outcome.months.size(); ++m) {
    const std::string& month = simulated.outcome.months[m];
    const auto paper = slack_printed().find("table 1", month, "conservative");
    if (!paper) continue;
    ++compared;
    if (*paper > simulated.outcome.runs.at("conservative")[m].all.mean_s()) ++above;
    if (month == kMonths.front()) jobs_of_september = simulated.outcome.jobs[m];
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

// Rows of months, by their index, and one of the year: nothing.
using Months = TableOf<std::optional<std::size_t>>;

const Table& with_all_months(Months& table, const SimulatedValues& simulated) {
  for (std::size_t m = 0; m < simulated.outcome.months.size(); ++m) table.row(simulated.outcome.months[m], m);
  table.row("all", std::nullopt, simulated.is_whole_year() ? "all" : "");
  return table.table();
}

MonthWaits waits(const SimulatedValues& simulated, const std::string& key, std::optional<std::size_t> month) {
  return month ? simulated.outcome.runs.at(key)[*month] : simulated.outcome.year(key);
}

Table table_1(const SimulatedValues& simulated) {
  Months table{
      {.id = "table 1",
       .title = "Table 1: average wait, conservative and slack-based backfilling",
       .source = "Table 1; SF = 3, AWT = 2401 s, ascending scheduled time, all priorities 0",
       .row_name = "month",
       .notes = {"The last row is over all jobs, not over months, as in the paper. Records that are no jobs (no "
                 "processors) do not count."}},
      slack_printed()};
  const auto all = [&](const char* key, const auto& month) { return waits(simulated, key, month).all; };
  table.column({"jobs", "", 0}, [all](const auto& month) { return static_cast<double>(all("equal ast", month).jobs); });
  table.column(wait_column("conservative", simulated),
               [all](const auto& month) { return all("conservative", month).mean_s(); });
  table.column(wait_column("slack", simulated), [all](const auto& month) { return all("equal ast", month).mean_s(); });
  table.column({"gain", "%", 1, kGainBand}, [all](const auto& month) {
    return gain_percent(all("equal ast", month).mean_s(), all("conservative", month).mean_s());
  });
  return with_all_months(table, simulated);
}

Table table_2(const SimulatedValues& simulated) {
  Months table{
      {.id = "table 2",
       .title = "Table 2: average wait when every fifth job has user and political priority 1",
       .source =
           "Table 2; November's low priority is printed as 1882.3 and must be 4882.3, as all = 0.2 high + 0.8 low in "
           "every other row",
       .row_name = "month"},
      slack_printed()};
  const auto add = [&](const char* name, const char* key, Waits MonthWaits::*of) {
    table.column(wait_column(name, simulated),
                 [&simulated, key, of](const auto& month) { return (waits(simulated, key, month).*of).mean_s(); });
  };
  add("equal, all", "equal ast", &MonthWaits::all);
  add("unequal, all", "unequal ast", &MonthWaits::all);
  add("high", "unequal ast", &MonthWaits::high);
  add("low", "unequal ast", &MonthWaits::low);
  return with_all_months(table, simulated);
}

Table table_3(const SimulatedValues& simulated) {
  TableOf<std::string> table{{.id = "table 3",
                              .title = "Table 3: the five heuristics, over all jobs",
                              .source = "Table 3, gains from the text of 5.2; loss is against ascending scheduled time "
                                        "with equal priorities, gap is "
                                        "low less high",
                              .row_name = "heuristic"},
                             slack_printed()};
  const auto unequal = [](const std::string& key) { return "unequal " + key; };
  table.column(wait_column("equal", simulated), [&](const auto& key) { return simulated.all("equal " + key); });
  table.column({"gain", "%", 1, kGainBand}, [&](const auto& key) { return simulated.gain("equal " + key); });
  table.column(wait_column("unequal", simulated), [&](const auto& key) { return simulated.all(unequal(key)); });
  table.column({"loss", "%", 1, kGainBand},
               [&](const auto& key) { return (simulated.all(unequal(key)) / simulated.all("equal ast") - 1) * 100; });
  table.column(wait_column("high", simulated), [&](const auto& key) { return simulated.high(unequal(key)); });
  table.column(wait_column("low", simulated), [&](const auto& key) { return simulated.low(unequal(key)); });
  table.column({"gap", "s", 1}, [&](const auto& key) { return simulated.gap(unequal(key)); });
  for (const auto& [key, name] : kHeuristics)
    table.row(std::string{name}, std::string{key}, simulated.is_whole_year() ? std::string{name} : "");
  return table.table();
}

std::string key_of_factor(int factor) { return factor == 3 ? "equal ast" : fmt::format("sf {}", factor); }
std::string key_of_gap(double gap) {
  return gap == 0 ? "equal ast" : gap == 2 ? "unequal ast" : fmt::format("gap {}", gap);
}

Section figure_9(const SimulatedValues& simulated) {
  CurveChart chart{.title = "Wait by slack factor", .x_name = "slack factor SF", .y_name = "average wait, s"};
  TableOf<std::string> table{{.id = "figure 9",
                              .title = "Figure 9 in numbers",
                              .source = "text of 5.2; the figure itself has no numbers",
                              .row_name = "SF"},
                             slack_printed()};
  table.column({"average wait", "s", 1}, [&](const auto& key) { return simulated.all(key); });
  table.column({"gain", "%", 1, kGainBand}, [&](const auto& key) { return simulated.gain(key); });
  Curve ours{.name = "slack, ours"}, paper{.name = "slack, paper", .is_paper = true};
  const double level = simulated.conservative(), printed = slack_printed().at("table 1", "all", "conservative");
  for (int factor = 0; factor <= 9; ++factor) {
    const std::string key = key_of_factor(factor), name = fmt::format("{}", factor);
    if (!simulated.has(key)) continue;
    ours.points.push_back({static_cast<double>(factor), simulated.all(key)});
    table.row(name, key, simulated.is_whole_year() ? name : "");
    if (const auto gain = table.table().rows.back().values.back().paper)
      paper.points.push_back({static_cast<double>(factor), printed * (1 - *gain / 100)});
  }
  chart.curves = {ours, {.name = "conservative, ours", .points = {{0, level}, {9, level}}, .colour = 1}};
  if (!paper.points.empty()) {
    chart.curves.push_back(paper);
    chart.curves.push_back(
        {.name = "conservative, paper", .points = {{0, printed}, {9, printed}}, .is_paper = true, .colour = 1});
  }
  return {.title = "Figure 9: the slack factor",
          .text = {"More slack, less waiting, but a job may be kept waiting longer. A factor of 0 is conservative "
                   "backfilling."},
          .figures = {{"Figure 9", {chart}}},
          .tables = {table.table()}};
}

Section figure_10(const SimulatedValues& simulated) {
  CurveChart chart{.title = "Wait by priority gap",
                   .x_name = "gap: user + political priority of every fifth job",
                   .y_name = "average wait, s"};
  TableOf<std::string> table{
      {.id = "figure 10",
       .title = "Figure 10 in numbers",
       .source = "Table 2's last row; the figure itself has no numbers",
       .row_name = "gap",
       .notes = {"At gap 0, high and low are the same fifth and the others, without priorities."}},
      slack_printed()};
  const std::pair<const char*, double (SimulatedValues::*)(const std::string&) const> groups[] = {
      {"all", &SimulatedValues::all}, {"high", &SimulatedValues::high}, {"low", &SimulatedValues::low}};
  for (const auto& [name, wait] : groups) {
    table.column(wait_column(name, simulated),
                 [&simulated, wait = wait](const auto& key) { return (simulated.*wait)(key); });
    chart.curves.push_back({.name = fmt::format("{}, ours", name), .colour = chart.curves.size()});
  }
  for (const double gap : {0.0, 0.5, 1.0, 1.5, 2.0}) {
    const std::string key = key_of_gap(gap), name = fmt::format("{}", gap);
    if (!simulated.has(key)) continue;
    table.row(name, key, simulated.is_whole_year() ? name : "");
    for (std::size_t c = 0; c < std::size(groups); ++c)
      chart.curves[c].points.push_back({gap, table.table().rows.back().values[c].ours});
  }
  if (simulated.is_whole_year())
    chart.curves.push_back(
        {.name = "all, paper",
         .points = {{0, slack_printed().at("figure 10", "0", "all")}, {2, slack_printed().at("figure 10", "2", "all")}},
         .is_paper = true});
  return {.title = "Figure 10: the priority gap", .figures = {{"Figure 10", {chart}}}, .tables = {table.table()}};
}

Table variants(const SimulatedValues& simulated) {
  TableOf<std::string> table{
      {.id = "text of section 5", .title = "What the text tells without numbers", .row_name = "variant"}};
  table.column({"all", "s", 1}, [&](const auto& key) { return simulated.all(key); });
  table.column({"high", "s", 1}, [&](const auto& key) { return simulated.high(key); });
  table.column({"low", "s", 1}, [&](const auto& key) { return simulated.low(key); });
  table.column({"gap", "s", 1}, [&](const auto& key) { return simulated.gap(key); });
  table.column({"gain", "%", 1}, [&](const auto& key) { return simulated.gain(key); });
  table.row("equal priorities", "equal ast");
  table.row("equal, AWT of each month", "monthly average");
  table.row("unequal priorities", "unequal ast");
  table.row("unequal, alpha_p = 1, others 0.2", "priority weighs more");
  return table.table();
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
  Check check{.statement = "All five heuristics wait less than conservative backfilling (5.2)", .holds = true};
  for (const auto& row : kHeuristics) {
    const double gain = simulated.gain(fmt::format("equal {}", row.key));
    check.holds = check.holds && gain > 0;
    add_item(check.found, ", ", "{} {:.1f} %", row.key, gain);
  }
  check.found = "less by " + check.found;
  return check;
}

Check order_check(const SimulatedValues& simulated) {
  auto rows = kHeuristics;
  std::ranges::sort(rows, {}, [&](const auto& row) { return simulated.all(fmt::format("equal {}", row.key)); });
  std::string found;
  for (const auto& row : rows) add_item(found, " < ", "{}", row.key);
  return {.statement = "Ascending scheduled time waits least, descending utilisation most (Table 3)",
          .holds = rows.front().key == "ast" && rows.back().key == "du",
          .found = found};
}

Check gap_check(const SimulatedValues& simulated) {
  constexpr double kClose = 0.05;
  Check check{.statement =
                  "But for the largest gap, the wait of all jobs stays close to that of equal priorities (5.3; here: "
                  "within 5 %)",
              .holds = true};
  for (const double gap : {0.5, 1.0, 1.5}) {
    if (!simulated.has(key_of_gap(gap))) continue;
    const double loss = simulated.all(key_of_gap(gap)) / simulated.all("equal ast") - 1;
    check.holds = check.holds && std::abs(loss) <= kClose;
    add_item(check.found, ", ", "gap {}: {:+.1f} %", gap, loss * 100);
  }
  add_item(check.found, ", ", "gap 2: {:+.1f} %",
           (simulated.all("unequal ast") / simulated.all("equal ast") - 1) * 100);
  return check;
}

std::vector<Check> checks(const SimulatedValues& simulated) {
  const double gain = simulated.gain("equal ast"), gain_nine = simulated.gain("sf 9");
  const std::string unequal = "unequal ast", weighs = "priority weighs more";
  const double gap = simulated.gap(unequal), gap_weighs = simulated.gap(weighs);
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
                         .series = {{"conservative", {}}, {"slack, SF = 3", {}}}};
  for (std::size_t m = 0; m < simulated.outcome.months.size(); ++m) {
    const std::string& month = simulated.outcome.months[m];
    const auto conservative = slack_printed().find("table 1", month, "conservative");
    if (is_paper && !conservative) continue;
    chart.labels.push_back(month);
    const auto ours = [&](const char* key) { return simulated.outcome.runs.at(key)[m].all.mean_s(); };
    chart.series[0].values.push_back(is_paper ? *conservative : ours("conservative"));
    chart.series[1].values.push_back(is_paper ? slack_printed().at("table 1", month, "slack") : ours("equal ast"));
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
