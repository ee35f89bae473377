// `replay trace merge A B ...`: several traces as one.

#include <fmt/core.h>

#include <algorithm>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/tools/merge.hpp"

namespace replay::cli {
namespace {

constexpr Choice<Align> kAligns[] = {{"start", Align::kStart}, {"unix", Align::kUnix}};
constexpr Choice<MergedMachine> kMachines[] = {{"sum", MergedMachine::kSum}, {"largest", MergedMachine::kLargest}};

struct MergeGiven {
  std::vector<std::string> inputs;
  bool strict = false;
  TraceOutput output;
  MergeOptions merge{.align = Align::kStart, .machine = MergedMachine::kSum};
};

void check(const MergeGiven& given) {
  if (given.inputs.size() < 2) throw UsageError("expected two traces or more to merge");
  if (std::ranges::count(given.inputs, "-") > 1) throw UsageError("standard input ('-') can be only one of the traces");
}

int merge(const MergeGiven& given) {
  check(given);
  std::vector<RereadableTrace> sources;
  for (const std::string& input : given.inputs)
    sources.push_back(rereadable_trace({.input = input, .jobs_from = {}, .strict = given.strict}));
  TraceWriter writer = create_trace(given.output);
  const MergeResult result = merge_traces(
      sources, writer, given.merge,
      fmt::format("replay trace merge --align {} --machine {} ({} sources)", word_of(kAligns, given.merge.align),
                  word_of(kMachines, given.merge.machine), sources.size()));
  writer.close();
  report_odd_lines(result.odd_lines);
  for (std::size_t i = 0; i < sources.size(); ++i)
    fmt::print(stderr, "source {}: {}: {}\n", i + 1, given.inputs[i], counted(result.records[i], "record"));
  if (result.machine > 0)
    fmt::print(stderr, "machine of {}\n", counted(result.machine, "processor"));
  else
    fmt::print(stderr, "no machine size in the header: one of the sources does not tell its own\n");
  if (result.orphans > 0)
    fmt::print(stderr, "{} followed a job that does not stand above: fields 17 and 18 are -1 there now\n",
               counted(result.orphans, "record"));
  return 0;
}

}  // namespace

Command add_trace_merge(CLI::App& trace) {
  CLI::App& command =
      add_command(trace, "merge", "several traces as one, by submit time",
                  "Example: replay trace merge KTH-SP2.swf.gz SDSC-SP2.swf.gz --align start -o grid.swf.gz");
  auto given = std::make_shared<MergeGiven>();
  command
      .add_option("FILES", given->inputs, "SWF, plain or .gz; one may be '-', standard input; side files beside them")
      ->required();
  command.add_flag("--strict", given->strict, "stop at the first broken line instead of skipping it");
  add_trace_output(command, given->output);
  add_choice(command, "--align", given->merge.align, kAligns,
             "start: the zeros of all logs are one; unix: by UnixStartTime", Words::kInHelp)
      ->type_name("CLOCK")
      ->default_str("start");
  add_choice(command, "--machine", given->merge.machine, kMachines, "MaxProcs of the result: the sum, or the largest",
             Words::kInHelp)
      ->type_name("SIZE")
      ->default_str("sum");
  return [given] { return merge(*given); };
}

}  // namespace replay::cli
