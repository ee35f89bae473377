// The page of the FCFS-malleable paper: Figures 2 and 3, Tables 2 and 3, the study of long jobs' CPU use, and what its
// text says.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/study/fcfs_malleable/numbers.hpp"
#include "scheduler/study/fcfs_malleable/simulated_values.hpp"
#include "scheduler/study/fcfs_malleable/study.hpp"

namespace replay::study {
namespace {

namespace paper = malleable_paper;
using namespace malleable;
using SimulatedValues = MalleableValues;

const paper::LogRow* paper_log(const std::string& name) {
  const auto found = std::ranges::find(paper::kLogs, name, &paper::LogRow::log);
  return found == paper::kLogs.end() ? nullptr : &*found;
}

// ---- Figure 2 ----

std::vector<Table> figure_2(const std::vector<Figure2Outcome>& rows) {
  constexpr Band kExact{.absolute = 0.01};
  Table averages{.id = "figure 2",
                 .title = "Figure 2: six jobs on ten CPUs, averages",
                 .source = "Figure 2 and section 3.1, which cuts off after two decimals: these are the sums over six",
                 .row_name = "policy",
                 .columns = {{"response", "time units", 3, kExact},
                             {"slowdown", "ratio", 3, kExact},
                             {"fragmentation", "%", 2, kExact,
                              "0 % cannot be had together with the figure's \"J6 starts expanded\": four CPUs are free "
                              "for one time unit while J6 waits, 4 of 60"}},
                 .rows = {},
                 .notes = {"Sizes 8, 5, 1, 8, 4, 10, of which the paper prints the first; 8, 4, 2, 8, 4, 10 fits as "
                           "well. Half the CPUs are half the speed."}};
  Table times{.id = "figure 2, starts and ends",
              .title = "Figure 2: every start and end",
              .source = "Figure 2, in time units",
              .row_name = "policy",
              .columns = {},
              .rows = {}};
  for (const std::string_view kind : {"start", "end"})
    for (std::size_t j = 1; j <= paper::kFigure2Sizes.size(); ++j)
      times.columns.push_back({fmt::format("{} J{}", kind, j), "", 0, Band{}});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto& printed = paper::kFigure2[r];
    averages.rows.push_back({rows[r].policy,
                             {{rows[r].response, printed.response},
                              {rows[r].slowdown, printed.slowdown},
                              {percent(rows[r].fragmentation), printed.fragmentation_percent}}});
    Row line{rows[r].policy, {}};
    for (std::size_t j = 0; j < printed.starts.size(); ++j)
      line.values.push_back({rows[r].starts[j], printed.starts[j]});
    for (std::size_t j = 0; j < printed.ends.size(); ++j) line.values.push_back({rows[r].ends[j], printed.ends[j]});
    times.rows.push_back(std::move(line));
  }
  return {averages, times};
}

// ---- Table 2 ----

Table table_2(const SimulatedValues& simulated) {
  constexpr Band kShare{.absolute = 5};
  Table table{
      .id = "table 2",
      .title = "Table 2: the logs",
      .source =
          "Table 2; requested over CPUs is read as what running and waiting jobs ask for, mean over time, under EASY",
      .row_name = "log",
      .columns = {{"CPUs", "", 0},
                  {"jobs", "", 0},
                  {"with CPU use", "%", 1},
                  {"CPU use", "%", 1, kShare,
                   "the mean over the jobs of our copy of the log, of each that tells its CPU time; serial jobs "
                   "without it count as 100 %, parallel ones as the paper's mean"},
                  {"long jobs", "", 0},
                  {"their CPU use", "%", 1, kShare,
                   "as for all jobs; where the log does not tell CPU times, long jobs too have the stand-in"},
                  {"requested/CPUs", "ratio", 2, Band{.relative = 0.25},
                   "the paper does not say over what it averages; this is one reading"}},
      .rows = {}};
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l) {
    const auto& log = simulated.outcome.logs[l];
    const paper::LogRow* row = paper_log(log.name);
    const MalleableRun* easy = simulated.outcome.find(l, simulated.main_range(l), kEasy);
    const auto printed = [&](double paper::LogRow::*member) {
      return row == nullptr ? std::nullopt : std::optional{row->*member};
    };
    table.rows.push_back({log.name,
                          {{static_cast<double>(log.processors)},
                           {static_cast<double>(log.jobs)},
                           {percent(static_cast<double>(log.with_cpu_use) / static_cast<double>(log.jobs))},
                           {percent(log.mean_cpu_use), printed(&paper::LogRow::cpu_use_percent)},
                           {static_cast<double>(log.long_jobs)},
                           {percent(log.mean_long_cpu_use), printed(&paper::LogRow::long_cpu_use_percent)},
                           {easy->demand, printed(&paper::LogRow::requested_over_cpus)}}});
    table.notes.push_back(fmt::format("{}: {}", log.name, log.file));
  }
  return table;
}

// ---- Figure 3 and Table 3 ----

// The mean over all logs, each with its range number `reading`; nothing if a log does not have so many.
std::optional<Row> mean_row(const SimulatedValues& simulated, std::size_t reading) {
  double response = 0, slowdown = 0;
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l) {
    const auto& ranges = simulated.outcome.logs[l].ranges;
    if (reading >= ranges.size()) return std::nullopt;
    response += simulated.change(l, ranges[reading], kMalleable, "mean_response");
    slowdown += simulated.change(l, ranges[reading], kMalleable, "mean_slowdown");
  }
  const auto logs = static_cast<double>(simulated.outcome.logs.size());
  const bool compares = simulated.outcome.logs.size() == paper::kLogs.size();
  Row row{fmt::format("mean over the logs ({} {} ...), {}", simulated.outcome.logs[0].name,
                      simulated.outcome.logs[0].ranges[reading], kMalleable),
          {{}, {}, {}, {}, {}, {}}};
  row.values[4] = {response / logs, compares ? std::optional{-paper::kResponseGainPercent} : std::nullopt};
  row.values[5] = {slowdown / logs, compares ? std::optional{-paper::kSlowdownGainPercent} : std::nullopt};
  return row;
}

Table figure_3_table(const SimulatedValues& simulated) {
  Table table{
      .id = "figure 3",
      .title = "Figure 3 in numbers, and easy-malleable, which the paper has in mind as future work",
      .source = "section 6: over all logs 31 % less response and 28 % less slowdown; the figure itself has no numbers",
      .row_name = "log, jobs, policy",
      .columns = {{"wait", "s", 0},
                  {"execution", "s", 0},
                  {"response", "s", 0},
                  {"slowdown", "ratio", 1},
                  {"response against easy", "%", 1, Band{.absolute = 10}, std::string{kWhyRange}},
                  {"slowdown against easy", "%", 1, Band{.absolute = 10}, std::string{kWhyRange}}},
      .rows = {}};
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l)
    for (const std::string& range : simulated.outcome.logs[l].ranges)
      for (const std::string_view policy : malleable_policies())
        table.rows.push_back({fmt::format("{}, {}, {}", simulated.outcome.logs[l].name, range, policy),
                              {{simulated.value(l, range, policy, "mean_wait")},
                               {simulated.value(l, range, policy, "mean_execution")},
                               {simulated.value(l, range, policy, "mean_response")},
                               {simulated.value(l, range, policy, "mean_slowdown")},
                               {simulated.change(l, range, policy, "mean_response")},
                               {simulated.change(l, range, policy, "mean_slowdown")}}});
  for (std::size_t reading = 0; reading < simulated.outcome.logs.front().ranges.size(); ++reading)
    if (auto row = mean_row(simulated, reading)) table.rows.push_back(std::move(*row));
  return table;
}

Figure figure_3(const SimulatedValues& simulated) {
  Figure figure{.title = "Figure 3: EASY and FCFS-malleable", .panels = {}};
  struct Panel {
    std::string_view metric, title, y_name;
  };
  for (const Panel& panel : {Panel{"mean_wait", "(a) Wait", "average wait, s"},
                             Panel{"mean_execution", "(b) Execution", "average execution time, s"},
                             Panel{"mean_response", "(c) Response", "average response time, s"},
                             Panel{"mean_slowdown", "(d) Slowdown", "average slowdown"}}) {
    report::BarChart chart{.title = std::string{panel.title},
                           .x_name = "log",
                           .y_name = std::string{panel.y_name},
                           .labels = {},
                           .series = {{"EASY", {}}, {"FCFS-malleable", {}}}};
    for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l) {
      chart.labels.push_back(fmt::format("{}, {}", simulated.outcome.logs[l].name, simulated.main_range(l)));
      chart.series[0].values.push_back(simulated.value(l, simulated.main_range(l), kEasy, panel.metric));
      chart.series[1].values.push_back(simulated.value(l, simulated.main_range(l), kMalleable, panel.metric));
    }
    figure.panels.emplace_back(std::move(chart));
  }
  return figure;
}

Table table_3(const SimulatedValues& simulated) {
  constexpr Band kMpl{.absolute = 0.1}, kFragmentation{.absolute = 3};
  const std::string why{kWhyRange};
  const std::string why_free{kWhyFree};
  Table table{
      .id = "table 3",
      .title = "Table 3: average MPL; fragmentation",
      .source = "Table 3; fragmentation from the text of 5.1 (EASY 6 % for CTC to 14 % for SDSC, FCFS-malleable none)",
      .row_name = "log, jobs",
      .columns = {{"MPL easy", "ratio", 2, kMpl, why},
                  {"MPL fcfs-malleable", "ratio", 2, kMpl, why},
                  {"MPL eager", "ratio", 2},
                  {"MPL easy-malleable", "ratio", 2},
                  {"fragmentation easy", "%", 1, kFragmentation, why},
                  {"fragmentation fcfs-malleable", "%", 1, kFragmentation, why_free},
                  {"fragmentation eager", "%", 1},
                  {"fragmentation easy-malleable", "%", 1}},
      .rows = {},
      .notes = {
          "MPL: processes over all CPUs, mean over time, idle time included. Eager: fcfs-malleable:expand=eager."}};
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l) {
    const paper::LogRow* row = paper_log(simulated.outcome.logs[l].name);
    for (const std::string& range : simulated.outcome.logs[l].ranges) {
      Row line{fmt::format("{}, {}", simulated.outcome.logs[l].name, range), {}};
      for (const std::string_view policy : {kEasy, kMalleable, kEager, kEasyMalleable})
        line.values.push_back({simulated.value(l, range, policy, "mean_mpl")});
      for (const std::string_view policy : {kEasy, kMalleable, kEager, kEasyMalleable})
        line.values.push_back({percent(simulated.value(l, range, policy, "fragmentation"))});
      if (row != nullptr) {
        line.values[0].paper = row->mpl_easy;
        line.values[1].paper = row->mpl_malleable;
        line.values[4].paper = row->fragmentation_easy_percent;
        line.values[5].paper = paper::kFragmentationMalleable;
      }
      table.rows.push_back(std::move(line));
    }
  }
  return table;
}

// ---- long jobs' CPU use on SDSC ----

Section sweep(const SimulatedValues& simulated, std::size_t sdsc) {
  const std::string& range = simulated.main_range(sdsc);
  Table table{.id = "long jobs' CPU use",
              .title = fmt::format("SDSC ({}), CPU use of long jobs forced", range),
              .source = {},
              .row_name = "CPU use of long jobs",
              .columns = {},
              .rows = {}};
  Figure figure{.title = "SDSC with other CPU use of its long jobs", .panels = {}};
  for (const std::string_view metric : {"mean_slowdown", "mean_response"}) {
    const bool is_slowdown = metric == "mean_slowdown";
    CurveChart chart{.title = is_slowdown ? "Slowdown" : "Response",
                     .x_name = "CPU use of long jobs, %",
                     .y_name = is_slowdown ? "average slowdown" : "average response time, s",
                     .curves = {}};
    std::size_t colour = 0;
    for (const std::string_view policy : malleable_policies()) {
      table.columns.push_back(
          {fmt::format("{} {}", is_slowdown ? "slowdown" : "response", policy == kEager ? "eager" : policy),
           is_slowdown ? "ratio" : "s", is_slowdown ? 1 : 0});
      Curve curve{.name = std::string{policy}, .points = {}, .colour = colour++};
      for (const double use : swept_uses(simulated.outcome)) {
        const double value = policy == kEasy ? simulated.value(sdsc, range, policy, metric)
                                             : simulated.value(sdsc, range, policy, metric, use);
        curve.points.push_back({percent(use), value});
      }
      chart.curves.push_back(std::move(curve));
    }
    figure.panels.emplace_back(std::move(chart));
  }
  for (const double use : swept_uses(simulated.outcome)) {
    Row row{fmt::format("{:.0f} %", percent(use)), {}};
    for (const std::string_view metric : {"mean_slowdown", "mean_response"})
      for (const std::string_view policy : malleable_policies())
        row.values.push_back({policy == kEasy ? simulated.value(sdsc, range, policy, metric)
                                              : simulated.value(sdsc, range, policy, metric, use)});
    table.rows.push_back(std::move(row));
  }
  return {.title = "Long jobs' CPU use",
          .text = {"The paper tells of this study in a sentence and leaves it out. Long jobs have more than 64 "
                   "processes and run for more than 8 hours. EASY shares no cores, so it is the same for all."},
          .figures = {figure},
          .tables = {table}};
}

}  // namespace

Result malleable_result(const MalleableOutcome& outcome, const std::vector<Figure2Outcome>& rows, bool quick) {
  const SimulatedValues simulated{outcome};
  Result result{
      .name = "fcfs-malleable",
      .title = "FCFS-malleable and virtual malleability, again",
      .paper =
          "G. Utrera, S. Tabik, J. Corbalan, J. Labarta: A Job Scheduling Approach for Multi-core Clusters Based on "
          "Virtual Malleability, Euro-Par 2012. Figures 2 and 3, Tables 2 and 3.",
      .about = {"One pool of processors, as in the paper's simulator; runtime model utrera, seed 1. Easy-malleable and "
                "expand=eager are ours.",
                "Table 1, the paper's simulator against its machine, is not here: it needs real runs, and this command "
                "only simulates. docs/workloads.md has the commands for its traces of 150 jobs."}};
  if (quick) result.limits.push_back("--quick: 5,000 jobs of each log, those from 20,000 (SDSC: 40,000) on");
  result.checks = malleable_checks(simulated);
  const auto sdsc = simulated.log_called(sdsc_sp2_log().name);
  result.sections = {{.title = "Figure 2: the example", .tables = figure_2(rows)},
                     {.title = "The logs", .tables = {table_2(simulated)}},
                     {.title = "Figure 3: EASY and FCFS-malleable",
                      .figures = {figure_3(simulated)},
                      .tables = {figure_3_table(simulated)}},
                     {.title = "MPL and fragmentation", .tables = {table_3(simulated)}}};
  if (sdsc) result.sections.push_back(sweep(simulated, *sdsc));
  return result;
}

}  // namespace replay::study
