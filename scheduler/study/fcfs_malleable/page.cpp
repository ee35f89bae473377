// The page of the FCFS-malleable paper: Figures 2 and 3, Tables 2 and 3, the study of long jobs' CPU use, and what its
// text says.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "scheduler/base/text/lower_case.hpp"
#include "scheduler/study/fcfs_malleable/numbers.hpp"
#include "scheduler/study/fcfs_malleable/study.hpp"
#include "scheduler/study/sheet.hpp"
#include "scheduler/study/statements.hpp"

namespace replay::study {
namespace {

constexpr const char* kWhyRange =
    "the paper does not say which of the log's jobs it took (\"20K-25K\", \"40K-45K\"), nor how the log was cleaned; "
    "the rows show how much hangs on that";
constexpr const char* kWhyFree =
    "shrunk jobs stay shrunk while the head waits, and cores between two levels are not handed out; expand=eager, "
    "beside it, lets them expand and leaves less";

struct MalleablePage {
  const Findings& found;
  const std::vector<MalleableLog>& logs;
  bool quick;

  [[nodiscard]] std::vector<std::string> ranges(const MalleableLog& log) const {
    std::vector<std::string> names;
    for (const JobRange& range : ranges_of(log.name, log.workload.jobs.size(), quick)) names.push_back(range.name);
    return names;
  }
  /// The range that the figures show, the whole log unless it was not run: "SDSC, whole log".
  [[nodiscard]] std::string main_part(const MalleableLog& log) const {
    return fmt::format("{}, {}", log.name, ranges(log).front());
  }
  [[nodiscard]] bool has(const ArchiveLog& log) const {
    return std::ranges::find(logs, log.name, &MalleableLog::name) != logs.end();
  }
  /// Of a policy on a part of a log, against EASY, in per cent.
  [[nodiscard]] double change(std::string_view part, std::string_view policy, std::string_view metric) const {
    return found.more(fmt::format("{}/{}", part, policy), fmt::format("{}/easy", part), metric);
  }
};

std::string_view name_of(std::string_view policy) { return policy == "fcfs-malleable:expand=eager" ? "eager" : policy; }

std::vector<Table> figure_2(const MalleablePage& page) {
  constexpr Band kExact{.absolute = 0.01};
  const std::vector<Line> policies = lines_of(std::array{"fcfs", "easy", "fcfs-malleable"}, "figure 2/*");
  Sheet averages{page.found,
                 {"figure 2", "Figure 2: six jobs on ten CPUs, averages", "policy",
                  "Figure 2 and section 3.1, which cuts off after two decimals: these are the sums over six",
                  "Sizes 8, 5, 1, 8, 4, 10, of which the paper prints the first; 8, 4, 2, 8, 4, 10 fits as well. Half "
                  "the CPUs are half the speed."},
                 policies};
  averages.mean({"response", "time units", 3, kExact}, "*/response");
  averages.mean({"slowdown", "ratio", 3, kExact}, "*/slowdown");
  averages.mean({"fragmentation", "%", 2, kExact,
                 "0 % cannot be had together with the figure's \"J6 starts expanded\": four CPUs are free for one time "
                 "unit while J6 waits, 4 of 60"},
                "*/fragmentation", 100);
  Sheet times{page.found,
              {"figure 2, starts and ends", "Figure 2: every start and end", "policy", "Figure 2, in time units"},
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
  for (const MalleableLog& log : page.logs) lines.push_back({log.name});
  Sheet sheet{
      page.found,
      {"table 2", "Table 2: the logs", "log",
       "Table 2; requested over CPUs is read as what running and waiting jobs ask for, mean over time, under EASY"},
      std::move(lines)};
  for (const MalleableLog& log : page.logs) sheet.note(fmt::format("{}: {}", log.name, log.file));
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
  Sheet sheet{page.found,
              {"figure 3", "Figure 3 in numbers, and easy-malleable, which the paper has in mind as future work",
               "log, jobs, policy",
               "section 6: over all logs 31 % less response and 28 % less slowdown; the figure itself has no numbers"},
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
  Sheet sheet{page.found,
              {"table 3", "Table 3: average MPL; fragmentation", "log, jobs",
               "Table 3; fragmentation from the text of 5.1 (EASY 6 % for CTC to 14 % for SDSC, FCFS-malleable none)",
               "MPL: processes over all CPUs, mean over time, idle time included. Eager: fcfs-malleable:expand=eager."},
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
  Sheet sheet{
      page.found,
      {"long jobs' CPU use", fmt::format("SDSC ({}), CPU use of long jobs forced", range), "CPU use of long jobs"},
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

// ---- statements ----

// "CTC TEXT, SDSC TEXT": judge(part) is {whether it holds, TEXT}.
void list_logs(Check& check, const MalleablePage& page, const auto& judge) {
  for (const MalleableLog& log : page.logs) {
    const std::pair<bool, std::string> judged = judge(page.main_part(log));
    check.list(judged.first, ", ", "{} {}", log.name, judged.second);
  }
}

// Some statements are about all three logs.
bool has_all_logs(const MalleablePage& page) {
  return page.has(kSdscBlueLog) && page.has(kSdscSp2Log) && page.has(kCtcLog);
}

constexpr StatementOf<MalleablePage> kStatements[] = {
    {"FCFS-malleable has better average response than EASY on every log (5.1)",
     [](Check& check, const MalleablePage& page) {
       if (!has_all_logs(page)) return;
       list_logs(check, page, [&](const std::string& part) {
         const double change = page.change(part, "fcfs-malleable", "mean_response");
         return std::pair{change < 0, fmt::format("{:+.1f} %", change)};
       });
     }},
    {"Most of all on SDSC Blue (5.1)",
     [](Check& check, const MalleablePage& page) {
       if (!has_all_logs(page)) return;
       const auto change = [&](const std::string& part) {
         return page.change(part, "fcfs-malleable", "mean_response");
       };
       const MalleableLog& blue = *std::ranges::find(page.logs, kSdscBlueLog.name, &MalleableLog::name);
       for (const std::string& range : page.ranges(blue))
         check.list(true, ", ", "{}: {:+.1f} %", range, change(fmt::format("{}, {}", blue.name, range)));
       check.holds = std::ranges::all_of(page.logs, [&](const MalleableLog& log) {
         return change(page.main_part(blue)) <= change(page.main_part(log));
       });
     },
     kWhyRange},
    {"Its average slowdown is better on CTC and SDSC Blue, and worse on SDSC (5.1)",
     [](Check& check, const MalleablePage& page) {
       if (!has_all_logs(page)) return;
       for (const MalleableLog& log : page.logs) {
         const double of_main = page.change(page.main_part(log), "fcfs-malleable", "mean_slowdown");
         check.holds = check.holds && (of_main > 0) == (log.name == kSdscSp2Log.name);
         for (const std::string& range : page.ranges(log)) {
           const std::string part = fmt::format("{}, {}", log.name, range);
           check.add(true, "{}: {:+.1f} %", part, page.change(part, "fcfs-malleable", "mean_slowdown"));
         }
       }
     },
     kWhyRange},
    {"Execution times grow, but not to twice those of EASY (5.1)",
     [](Check& check, const MalleablePage& page) {
       list_logs(check, page, [&](const std::string& part) {
         const double ratio = page.found.mean("{}/fcfs-malleable/mean_execution", part) /
                              page.found.mean("{}/easy/mean_execution", part);
         return std::pair{ratio > 1 && ratio < 2, fmt::format("{:.2f} times", ratio)};
       });
     }},
    {"Its average MPL is above that of EASY and below 2 (Table 3)",
     [](Check& check, const MalleablePage& page) {
       list_logs(check, page, [&](const std::string& part) {
         const double ours = page.found.mean("{}/fcfs-malleable/mean_mpl", part),
                      easy = page.found.mean("{}/easy/mean_mpl", part);
         return std::pair{ours > easy && ours < 2, fmt::format("{:.2f} > {:.2f}", ours, easy)};
       });
     }},
    {"It leaves no fragmentation (5.1; here: less than 0.5 %)",
     [](Check& check, const MalleablePage& page) {
       bool eager_leaves_less = true;
       list_logs(check, page, [&](const std::string& part) {
         const double ours = page.found.mean("{}/fcfs-malleable/fragmentation", part) * 100,
                      eager = page.found.mean("{}/fcfs-malleable:expand=eager/fragmentation", part) * 100;
         eager_leaves_less = eager_leaves_less && eager < ours;
         return std::pair{ours < 0.5, fmt::format("{:.2f} % (eager {:.2f} %)", ours, eager)};
       });
       if (eager_leaves_less) check.why = kWhyFree;
     }},
    {"With long jobs' CPU use under 90 % its slowdown on SDSC is smaller than that of EASY (5.1)",
     [](Check& check, const MalleablePage& page) {
       if (!page.has(kSdscSp2Log)) return;
       const MalleableLog& sdsc = *std::ranges::find(page.logs, kSdscSp2Log.name, &MalleableLog::name);
       const std::string range = page.ranges(sdsc).front();
       const double easy = page.found.mean("{}/easy/mean_slowdown", page.main_part(sdsc));
       check.found = fmt::format("EASY {:.1f}", easy);
       double least = std::numeric_limits<double>::max(), most = 0;
       for (const double use : swept_uses(page.found, sdsc.name, range)) {
         const double slowdown =
             page.found.mean("{}/mean_slowdown", malleable_cell(sdsc.name, range, "fcfs-malleable", use));
         check.list(use >= 0.9 || slowdown < easy, ", ", "{:.0f} %: {:.1f}", use * 100, slowdown);
         least = std::min(least, slowdown), most = std::max(most, slowdown);
       }
       check.why = fmt::format(
           "only {} of the log's {} jobs are long, so their CPU use moves the slowdown by {:.1f} % in all",
           page.found.mean("{}/log/long jobs", sdsc.name), sdsc.workload.jobs.size(), (most / least - 1) * 100);
     }},
};

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
  result.checks = judged<MalleablePage>(page, kStatements);
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
