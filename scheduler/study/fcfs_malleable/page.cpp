// The page of the FCFS-malleable paper: Figures 2 and 3, Tables 2 and 3, the study of long jobs' CPU use, and what its
// text says.

#include <fmt/format.h>

#include "scheduler/study/fcfs_malleable/numbers.hpp"
#include "scheduler/study/fcfs_malleable/simulated_values.hpp"
#include "scheduler/study/fcfs_malleable/study.hpp"
#include "scheduler/study/table_of.hpp"

namespace replay::study {
namespace {

namespace paper = malleable_paper;
using namespace malleable;
using SimulatedValues = MalleableValues;

std::string_view name_of(std::string_view policy) { return policy == kEager ? "eager" : policy; }

// ---- Figure 2 ----

using Printed2 = paper::Figure2Row;
// A policy: ours, and in the paper.
using Pair2 = std::pair<const Figure2Outcome*, const Printed2*>;

std::vector<Table> figure_2(const std::vector<Figure2Outcome>& rows) {
  constexpr Band kExact{.absolute = 0.01};
  TableOf<Pair2> averages{
      {.id = "figure 2",
       .title = "Figure 2: six jobs on ten CPUs, averages",
       .source = "Figure 2 and section 3.1, which cuts off after two decimals: these are the sums over six",
       .row_name = "policy",
       .notes = {
           "Sizes 8, 5, 1, 8, 4, 10, of which the paper prints the first; 8, 4, 2, 8, 4, 10 fits as well. Half the "
           "CPUs are half the speed."}}};
  averages.column(
      {"response", "time units", 3, kExact}, [](const Pair2& of) { return of.first->response; },
      [](const Pair2& of) { return of.second->response; });
  averages.column(
      {"slowdown", "ratio", 3, kExact}, [](const Pair2& of) { return of.first->slowdown; },
      [](const Pair2& of) { return of.second->slowdown; });
  averages.column(
      {"fragmentation", "%", 2, kExact,
       "0 % cannot be had together with the figure's \"J6 starts expanded\": four CPUs are free for one time "
       "unit while J6 waits, 4 of 60"},
      [](const Pair2& of) { return percent(of.first->fragmentation); },
      [](const Pair2& of) { return of.second->fragmentation_percent; });
  TableOf<Pair2> times{{.id = "figure 2, starts and ends",
                        .title = "Figure 2: every start and end",
                        .source = "Figure 2, in time units",
                        .row_name = "policy"}};
  const auto add = [&times](const char* kind, auto ours, auto printed) {
    for (std::size_t j = 0; j < paper::kFigure2Sizes.size(); ++j)
      times.column(
          {fmt::format("{} J{}", kind, j + 1), "", 0, Band{}},
          [j, ours](const Pair2& of) { return (of.first->*ours)[j]; },
          [j, printed](const Pair2& of) { return (of.second->*printed)[j]; });
  };
  add("start", &Figure2Outcome::starts, &Printed2::starts);
  add("end", &Figure2Outcome::ends, &Printed2::ends);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (TableOf<Pair2>* table : {&averages, &times}) table->row(rows[r].policy, {&rows[r], &paper::kFigure2[r]});
  return {averages.table(), times.table()};
}

// ---- Table 2 ----

Table table_2(const SimulatedValues& simulated) {
  constexpr Band kShare{.absolute = 5};
  using Facts = MalleableOutcome::LogFacts;
  TableOf<std::size_t> table{
      {.id = "table 2",
       .title = "Table 2: the logs",
       .source =
           "Table 2; requested over CPUs is read as what running and waiting jobs ask for, mean over time, under EASY",
       .row_name = "log"},
      malleable_printed()};
  const auto add = [&](Column column, auto value) {
    table.column(std::move(column),
                 [&simulated, value](std::size_t l) { return static_cast<double>(value(simulated.outcome.logs[l])); });
  };
  add({"CPUs", "", 0}, [](const Facts& log) { return log.processors; });
  add({"jobs", "", 0}, [](const Facts& log) { return log.jobs; });
  add({"with CPU use", "%", 1},
      [](const Facts& log) { return percent(static_cast<double>(log.with_cpu_use) / static_cast<double>(log.jobs)); });
  add({"CPU use", "%", 1, kShare,
       "the mean over the jobs of our copy of the log, of each that tells its CPU time; serial jobs without it count "
       "as "
       "100 %, parallel ones as the paper's mean"},
      [](const Facts& log) { return percent(log.mean_cpu_use); });
  add({"long jobs", "", 0}, [](const Facts& log) { return log.long_jobs; });
  add({"their CPU use", "%", 1, kShare,
       "as for all jobs; where the log does not tell CPU times, long jobs too have the stand-in"},
      [](const Facts& log) { return percent(log.mean_long_cpu_use); });
  table.column({"requested/CPUs", "ratio", 2, Band{.relative = 0.25},
                "the paper does not say over what it averages; this is one reading"},
               [&](std::size_t l) { return simulated.outcome.find(l, simulated.main_range(l), kEasy)->demand; });
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l) {
    const Facts& log = simulated.outcome.logs[l];
    table.row(log.name, l);
    table.note(fmt::format("{}: {}", log.name, log.file));
  }
  return table.table();
}

// ---- Figure 3 and Table 3 ----

// A part of a log's jobs.
struct Part {
  std::size_t log;
  std::string range;
  std::string_view policy{};
};

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
  const auto printed = [&](const char* column) {
    return malleable_printed().find("figure 3", simulated.outcome.logs.size() == paper::kLogs.size() ? "mean" : "",
                                    column);
  };
  Row row{fmt::format("mean over the logs ({} {} ...), {}", simulated.outcome.logs[0].name,
                      simulated.outcome.logs[0].ranges[reading], kMalleable),
          {{}, {}, {}, {}}};
  row.values.push_back({response / logs, printed("response against easy")});
  row.values.push_back({slowdown / logs, printed("slowdown against easy")});
  return row;
}

Table figure_3_table(const SimulatedValues& simulated) {
  TableOf<Part> table{
      {.id = "figure 3",
       .title = "Figure 3 in numbers, and easy-malleable, which the paper has in mind as future work",
       .source = "section 6: over all logs 31 % less response and 28 % less slowdown; the figure itself has no numbers",
       .row_name = "log, jobs, policy"}};
  const auto value = [&](const char* name, const char* unit, int decimals, const char* metric) {
    table.column({name, unit, decimals}, [&simulated, metric](const Part& part) {
      return simulated.value(part.log, part.range, part.policy, metric);
    });
  };
  value("wait", "s", 0, "mean_wait");
  value("execution", "s", 0, "mean_execution");
  value("response", "s", 0, "mean_response");
  value("slowdown", "ratio", 1, "mean_slowdown");
  const auto change = [&](const char* name, const char* metric) {
    table.column({name, "%", 1, Band{.absolute = 10}, std::string{kWhyRange}}, [&simulated, metric](const Part& part) {
      return simulated.change(part.log, part.range, part.policy, metric);
    });
  };
  change("response against easy", "mean_response");
  change("slowdown against easy", "mean_slowdown");
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l)
    for (const std::string& range : simulated.outcome.logs[l].ranges)
      for (const std::string_view policy : malleable_policies())
        table.row(fmt::format("{}, {}, {}", simulated.outcome.logs[l].name, range, policy), {l, range, policy});
  Table made = table.table();
  for (std::size_t reading = 0; reading < simulated.outcome.logs.front().ranges.size(); ++reading)
    if (auto row = mean_row(simulated, reading)) made.rows.push_back(std::move(*row));
  return made;
}

Figure figure_3(const SimulatedValues& simulated) {
  Figure figure{.title = "Figure 3: EASY and FCFS-malleable"};
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
  TableOf<Part> table{
      {.id = "table 3",
       .title = "Table 3: average MPL; fragmentation",
       .source = "Table 3; fragmentation from the text of 5.1 (EASY 6 % for CTC to 14 % for SDSC, FCFS-malleable none)",
       .row_name = "log, jobs",
       .notes = {"MPL: processes over all CPUs, mean over time, idle time included. Eager: "
                 "fcfs-malleable:expand=eager."}},
      malleable_printed()};
  for (const std::string_view policy : malleable_policies())
    table.column({fmt::format("MPL {}", name_of(policy)), "ratio", 2, kMpl, std::string{kWhyRange}},
                 [&, policy](const Part& part) { return simulated.value(part.log, part.range, policy, "mean_mpl"); });
  for (const std::string_view policy : malleable_policies())
    table.column({fmt::format("fragmentation {}", name_of(policy)), "%", 1, kFragmentation,
                  std::string{policy == kEasy ? kWhyRange : kWhyFree}},
                 [&, policy](const Part& part) {
                   return percent(simulated.value(part.log, part.range, policy, "fragmentation"));
                 });
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l)
    for (const std::string& range : simulated.outcome.logs[l].ranges)
      table.row(fmt::format("{}, {}", simulated.outcome.logs[l].name, range), {l, range},
                simulated.outcome.logs[l].name);
  return table.table();
}

// ---- long jobs' CPU use on SDSC ----

Section sweep(const SimulatedValues& simulated, std::size_t sdsc) {
  const std::string& range = simulated.main_range(sdsc);
  TableOf<double> table{{.id = "long jobs' CPU use",
                         .title = fmt::format("SDSC ({}), CPU use of long jobs forced", range),
                         .row_name = "CPU use of long jobs"}};
  Figure figure{.title = "SDSC with other CPU use of its long jobs"};
  for (const std::string_view metric : {"mean_slowdown", "mean_response"}) {
    const bool is_slowdown = metric == "mean_slowdown";
    CurveChart chart{.title = is_slowdown ? "Slowdown" : "Response",
                     .x_name = "CPU use of long jobs, %",
                     .y_name = is_slowdown ? "average slowdown" : "average response time, s"};
    for (const std::string_view policy : malleable_policies()) {
      const auto value = [&simulated, &range, sdsc, metric, policy](double use) {
        return simulated.value(sdsc, range, policy, metric, policy == kEasy ? std::nullopt : std::optional{use});
      };
      table.column({fmt::format("{} {}", is_slowdown ? "slowdown" : "response", name_of(policy)),
                    is_slowdown ? "ratio" : "s", is_slowdown ? 1 : 0},
                   value);
      Curve curve{.name = std::string{policy}, .colour = chart.curves.size()};
      for (const double use : swept_uses(simulated.outcome)) curve.points.push_back({percent(use), value(use)});
      chart.curves.push_back(std::move(curve));
    }
    figure.panels.emplace_back(std::move(chart));
  }
  for (const double use : swept_uses(simulated.outcome)) table.row(fmt::format("{:.0f} %", percent(use)), use);
  return {.title = "Long jobs' CPU use",
          .text = {"The paper tells of this study in a sentence and leaves it out. Long jobs have more than 64 "
                   "processes and run for more than 8 hours. EASY shares no cores, so it is the same for all."},
          .figures = {figure},
          .tables = {table.table()}};
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
  const auto sdsc = simulated.log_called(kSdscSp2Log.name);
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
