// The page of the FCFS-malleable paper: Figures 2 and 3, Tables 2 and 3, the study of long jobs' CPU use, and what its
// text says.
#include "scheduler/study/fcfs_malleable/page.hpp"

#include <fmt/format.h>

#include "scheduler/base/text/lower_case.hpp"
#include "scheduler/study/fcfs_malleable/numbers.hpp"
#include "scheduler/study/sheet.hpp"

namespace replay::study {
namespace {

std::string_view name_of(std::string_view policy) { return policy == "fcfs-malleable:expand=eager" ? "eager" : policy; }

std::vector<Table> figure_2(const MalleablePage& page) {
  constexpr Band kExact{.absolute = 0.01};
  const std::vector<Line> policies{
      {"fcfs", "figure 2/fcfs"}, {"easy", "figure 2/easy"}, {"fcfs-malleable", "figure 2/fcfs-malleable"}};
  Sheet averages{
      page.found,
      {.id = "figure 2",
       .title = "Figure 2: six jobs on ten CPUs, averages",
       .source = "Figure 2 and section 3.1, which cuts off after two decimals: these are the sums over six",
       .row_name = "policy",
       .notes = {"Sizes 8, 5, 1, 8, 4, 10, of which the paper prints the first; 8, 4, 2, 8, 4, 10 fits as well. Half "
                 "the CPUs are half the speed."}},
      policies};
  averages.mean({"response", "time units", 3, kExact}, "*/response");
  averages.mean({"slowdown", "ratio", 3, kExact}, "*/slowdown");
  averages.mean({"fragmentation", "%", 2, kExact,
                 "0 % cannot be had together with the figure's \"J6 starts expanded\": four CPUs are free for one time "
                 "unit while J6 waits, 4 of 60"},
                "*/fragmentation", 100);
  Sheet times{page.found,
              {.id = "figure 2, starts and ends",
               .title = "Figure 2: every start and end",
               .source = "Figure 2, in time units",
               .row_name = "policy"},
              policies};
  for (const char* kind : {"start", "end"})
    for (std::size_t j = 1; j <= malleable_paper::kFigure2Sizes.size(); ++j) {
      const std::string name = fmt::format("{} J{}", kind, j);
      times.mean({name, "", 0, Band{}}, "*/" + name);
    }
  return {averages.table(), times.table()};
}

Table table_2(const MalleablePage& page) {
  constexpr Band kShare{.absolute = 5};
  std::vector<Line> lines;
  std::vector<std::string> files;
  for (const MalleableLog& log : page.logs) {
    lines.push_back({log.name});
    files.push_back(fmt::format("{}: {}", log.name, log.file));
  }
  Sheet sheet{
      page.found,
      {.id = "table 2",
       .title = "Table 2: the logs",
       .source =
           "Table 2; requested over CPUs is read as what running and waiting jobs ask for, mean over time, under EASY",
       .row_name = "log",
       .notes = files},
      std::move(lines)};
  sheet.mean({"CPUs", "", 0}, "*/log/CPUs");
  sheet.mean({"jobs", "", 0}, "*/log/jobs");
  sheet.mean({"with CPU use", "%", 1}, "*/log/with CPU use", 100);
  sheet.mean({"CPU use", "%", 1, kShare,
              "the mean over the jobs of our copy of the log, of each that tells its CPU time; serial jobs without it "
              "count as 100 %, parallel ones as the paper's mean"},
             "*/log/CPU use", 100);
  sheet.mean({"long jobs", "", 0}, "*/log/long jobs");
  sheet.mean({"their CPU use", "%", 1, kShare,
              "as for all jobs; where the log does not tell CPU times, long jobs too have the stand-in"},
             "*/log/long CPU use", 100);
  sheet.column({"requested/CPUs", "ratio", 2, Band{.relative = 0.25},
                "the paper does not say over what it averages; this is one reading"},
               [&](std::size_t i) { return page.found.mean("{}/easy/demand", page.main_part(page.logs[i])); });
  return sheet.table();
}

// ---- Figure 3 and Table 3 ----

struct Metric {
  const char *name, *title, *axis, *unit;
  int decimals;
};
constexpr Metric kMetrics[] = {{"mean_wait", "Wait", "average wait, s", "s", 0},
                               {"mean_execution", "Execution", "average execution time, s", "s", 0},
                               {"mean_response", "Response", "average response time, s", "s", 0},
                               {"mean_slowdown", "Slowdown", "average slowdown", "ratio", 1}};

// The mean over all logs, each with its range number `reading`; nothing if a log does not have so many.
std::optional<Row> mean_row(const MalleablePage& page, std::size_t reading) {
  double response = 0, slowdown = 0;
  for (const MalleableLog& log : page.logs) {
    const std::vector<std::string> ranges = page.ranges(log);
    if (reading >= ranges.size()) return std::nullopt;
    const std::string part = fmt::format("{}, {}", log.name, ranges[reading]);
    response += page.change(part, "fcfs-malleable", "mean_response");
    slowdown += page.change(part, "fcfs-malleable", "mean_slowdown");
  }
  const auto logs = static_cast<double>(page.logs.size());
  const auto printed = [&](const char* column) {
    return malleable_printed().find("figure 3", page.logs.size() == malleable_paper::kLogs.size() ? "mean" : "",
                                    column);
  };
  return Row{fmt::format("mean over the logs ({} {} ...), fcfs-malleable", page.logs.front().name,
                         page.ranges(page.logs.front())[reading]),
             {{},
              {},
              {},
              {},
              {response / logs, printed("response against easy")},
              {slowdown / logs, printed("slowdown against easy")}}};
}

Table figure_3_table(const MalleablePage& page) {
  std::vector<Line> lines;
  std::vector<std::string> bases;
  for (const MalleableLog& log : page.logs)
    for (const std::string& range : page.ranges(log))
      for (const std::string_view policy : kMalleablePolicies) {
        lines.push_back({fmt::format("{}, {}, {}", log.name, range, policy), malleable_cell(log.name, range, policy)});
        bases.push_back(malleable_cell(log.name, range, "easy"));
      }
  Sheet sheet{
      page.found,
      {.id = "figure 3",
       .title = "Figure 3 in numbers, and easy-malleable, which the paper has in mind as future work",
       .source = "section 6: over all logs 31 % less response and 28 % less slowdown; the figure itself has no numbers",
       .row_name = "log, jobs, policy"},
      std::move(lines)};
  for (const Metric& metric : kMetrics)
    sheet.mean({lower_case(metric.title), metric.unit, metric.decimals}, fmt::format("*/{}", metric.name));
  for (const Metric& metric : std::span{kMetrics}.last(2))
    sheet.column({fmt::format("{} against easy", lower_case(metric.title)), "%", 1, Band{.absolute = 10}, kWhyRange},
                 [&](std::size_t i) { return page.found.more(sheet.filled("*", i), bases[i], metric.name); });
  Table table = sheet.table();
  for (std::size_t reading = 0; reading < page.ranges(page.logs.front()).size(); ++reading)
    if (auto row = mean_row(page, reading)) table.rows.push_back(std::move(*row));
  return table;
}

Figure figure_3(const MalleablePage& page) {
  std::vector<Line> lines;
  for (const MalleableLog& log : page.logs) lines.push_back({page.main_part(log)});
  Figure figure{.title = "Figure 3: EASY and FCFS-malleable"};
  for (char number = 'a'; const Metric& metric : kMetrics) {
    Sheet sheet{page.found, {}, lines};
    sheet.mean({"EASY"}, fmt::format("*/easy/{}", metric.name));
    sheet.mean({"FCFS-malleable"}, fmt::format("*/fcfs-malleable/{}", metric.name));
    figure.panels.emplace_back(
        bars_of(sheet.table(),
                {.title = fmt::format("({}) {}", number++, metric.title), .x_name = "log", .y_name = metric.axis}));
  }
  return figure;
}

Table table_3(const MalleablePage& page) {
  constexpr Band kMpl{.absolute = 0.1}, kFragmentation{.absolute = 3};
  std::vector<Line> lines;
  for (const MalleableLog& log : page.logs)
    for (const std::string& range : page.ranges(log)) {
      const std::string part = fmt::format("{}, {}", log.name, range);
      lines.push_back({part, part, log.name});
    }
  Sheet sheet{
      page.found,
      {.id = "table 3",
       .title = "Table 3: average MPL; fragmentation",
       .source = "Table 3; fragmentation from the text of 5.1 (EASY 6 % for CTC to 14 % for SDSC, FCFS-malleable none)",
       .row_name = "log, jobs",
       .notes = {"MPL: processes over all CPUs, mean over time, idle time included. Eager: "
                 "fcfs-malleable:expand=eager."}},
      std::move(lines)};
  for (const std::string_view policy : kMalleablePolicies)
    sheet.mean({fmt::format("MPL {}", name_of(policy)), "ratio", 2, kMpl, kWhyRange},
               fmt::format("*/{}/mean_mpl", policy));
  for (const std::string_view policy : kMalleablePolicies)
    sheet.mean({fmt::format("fragmentation {}", name_of(policy)), "%", 1, kFragmentation,
                policy == "easy" ? kWhyRange : kWhyFree},
               fmt::format("*/{}/fragmentation", policy), 100);
  return sheet.table();
}

// ---- long jobs' CPU use on SDSC ----

Section sweep(const MalleablePage& page, const MalleableLog& sdsc) {
  const std::string range = page.ranges(sdsc).front(), main = page.main_part(sdsc);
  std::vector<Line> lines, numbers;
  for (const double use : swept_uses(page.found, sdsc.name, range)) {
    const std::string number = fmt::format("{:.0f}", use * 100), part = fmt::format("{}, long jobs {}", main, use);
    lines.push_back({number + " %", part});
    numbers.push_back({number, part});
  }
  Sheet sheet{page.found,
              {.id = "long jobs' CPU use",
               .title = fmt::format("SDSC ({}), CPU use of long jobs forced", range),
               .row_name = "CPU use of long jobs"},
              std::move(lines)};
  Figure figure{.title = "SDSC with other CPU use of its long jobs"};
  for (const Metric& metric : {kMetrics[3], kMetrics[2]}) {
    Sheet curves{page.found, {}, numbers};
    for (const std::string_view policy : kMalleablePolicies) {
      const std::string path = fmt::format("{}/{}/{}", policy == "easy" ? main : "*", policy, metric.name);
      sheet.mean({fmt::format("{} {}", lower_case(metric.title), name_of(policy)), metric.unit, metric.decimals}, path);
      curves.mean({std::string{policy}}, path);
    }
    figure.panels.emplace_back(
        curves_of(curves.table(), {.title = metric.title, .x_name = "CPU use of long jobs, %", .y_name = metric.axis}));
  }
  return {.title = "Long jobs' CPU use",
          .text = {"The paper tells of this study in a sentence and leaves it out. Long jobs have more than 64 "
                   "processes and run for more than 8 hours. EASY shares no cores, so it is the same for all."},
          .figures = {figure},
          .tables = {sheet.table()}};
}

}  // namespace

Result malleable_result(const Findings& found, const std::vector<MalleableLog>& logs, bool quick) {
  const MalleablePage page{found, logs, quick};
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
  result.checks = malleable_checks(page);
  result.sections = {
      {.title = "Figure 2: the example", .tables = figure_2(page)},
      {.title = "The logs", .tables = {table_2(page)}},
      {.title = "Figure 3: EASY and FCFS-malleable", .figures = {figure_3(page)}, .tables = {figure_3_table(page)}},
      {.title = "MPL and fragmentation", .tables = {table_3(page)}}};
  for (const MalleableLog& log : logs)
    if (log.name == kSdscSp2Log.name) result.sections.push_back(sweep(page, log));
  return result;
}

}  // namespace replay::study
