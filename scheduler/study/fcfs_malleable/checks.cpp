// The statements in the text of the FCFS-malleable paper, sections 5.1 and 6.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "scheduler/study/fcfs_malleable/page.hpp"
#include "scheduler/study/statements.hpp"

namespace replay::study {
namespace {

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

std::vector<Check> malleable_checks(const MalleablePage& page) { return judged<MalleablePage>(page, kStatements); }

}  // namespace replay::study
