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

struct Story {
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
std::string why_waits_differ(const Story& story) {
  std::string why;
  std::size_t above = 0, compared = 0, jobs_of_september = 0;
  for (std::size_t m = 0; m < story.outcome.months.size(); ++m) {
    const auto* paper = paper_month(story.outcome.months[m]);
    if (paper == nullptr) continue;
    ++compared;
    if (paper->conservative > story.outcome.runs.at("conservative")[m].all.mean_s()) ++above;
    if (paper == kMonths.begin()) jobs_of_september = story.outcome.jobs[m];
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

Column wait_column(std::string name, const Story& story) {
  return {.name = std::move(name), .unit = "s", .decimals = 1, .band = kWaitBand, .why = why_waits_differ(story)};
}

// Calls add(name, paper's row or null, index of the month or nothing for the year).
template <class Add>
void for_each_row(const Story& story, const Add& add) {
  for (std::size_t m = 0; m < story.outcome.months.size(); ++m)
    add(story.outcome.months[m], paper_month(story.outcome.months[m]), std::optional{m});
  add("all", story.is_whole_year() ? &kYear : nullptr, std::optional<std::size_t>{});
}

Table table_1(const Story& story) {
  using Paper = slack_paper::MonthRow;
  Table table{.id = "table 1",
              .title = "Table 1: average wait, conservative and slack-based backfilling",
              .source = "Table 1; SF = 3, AWT = 2401 s, ascending scheduled time, all priorities 0",
              .row_name = "month",
              .columns = {{"jobs", "", 0},
                          wait_column("conservative", story),
                          wait_column("slack", story),
                          {"gain", "%", 1, kGainBand}},
              .rows = {},
              .notes = {"The last row is over all jobs, not over months, as in the paper. Records that are no jobs (no "
                        "processors) do not count."}};
  for_each_row(story, [&](const std::string& name, const Paper* paper, std::optional<std::size_t> month) {
    const auto waits = [&](const std::string& key) {
      return month ? story.outcome.runs.at(key)[*month].all : story.outcome.year(key).all;
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

Table table_2(const Story& story) {
  using Paper = slack_paper::MonthRow;
  Table table{.id = "table 2",
              .title = "Table 2: average wait when every fifth job has user and political priority 1",
              .source =
                  "Table 2; November's low priority is printed as 1882.3 and must be 4882.3, as all = 0.2 high + 0.8 "
                  "low in every other row",
              .row_name = "month",
              .columns = {wait_column("equal, all", story), wait_column("unequal, all", story),
                          wait_column("high", story), wait_column("low", story)},
              .rows = {}};
  for_each_row(story, [&](const std::string& name, const Paper* paper, std::optional<std::size_t> month) {
    const auto waits = [&](const std::string& key) {
      return month ? story.outcome.runs.at(key)[*month] : story.outcome.year(key);
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

Table table_3(const Story& story) {
  Table table{.id = "table 3",
              .title = "Table 3: the five heuristics, over all jobs",
              .source =
                  "Table 3, gains from the text of 5.2; loss is against ascending scheduled time with equal "
                  "priorities, gap is low less high",
              .row_name = "heuristic",
              .columns = {wait_column("equal", story),
                          {"gain", "%", 1, kGainBand},
                          wait_column("unequal", story),
                          {"loss", "%", 1, kGainBand},
                          wait_column("high", story),
                          wait_column("low", story),
                          {"gap", "s", 1}},
              .rows = {}};
  const bool compares = story.is_whole_year();
  const auto paper = [compares](double value) { return compares ? std::optional{value} : std::nullopt; };
  for (const auto& row : kHeuristics) {
    const std::string equal = fmt::format("equal {}", row.heuristic),
                      unequal = fmt::format("unequal {}", row.heuristic);
    table.rows.push_back({std::string{row.name},
                          {{story.all(equal), paper(row.equal)},
                           {story.gain(equal), paper(row.improvement_percent)},
                           {story.all(unequal), paper(row.unequal)},
                           {(story.all(unequal) / story.all("equal ast") - 1) * 100, paper(row.loss_percent)},
                           {story.high(unequal), paper(row.high)},
                           {story.low(unequal), paper(row.low)},
                           {story.low(unequal) - story.high(unequal), paper(row.gap)}}});
  }
  return table;
}

std::string key_of_factor(int factor) { return factor == 3 ? "equal ast" : fmt::format("sf {}", factor); }
std::string key_of_gap(double gap) {
  return gap == 0 ? "equal ast" : gap == 2 ? "unequal ast" : fmt::format("gap {}", gap);
}

Section figure_9(const Story& story) {
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
    if (!story.has(key)) continue;
    ours.points.push_back({static_cast<double>(factor), story.all(key)});
    std::optional<double> printed;
    if (story.is_whole_year() && factor == 3) printed = kYear.improvement_percent;
    if (story.is_whole_year() && factor == 9) printed = slack_paper::kImprovementAtNine;
    if (printed) paper.points.push_back({static_cast<double>(factor), kYear.conservative * (1 - *printed / 100)});
    table.rows.push_back({fmt::format("{}", factor), {{story.all(key)}, {story.gain(key), printed}}});
  }
  const double level = story.conservative();
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

Section figure_10(const Story& story) {
  CurveChart chart{.title = "Wait by priority gap",
                   .x_name = "gap: user + political priority of every fifth job",
                   .y_name = "average wait, s",
                   .curves = {}};
  Table table{.id = "figure 10",
              .title = "Figure 10 in numbers",
              .source = "Table 2's last row; the figure itself has no numbers",
              .row_name = "gap",
              .columns = {wait_column("all", story), wait_column("high", story), wait_column("low", story)},
              .rows = {},
              .notes = {"At gap 0, high and low are the same fifth and the others, without priorities."}};
  Curve all{.name = "all, ours", .points = {}}, high{.name = "high, ours", .points = {}, .colour = 1},
      low{.name = "low, ours", .points = {}, .colour = 2};
  for (const double gap : {0.0, 0.5, 1.0, 1.5, 2.0}) {
    const std::string key = key_of_gap(gap);
    if (!story.has(key)) continue;
    all.points.push_back({gap, story.all(key)});
    high.points.push_back({gap, story.high(key)});
    low.points.push_back({gap, story.low(key)});
    Row row{fmt::format("{}", gap), {{story.all(key)}, {story.high(key)}, {story.low(key)}}};
    if (story.is_whole_year() && gap == 0) row.values[0].paper = kYear.equal;
    if (story.is_whole_year() && gap == 2) {
      row.values[0].paper = kYear.unequal_all;
      row.values[1].paper = kYear.unequal_high;
      row.values[2].paper = kYear.unequal_low;
    }
    table.rows.push_back(std::move(row));
  }
  chart.curves = {all, high, low};
  if (story.is_whole_year())
    chart.curves.push_back(
        {.name = "all, paper", .points = {{0, kYear.equal}, {2, kYear.unequal_all}}, .is_paper = true});
  return {.title = "Figure 10: the priority gap", .figures = {{"Figure 10", {chart}}}, .tables = {table}};
}

Table variants(const Story& story) {
  Table table{.id = "text of section 5",
              .title = "What the text tells without numbers",
              .source = {},
              .row_name = "variant",
              .columns = {{"all", "s", 1}, {"high", "s", 1}, {"low", "s", 1}, {"gap", "s", 1}, {"gain", "%", 1}},
              .rows = {}};
  const auto add = [&](std::string name, const std::string& key) {
    table.rows.push_back({std::move(name),
                          {{story.all(key)},
                           {story.high(key)},
                           {story.low(key)},
                           {story.low(key) - story.high(key)},
                           {story.gain(key)}}});
  };
  add("equal priorities", "equal ast");
  add("equal, AWT of each month", "monthly average");
  add("unequal priorities", "unequal ast");
  add("unequal, alpha_p = 1, others 0.2", "priority weighs more");
  return table;
}

// ---- statements ----

std::string seconds_text(double value) { return fmt::format("{:.1f} s", value); }

Check promise_check(const Story& story) {
  std::size_t watched = 0, broken = 0, jobs = 0;
  for (const auto& [key, months] : story.outcome.runs) {
    const MonthWaits year = story.outcome.year(key);
    watched += year.watched, broken += year.broken;
    if (year.watched > 0) jobs += year.all.jobs;
  }
  return {.statement = "No job starts later than the start first planned for it plus its first slack (4.2)",
          .holds = broken == 0 && watched > 0,
          .found = fmt::format("{} broken promises among {} starts of all runs; the other {} came in one second with a "
                               "later one, so their first plan is not seen",
                               broken, watched, jobs - watched)};
}

Check heuristics_check(const Story& story) {
  Check check{
      .statement = "All five heuristics wait less than conservative backfilling (5.2)", .holds = true, .found = {}};
  for (const auto& row : kHeuristics) {
    const double gain = story.gain(fmt::format("equal {}", row.heuristic));
    check.holds = check.holds && gain > 0;
    check.found += fmt::format("{}{} {:.1f} %", check.found.empty() ? "less by " : ", ", row.heuristic, gain);
  }
  return check;
}

Check order_check(const Story& story) {
  auto rows = kHeuristics;
  std::ranges::sort(rows, {}, [&](const auto& row) { return story.all(fmt::format("equal {}", row.heuristic)); });
  std::string found;
  for (const auto& row : rows) found += fmt::format("{}{}", found.empty() ? "" : " < ", row.heuristic);
  return {.statement = "Ascending scheduled time waits least, descending utilisation most (Table 3)",
          .holds = rows.front().heuristic == "ast" && rows.back().heuristic == "du",
          .found = found};
}

Check gap_check(const Story& story) {
  constexpr double kClose = 0.05;
  Check check{.statement =
                  "But for the largest gap, the wait of all jobs stays close to that of equal priorities (5.3; here: "
                  "within 5 %)",
              .holds = true,
              .found = {}};
  for (const double gap : {0.5, 1.0, 1.5}) {
    if (!story.has(key_of_gap(gap))) continue;
    const double loss = story.all(key_of_gap(gap)) / story.all("equal ast") - 1;
    check.holds = check.holds && std::abs(loss) <= kClose;
    check.found += fmt::format("{}gap {}: {:+.1f} %", check.found.empty() ? "" : ", ", gap, loss * 100);
  }
  check.found += fmt::format(", gap 2: {:+.1f} %", (story.all("unequal ast") / story.all("equal ast") - 1) * 100);
  return check;
}

std::vector<Check> checks(const Story& story) {
  const double gain = story.gain("equal ast"), gain_nine = story.gain("sf 9");
  const std::string unequal = "unequal ast", weighs = "priority weighs more";
  const double gap = story.low(unequal) - story.high(unequal), gap_weighs = story.low(weighs) - story.high(weighs);
  return {
      {.statement = "Slack-based backfilling waits 16.5 % less than conservative (Table 1; here: between 10 and 20 %)",
       .holds = gain >= 10 && gain <= 20,
       .found = fmt::format("{:.1f} % less: {} against {}", gain, seconds_text(story.all("equal ast")),
                            seconds_text(story.conservative()))},
      heuristics_check(story),
      order_check(story),
      {.statement = "More slack helps a little: 19.25 % with SF = 9 (5.2)",
       .holds = gain_nine > gain,
       .found = fmt::format("{:.1f} % with 9, {:.1f} % with 3", gain_nine, gain)},
      {.statement = "Without slack (SF = 0) it is conservative backfilling",
       .holds = story.all("sf 0") == story.all("conservative instant"),
       .found = fmt::format("{} and {}, one pass an instant", seconds_text(story.all("sf 0")),
                            seconds_text(story.all("conservative instant")))},
      promise_check(story),
      {.statement = "High priority waits less than all, low priority more (Table 2)",
       .holds = story.high(unequal) < story.all(unequal) && story.all(unequal) < story.low(unequal),
       .found = fmt::format("{} < {} < {}", seconds_text(story.high(unequal)), seconds_text(story.all(unequal)),
                            seconds_text(story.low(unequal)))},
      {.statement = "High priority waits less than all jobs with equal priorities (5.3)",
       .holds = story.high(unequal) < story.all("equal ast"),
       .found = fmt::format("{} against {}", seconds_text(story.high(unequal)), seconds_text(story.all("equal ast")))},
      {.statement = "Priorities cost something, and all jobs still wait less than under conservative (5.3)",
       .holds = story.all(unequal) > story.all("equal ast") && story.all(unequal) < story.conservative(),
       .found = fmt::format("{} < {} < {}", seconds_text(story.all("equal ast")), seconds_text(story.all(unequal)),
                            seconds_text(story.conservative()))},
      gap_check(story),
      {.statement = "The average wait of each month as AWT saves a few per cent more (5.2)",
       .holds = story.gain("monthly average") > gain,
       .found = fmt::format("{:.1f} % with it, {:.1f} % with 2401 s", story.gain("monthly average"), gain)},
      {.statement = "alpha_p = 1 with the others 0.2 widens the gap a little, and both groups wait longer (5.3)",
       .holds = gap_weighs > gap && story.high(weighs) > story.high(unequal) && story.low(weighs) > story.low(unequal),
       .found = fmt::format("gap {} against {}; high {} against {}, low {} against {}", seconds_text(gap_weighs),
                            seconds_text(gap), seconds_text(story.high(weighs)), seconds_text(story.high(unequal)),
                            seconds_text(story.low(weighs)), seconds_text(story.low(unequal)))},
  };
}

report::BarChart month_bars(const Story& story, bool is_paper) {
  report::BarChart chart{.title = is_paper ? "Paper" : "Ours",
                         .x_name = "month",
                         .y_name = "average wait, s",
                         .labels = {},
                         .series = {{"conservative", {}}, {"slack, SF = 3", {}}}};
  for (std::size_t m = 0; m < story.outcome.months.size(); ++m) {
    const auto* paper = paper_month(story.outcome.months[m]);
    if (is_paper && paper == nullptr) continue;
    chart.labels.push_back(story.outcome.months[m]);
    const double conservative = story.outcome.runs.at("conservative")[m].all.mean_s();
    chart.series[0].values.push_back(is_paper ? paper->conservative : conservative);
    chart.series[1].values.push_back(is_paper ? paper->equal : story.outcome.runs.at("equal ast")[m].all.mean_s());
  }
  return chart;
}

}  // namespace

Result slack_result(const SlackOutcome& outcome, bool quick, const std::string& source) {
  const Story story{outcome};
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
  if (!story.is_whole_year())
    result.limits.push_back(
        fmt::format("{} of 12 months: the paper's numbers of the year stand beside nothing", outcome.months.size()));
  result.checks = checks(story);
  Section tables{.title = "Tables", .figures = {{"Table 1 as bars", {month_bars(story, false)}}}};
  if (!month_bars(story, true).labels.empty()) tables.figures[0].panels.emplace_back(month_bars(story, true));
  tables.tables = {table_1(story), table_2(story), table_3(story)};
  result.sections = {std::move(tables),
                     figure_9(story),
                     figure_10(story),
                     {.title = "More of section 5", .tables = {variants(story)}}};
  return result;
}

}  // namespace replay::study
