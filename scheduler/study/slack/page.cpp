// The page of the slack paper: Tables 1 to 3, Figures 9 and 10, and what its text says.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scheduler/study/sheet.hpp"
#include "scheduler/study/slack/numbers.hpp"
#include "scheduler/study/slack/study.hpp"
#include "scheduler/study/statements.hpp"

namespace replay::study {
namespace {

using slack_paper::kHeuristics;
using slack_paper::kMonths;

constexpr Band kWaitBand{.relative = 0.25, .absolute = 10};
constexpr Band kGainBand{.absolute = 6};  // percentage points

std::vector<Line> months(const Findings& found) {
  std::vector<Line> lines;
  for (const std::string_view month : kMonths)
    if (found.has(fmt::format("{}/conservative", month))) lines.push_back({std::string{month}});
  return lines;
}
bool is_whole_year(const Findings& found) { return months(found).size() == kMonths.size(); }

// The reasons why waits differ, only those that hold for the months that were run.
std::string why_waits_differ(const Findings& found) {
  std::string why;
  const std::vector<Line> lines = months(found);
  if (const auto jobs = found.by_seed(fmt::format("{}/conservative/jobs all", kMonths.front()));
      !jobs.empty() && jobs.front() != slack_paper::kJobsOfSeptember)
    why = fmt::format("the months do not hold the very same jobs ({} in September, {} in the paper)", jobs.front(),
                      slack_paper::kJobsOfSeptember);
  if (std::ranges::all_of(lines, [&](const Line& month) {
        return slack_printed().at("table 1", month.name, "conservative") >
               found.mean("{}/conservative/wait all", month.name);
      }))
    add_item(why, "; ", "{}",
             "the paper's waits lie above ours under conservative backfilling in all of these months too, so the level "
             "differs before slack comes in; what can be compared is the gain");
  return why;
}

// A sheet of which some columns are waits to compare.
class WaitSheet : public Sheet {
 public:
  WaitSheet(const Findings& found, Head head, std::vector<Line> lines)
      : Sheet(found, std::move(head), std::move(lines)), why_(why_waits_differ(found)) {}
  void wait(const char* name, std::string_view path) { mean({name, "s", 1, kWaitBand, why_}, path); }

 private:
  std::string why_;
};

// The months, and the year.
std::vector<Line> months_and_all(const Findings& found) {
  std::vector<Line> lines = months(found);
  lines.push_back({.name = "all", .in_print = is_whole_year(found) ? "all" : ""});
  return lines;
}

Table table_1(const Findings& found) {
  WaitSheet sheet{found,
                  {"table 1", "Table 1: average wait, conservative and slack-based backfilling", "month",
                   "Table 1; SF = 3, AWT = 2401 s, ascending scheduled time, all priorities 0",
                   "The last row is over all jobs, not over months, as in the paper. Records that are no jobs (no "
                   "processors) do not count."},
                  months_and_all(found)};
  sheet.mean({"jobs", "", 0}, "*/equal ast/jobs all");
  sheet.wait("conservative", "*/conservative/wait all");
  sheet.wait("slack", "*/equal ast/wait all");
  sheet.less({"gain", "%", 1, kGainBand}, "*/equal ast", "*/conservative", "wait all");
  return sheet.table();
}

Table table_2(const Findings& found) {
  WaitSheet sheet{found,
                  {"table 2", "Table 2: average wait when every fifth job has user and political priority 1", "month",
                   "Table 2; November's low priority is printed as 1882.3 and must be 4882.3, as all = 0.2 high + 0.8 "
                   "low in every other row"},
                  months_and_all(found)};
  sheet.wait("equal, all", "*/equal ast/wait all");
  sheet.wait("unequal, all", "*/unequal ast/wait all");
  sheet.wait("high", "*/unequal ast/wait high");
  sheet.wait("low", "*/unequal ast/wait low");
  return sheet.table();
}

Table table_3(const Findings& found) {
  std::vector<Line> lines;
  lines.reserve(kHeuristics.size());
  for (const auto& [key, name] : kHeuristics)
    lines.push_back({std::string{name}, std::string{key}, std::string{is_whole_year(found) ? name : ""}});
  WaitSheet sheet{found,
                  {"table 3", "Table 3: the five heuristics, over all jobs", "heuristic",
                   "Table 3, gains from the text of 5.2; loss is against ascending scheduled time with equal "
                   "priorities, gap is low less high"},
                  std::move(lines)};
  sheet.wait("equal", "all/equal */wait all");
  sheet.less({"gain", "%", 1, kGainBand}, "all/equal *", "all/conservative", "wait all");
  sheet.wait("unequal", "all/unequal */wait all");
  sheet.more({"loss", "%", 1, kGainBand}, "all/unequal *", "all/equal ast", "wait all");
  sheet.wait("high", "all/unequal */wait high");
  sheet.wait("low", "all/unequal */wait low");
  sheet.mean({"gap", "s", 1}, "all/unequal */gap");
  return sheet.table();
}

// A line for each number whose run there is.
std::vector<Line> swept(const Findings& found, std::initializer_list<double> numbers, const auto& name_of) {
  std::vector<Line> lines;
  for (const double number : numbers) {
    const std::string name = fmt::format("{}", number);
    lines.push_back({name, fmt::format("all/{}", name_of(number)), is_whole_year(found) ? name : ""});
  }
  return lines_that_ran(found, std::move(lines));
}

Section figure_9(const Findings& found) {
  Sheet sheet{found,
              {"figure 9", "Figure 9 in numbers", "SF", "text of 5.2; the figure itself has no numbers"},
              swept(found, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                    [](double factor) { return factor == 3 ? "equal ast" : fmt::format("sf {}", factor); })};
  sheet.mean({"average wait", "s", 1}, "*/wait all");
  sheet.less({"gain", "%", 1, kGainBand}, "*", "all/conservative", "wait all");
  const Table& table = sheet.table();
  Curve ours{.name = "slack, ours"}, paper{.name = "slack, paper", .is_paper = true};
  const double level = found.mean("all/conservative/wait all"),
               printed = slack_printed().at("table 1", "all", "conservative");
  for (const Row& row : table.rows) {
    const double factor = std::stod(row.name);
    ours.points.push_back({factor, row.values[0].ours});
    if (const auto gain = row.values[1].paper) paper.points.push_back({factor, printed * (1 - *gain / 100)});
  }
  CurveChart chart{.title = "Wait by slack factor", .x_name = "slack factor SF", .y_name = "average wait, s"};
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
          .tables = {table}};
}

std::string run_of_gap(double gap) {
  return gap == 0 ? "equal ast" : gap == 2 ? "unequal ast" : fmt::format("gap {}", gap);
}

Section figure_10(const Findings& found) {
  WaitSheet sheet{found,
                  {"figure 10", "Figure 10 in numbers", "gap", "Table 2's last row; the figure itself has no numbers",
                   "At gap 0, high and low are the same fifth and the others, without priorities."},
                  swept(found, {0.0, 0.5, 1.0, 1.5, 2.0}, run_of_gap)};
  for (const char* group : {"all", "high", "low"}) sheet.wait(group, fmt::format("*/wait {}", group));
  return {.title = "Figure 10: the priority gap",
          .figures = {{"Figure 10",
                       {curves_of(sheet.table(), {.title = "Wait by priority gap",
                                                  .x_name = "gap: user + political priority of every fifth job",
                                                  .y_name = "average wait, s"})}}},
          .tables = {sheet.table()}};
}

Table variants(const Findings& found) {
  Sheet sheet{found,
              {"text of section 5", "What the text tells without numbers", "variant"},
              {{"equal priorities", "all/equal ast"},
               {"equal, AWT of each month", "all/monthly average"},
               {"unequal priorities", "all/unequal ast"},
               {"unequal, alpha_p = 1, others 0.2", "all/priority weighs more"}}};
  sheet.mean({"all", "s", 1}, "*/wait all");
  sheet.mean({"high", "s", 1}, "*/wait high");
  sheet.mean({"low", "s", 1}, "*/wait low");
  sheet.mean({"gap", "s", 1}, "*/gap");
  sheet.less({"gain", "%", 1}, "*", "all/conservative", "wait all");
  return sheet.table();
}

// ---- statements ----

std::string seconds_text(double value) { return fmt::format("{:.1f} s", value); }

// Of the year: a group's wait, and how much less all jobs wait than under conservative backfilling.
double wait(const Findings& found, std::string_view run, std::string_view group = "all") {
  return found.mean("all/{}/wait {}", run, group);
}
double gain(const Findings& found, std::string_view run) {
  return found.less(fmt::format("all/{}", run), "all/conservative", "wait all");
}

// Adds "A < B < C"; two are compared as they are.
void add_rising(Check& check, double least, double middle, double most) {
  check.add(least < middle && middle < most, "{} < {} < {}", seconds_text(least), seconds_text(middle),
            seconds_text(most));
}

constexpr Statement kStatements[] = {
    {"Slack-based backfilling waits 16.5 % less than conservative (Table 1; here: between 10 and 20 %)",
     [](Check& check, const Findings& found) {
       const double less = gain(found, "equal ast");
       check.add(less >= 10 && less <= 20, "{:.1f} % less: {} against {}", less, seconds_text(wait(found, "equal ast")),
                 seconds_text(wait(found, "conservative")));
     }},
    {"All five heuristics wait less than conservative backfilling (5.2)",
     [](Check& check, const Findings& found) {
       for (const auto& row : kHeuristics) {
         const double less = gain(found, fmt::format("equal {}", row.key));
         check.list(less > 0, ", ", "{} {:.1f} %", row.key, less);
       }
       check.found = "less by " + check.found;
     }},
    {"Ascending scheduled time waits least, descending utilisation most (Table 3)",
     [](Check& check, const Findings& found) {
       auto rows = kHeuristics;
       std::ranges::sort(rows, {}, [&](const auto& row) { return wait(found, fmt::format("equal {}", row.key)); });
       for (const auto& row : rows) check.list(true, " < ", "{}", row.key);
       check.holds = rows.front().key == "ast" && rows.back().key == "du";
     }},
    {"More slack helps a little: 19.25 % with SF = 9 (5.2)",
     [](Check& check, const Findings& found) {
       const double nine = gain(found, "sf 9"), three = gain(found, "equal ast");
       check.add(nine > three, "{:.1f} % with 9, {:.1f} % with 3", nine, three);
     }},
    {"Without slack (SF = 0) it is conservative backfilling",
     [](Check& check, const Findings& found) {
       const double zero = wait(found, "sf 0"), conservative = wait(found, "conservative instant");
       check.add(zero == conservative, "{} and {}, one pass an instant", seconds_text(zero),
                 seconds_text(conservative));
     }},
    {"No job starts later than the start first planned for it plus its first slack (4.2)",
     [](Check& check, const Findings& found) {
       double watched = 0, broken = 0, jobs = 0;
       for (const SlackRun& run : slack_runs(false)) {
         if (!found.has("all/" + run.name)) continue;
         const auto of = [&](const char* figure) { return found.mean("all/{}/{}", run.name, figure); };
         watched += of("watched"), broken += of("broken");
         if (of("watched") > 0) jobs += of("jobs all");
       }
       check.add(broken == 0 && watched > 0,
                 "{} broken promises among {} starts of all runs; the other {} came in one second with a later one, so "
                 "their first plan is not seen",
                 broken, watched, jobs - watched);
     }},
    {"High priority waits less than all, low priority more (Table 2)",
     [](Check& check, const Findings& found) {
       add_rising(check, wait(found, "unequal ast", "high"), wait(found, "unequal ast"),
                  wait(found, "unequal ast", "low"));
     }},
    {"High priority waits less than all jobs with equal priorities (5.3)",
     [](Check& check, const Findings& found) {
       const double high = wait(found, "unequal ast", "high"), equal = wait(found, "equal ast");
       check.add(high < equal, "{} against {}", seconds_text(high), seconds_text(equal));
     }},
    {"Priorities cost something, and all jobs still wait less than under conservative (5.3)",
     [](Check& check, const Findings& found) {
       add_rising(check, wait(found, "equal ast"), wait(found, "unequal ast"), wait(found, "conservative"));
     }},
    {"But for the largest gap, the wait of all jobs stays close to that of equal priorities (5.3; here: within 5 %)",
     [](Check& check, const Findings& found) {
       for (const double gap : {0.5, 1.0, 1.5, 2.0}) {
         const std::string cell = "all/" + run_of_gap(gap);
         if (!found.has(cell)) continue;
         const double loss = found.more(cell, "all/equal ast", "wait all");
         check.list(gap == 2 || std::abs(loss) <= 5, ", ", "gap {}: {:+.1f} %", gap, loss);
       }
     }},
    {"The average wait of each month as AWT saves a few per cent more (5.2)",
     [](Check& check, const Findings& found) {
       const double monthly = gain(found, "monthly average"), three = gain(found, "equal ast");
       check.add(monthly > three, "{:.1f} % with it, {:.1f} % with 2401 s", monthly, three);
     }},
    {"alpha_p = 1 with the others 0.2 widens the gap a little, and both groups wait longer (5.3)",
     [](Check& check, const Findings& found) {
       const auto more = [&](const char* figure) {
         const double ours = found.mean("all/priority weighs more/{}", figure),
                      base = found.mean("all/unequal ast/{}", figure);
         check.holds = check.holds && ours > base;
         return fmt::format("{} against {}", seconds_text(ours), seconds_text(base));
       };
       check.found = fmt::format("gap {}; high {}, low {}", more("gap"), more("wait high"), more("wait low"));
     }},
};

// ---- the page ----

Figure month_bars(const Findings& found) {
  Sheet sheet{found, {}, months(found), "table 1"};
  sheet.mean({"conservative"}, "*/conservative/wait all");
  sheet.mean({"slack"}, "*/equal ast/wait all");
  return {"Table 1 as bars",
          {bars_of(sheet.table(), {.title = "Ours", .x_name = "month", .y_name = "average wait, s"}),
           bars_of(sheet.table(), {.title = "Paper", .x_name = "month", .y_name = "average wait, s"}, true)}};
}

}  // namespace

Result slack_result(const Findings& found, bool quick, const std::string& source) {
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
  if (!is_whole_year(found))
    result.limits.push_back(
        fmt::format("{} of 12 months: the paper's numbers of the year stand beside nothing", months(found).size()));
  result.checks = judged<Findings>(found, kStatements);
  result.sections = {
      {.title = "Tables", .figures = {month_bars(found)}, .tables = {table_1(found), table_2(found), table_3(found)}},
      figure_9(found),
      figure_10(found),
      {.title = "More of section 5", .tables = {variants(found)}}};
  return result;
}

}  // namespace replay::study
