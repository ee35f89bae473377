// `replay trace sort FILE`: records by submit time and job number.

#include <fmt/core.h>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/tools/sort.hpp"

namespace replay::cli {
namespace {

struct SortGiven : TraceFiles {
  SortOptions sort;
};

int sort(const SortGiven& given) {
  TraceReader reader = open_trace(given.input);
  TraceWriter writer = create_trace(given.output);
  const SortResult result = sort_trace(reader, writer, given.sort,
                                       given.sort.renumber ? "replay trace sort --renumber" : "replay trace sort");
  writer.close();
  fmt::print(stderr, "{}: {}, {} had stood below one that is submitted later\n", reader.swf().name(),
             counted(result.records, "record"), result.moved);
  if (result.orphans > 0)
    fmt::print(stderr, "{} followed a job that is not there: fields 17 and 18 are -1 there now\n",
               counted(result.orphans, "record"));
  report_odd_lines(odd_line_report(reader));
  return 0;
}

}  // namespace

Command add_trace_sort(CLI::App& trace) {
  CLI::App& command = add_command(trace, "sort", "records by submit time and job number (all in memory)",
                                  "Example: replay trace sort mixed.swf --renumber -o sorted.swf");
  auto given = std::make_shared<SortGiven>();
  add_trace_files(command, *given);
  command.add_flag("--renumber", given->sort.renumber, "job numbers 1, 2, ... in the new order; fields 17 follow");
  return [given] { return sort(*given); };
}

}  // namespace replay::cli
