// `replay trace info FILE`.

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/experiment/scenario.hpp"
#include "traces/statistics/statistics.hpp"

namespace replay::cli {

Command add_trace_info(CLI::App& trace) {
  struct InfoGiven {
    TraceInfoOptions info;
    std::map<std::string, std::string> cleaning;
  };
  auto* command = trace.add_subcommand("info", "machine, jobs, load, distributions and quirks of a trace");
  command->footer("Examples:\n  replay trace info KTH-SP2.swf.gz\n  replay trace info KTH-SP2.swf.gz --plot kth.svg");
  auto given = std::make_shared<InfoGiven>();
  command->add_option("FILE", given->info.file, "SWF, plain or .gz, '-' for standard input")->required();
  command->add_flag("--json", given->info.json, "print as JSON");
  command
      ->add_option("--plot", given->info.plot, "draw distributions, arrivals and load over time: a page, .svg or .html")
      ->type_name("FILE");
  command->add_flag("--force", given->info.force, "replace the drawing if it exists");
  add_cleaning_options(*command, given->cleaning, given->info.strict);
  return [given] {
    given->info.rules = experiment::cleaning_rules(given->cleaning);
    return run_trace_info(given->info);
  };
}

}  // namespace replay::cli
