// `replay trace info FILE`: describes a log, as text, as JSON, and as a drawing.

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/experiment/run_spec.hpp"
#include "scheduler/report/trace_plot.hpp"
#include "scheduler/report/trace_text.hpp"
#include "traces/statistics/statistics.hpp"

namespace replay::cli {
namespace {

struct InfoGiven {
  TraceInfoOptions info;
  std::map<std::string, std::string> cleaning;
  std::string plot;  // empty: none
  bool json = false;
  bool force = false;
};

int show_info(InfoGiven given) {
  given.info.rules = experiment::cleaning_rules(given.cleaning);
  const TraceInfo info = analyse_trace(given.info);
  if (given.json)
    print_json(report::to_json(info));
  else
    fmt::print("{}", clean_lines(report::to_text(info)));
  if (!given.plot.empty()) report::write_plot(info, given.plot, given.force);
  return 0;
}

}  // namespace

Command add_trace_info(CLI::App& trace) {
  CLI::App& command =
      add_command(trace, "info", "machine, jobs, load, distributions and quirks of a trace",
                  "Examples:\n  replay trace info KTH-SP2.swf.gz\n  replay trace info KTH-SP2.swf.gz --plot kth.svg");
  auto given = std::make_shared<InfoGiven>();
  command.add_option("FILE", given->info.file, "SWF, plain or .gz, '-' for standard input")->required();
  command.add_flag("--json", given->json, "print as JSON");
  add_text(command, "--plot", given->plot, "FILE",
           "draw distributions, arrivals and load over time: .svg, .pdf, .tikz or .html");
  command.add_flag("--force", given->force, "replace the drawing if it exists");
  add_cleaning_options(command, given->cleaning, given->info.strict);
  return [given] { return show_info(*given); };
}

}  // namespace replay::cli
