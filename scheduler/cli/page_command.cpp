// `replay report RUN...`: one HTML page that shows runs, made from their event logs.

#include <fmt/core.h>

#include <filesystem>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/experiment/logged/logged_runs.hpp"
#include "scheduler/report/page/runs.hpp"

namespace replay::cli {
namespace {

struct ReportGiven {
  std::vector<std::string> runs;
  std::string out;
  std::string title;
};

int report_runs(const ReportGiven& given) {
  experiment::LoggedRuns logged;
  const std::vector<std::filesystem::path> logs = report::logs_of(logged.runs_of(given.runs));
  const std::string out = given.out.empty() ? report::page_beside(given.runs).string() : given.out;
  std::vector<std::string> called;
  for (const std::filesystem::path& log : logs) called.push_back(logged.given_for(log).value_or(""));
  report::write_page_of(logs, given.title, out, {}, called);
  if (out != "-") fmt::print("{}\n", clean_line(out));
  return 0;
}

}  // namespace

Command add_report(CLI::App& app) {
  CLI::App& command =
      add_command(app, "report", "one HTML page that shows what happened in a run, or in several",
                  "RUN is a run's folder, the folder of several runs (of policies, of seeds, of `replay validate`), an "
                  "events.log, or\na log in SWF with waits (.gz too), which is the run of its own schedule.\n"
                  "The page needs no network and no other file; its path is printed.\n"
                  "Examples: replay report runs/20261121-040000-easy\n"
                  "          replay report runs/compare/fcfs runs/compare/easy -o compare.html\n"
                  "          replay report LOG.swf.gz -o log.html");
  auto given = std::make_shared<ReportGiven>();
  command.add_option("RUN", given->runs, "the runs, in the order of their rows")->required();
  add_text(command, "-o,--out", given->out, "FILE",
           "the page (default: report.html in the folder of the run, or of the runs); - is standard output");
  add_text(command, "--title", given->title, "TEXT", "its title (default: the names of the runs)");
  return [given] { return report_runs(*given); };
}

}  // namespace replay::cli
