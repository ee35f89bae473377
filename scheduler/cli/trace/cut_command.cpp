// `replay trace cut FILE`: writes a part of a trace.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/tools/cut.hpp"

namespace replay::cli {
namespace {

struct CutGiven {
  TraceInput input;
  TraceOutput output;
  std::string from, to, month, jobs, users, queues, partitions;
  std::optional<std::uint64_t> first;
  std::uint64_t skip = 0;
  bool rebase = false;
};

CutOptions options_of(const CutGiven& given) {
  CutOptions options;
  if (!given.from.empty()) options.from = parse_time_bound("--from", given.from);
  if (!given.to.empty()) options.to = parse_time_bound("--to", given.to);
  if (!given.month.empty()) {
    options.month = parse_local_month(given.month);
    if (!options.month)
      throw UsageError(fmt::format("--month: expected a month such as 1996-10, found '{}'", given.month));
  }
  if (!given.jobs.empty()) options.jobs = parse_ranges("--jobs", given.jobs);
  if (!given.users.empty()) options.users = parse_ranges("--user", given.users);
  if (!given.queues.empty()) options.queues = parse_ranges("--queue", given.queues);
  if (!given.partitions.empty()) options.partitions = parse_ranges("--partition", given.partitions);
  options.first = given.first;
  options.skip = given.skip;
  options.rebase = given.rebase;
  options.drain = given.input.input == "-";
  return options;
}

// The command in one canonical form, for the header.
std::string canonical(const CutGiven& given) {
  std::string command = "replay trace cut";
  const auto add = [&command](std::string_view option, const std::string& value) {
    if (!value.empty()) command += fmt::format(" {} {}", option, value);
  };
  add("--from", given.from), add("--to", given.to), add("--month", given.month), add("--jobs", given.jobs);
  add("--user", given.users), add("--queue", given.queues);
  add("--partition", given.partitions);
  if (given.skip > 0) add("--skip", fmt::format("{}", given.skip));
  if (given.first) add("--first", fmt::format("{}", *given.first));
  if (given.rebase) command += " --rebase";
  return command;
}

int cut(const CutGiven& given) {
  const CutOptions options = options_of(given);
  TraceReader reader = open_trace(given.input);
  TraceWriter writer = create_trace(given.output);
  const CutResult result = cut_trace(reader, writer, options, canonical(given));
  writer.close();
  fmt::print(stderr, "{}: {} of {} records kept{}\n", reader.swf().name(), result.kept, result.read,
             options.first && !options.drain ? "; the rest was not read" : "");
  if (result.moved != Duration::zero())
    fmt::print(stderr, "the new zero is at {} s of the old clock\n", to_text(result.moved));
  if (result.orphans > 0)
    fmt::print(stderr, "{} records followed a job that is not kept: their fields 17 and 18 are -1 now\n",
               result.orphans);
  report_odd_lines(odd_line_report(reader.swf()));
  return 0;
}

}  // namespace

Command add_trace_cut(CLI::App& trace) {
  auto* command =
      trace.add_subcommand("cut", "a part of a trace: by time, month, job numbers, position, user, queue, partition");
  command->footer(
      "Jobs count by submit time. What is given several times over has to hold all at once.\n"
      "Example: replay trace cut KTH-SP2.swf.gz --month 1996-10 --rebase -o october.swf");
  auto given = std::make_shared<CutGiven>();
  add_trace_input(*command, given->input);
  add_trace_output(*command, given->output);
  command
      ->add_option("--from", given->from, "submitted at or after: 36h since the log's zero, or local 1996-10-01T12:00")
      ->type_name("TIME");
  command->add_option("--to", given->to, "submitted before")->type_name("TIME");
  command->add_option("--month", given->month, "submitted in that month of the log's local time, such as 1996-10")
      ->type_name("YYYY-MM");
  command->add_option("--jobs", given->jobs, "job numbers, such as 1-1000 or 5,7,100-")->type_name("RANGES");
  command->add_option("--user", given->users, "users (field 12)")->type_name("RANGES");
  command->add_option("--queue", given->queues, "queues (field 15)")->type_name("RANGES");
  command->add_option("--partition", given->partitions, "partitions (field 16)")->type_name("RANGES");
  command->add_option("--skip", given->skip, "leave out the first N of the records that are left")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, kMostRecords));
  command->add_option("--first", given->first, "keep at most N records")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, kMostRecords));
  command->add_flag("--rebase", given->rebase,
                    "the second of the first submission kept is the new zero; UnixStartTime and StartTime follow");
  return [given] { return cut(*given); };
}

}  // namespace replay::cli
