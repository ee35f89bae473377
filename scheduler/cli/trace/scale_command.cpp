// `replay trace scale FILE`: the same jobs closer together, longer, on another machine, or at another load.

#include <fmt/core.h>

#include <limits>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/tools/scale.hpp"

namespace replay::cli {
namespace {

constexpr Choice<LoadBy> kBys[] = {{"arrivals", LoadBy::kArrivals}, {"runtimes", LoadBy::kRuntimes}};

struct ScaleGiven : TraceFiles {
  ScaleOptions scale;
  std::optional<LoadBy> by;
};

std::string canonical(const ScaleOptions& options) {
  std::string command = "replay trace scale";
  if (options.sizes) command += fmt::format(" --sizes {}", *options.sizes);
  if (options.powers_of_two) command += " --powers-of-two";
  if (options.machine_size) command += fmt::format(" --machine-size {}", *options.machine_size);
  if (options.arrivals != 1) command += fmt::format(" --arrivals {}", options.arrivals);
  if (options.runtimes != 1) command += fmt::format(" --runtimes {}", options.runtimes);
  if (options.load) command += fmt::format(" --load {} --by {}", *options.load, word_of(kBys, options.by));
  if (options.exact) command += " --exact";
  return command;
}

ScaleOptions options_of(const ScaleGiven& given) {
  ScaleOptions options = given.scale;
  if (options.load.has_value() != given.by.has_value())
    throw UsageError("expected --load L and --by arrivals|runtimes together");
  options.by = given.by.value_or(LoadBy::kArrivals);
  if (options.powers_of_two && !options.sizes)
    throw UsageError("--powers-of-two: expected with --sizes, whose rounding it changes");
  if (options.arrivals == 1 && options.runtimes == 1 && !options.sizes && !options.load)
    throw UsageError("nothing to scale: expected --arrivals, --runtimes, --sizes or --load");
  return options;
}

int scale(const ScaleGiven& given) {
  const ScaleOptions options = options_of(given);
  const RereadableTrace trace = rereadable_trace(given.input);
  TraceWriter writer = create_trace(given.output);
  const ScaleResult result = scale_trace(trace, writer, options, canonical(options));
  writer.close();
  report_odd_lines(result.odd_lines);
  fmt::print(stderr, "{}: {}; submit times x {}, run times x {}\n",
             given.input.input == "-" ? "standard input" : given.input.input, counted(result.records, "record"),
             result.arrivals, result.runtimes);
  if (options.sizes)
    fmt::print(stderr, "sizes from {} to {} processors: {} changed\n", result.machine_before, result.machine_after,
               counted(result.sizes_changed, "record"));
  if (result.load_before && result.load_after)
    fmt::print(stderr, "offered load {:.4f}, was {:.4f}\n", *result.load_after, *result.load_before);
  return 0;
}

}  // namespace

Command add_trace_scale(CLI::App& trace) {
  CLI::App& command = add_command(
      trace, "scale", "multiply arrivals, run times or sizes, or reach an offered load",
      "Sizes come first, then the factors, then the load. Logged waits become unknown: that schedule never was.\n"
      "Example: replay trace scale KTH-SP2.swf.gz --load 0.9 --by arrivals -o kth-90.swf.gz");
  auto given = std::make_shared<ScaleGiven>();
  add_trace_files(command, *given);
  ScaleOptions& scale_options = given->scale;
  command.add_option("--arrivals", scale_options.arrivals, "submit and think times times F")->type_name("F");
  command.add_option("--runtimes", scale_options.runtimes, "run, requested and CPU times times F")->type_name("F");
  constexpr CoreCount kMost = std::numeric_limits<CoreCount>::max();
  add_count(command, "--sizes", scale_options.sizes, 1, kMost, "to a machine of P processors, sizes in proportion")
      ->type_name("P");
  command.add_flag("--powers-of-two", scale_options.powers_of_two, "sizes that are powers of two stay so");
  add_count(command, "--machine-size", scale_options.machine_size, 1, kMost,
            "processors of the log's machine (default: header)")
      ->type_name("P");
  command.add_option("--load", scale_options.load, "reach this offered load, as `replay trace info` states it")
      ->type_name("L");
  add_choice(command, "--by", given->by, kBys, "how: arrivals or runtimes", Words::kInHelp)->type_name("WHAT");
  command.add_flag("--exact", scale_options.exact, "times to the microsecond (default: whole seconds stay whole)");
  return [given] { return scale(*given); };
}

}  // namespace replay::cli
