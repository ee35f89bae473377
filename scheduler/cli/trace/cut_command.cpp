// `replay trace cut FILE`: writes a part of a trace.

#include <fmt/core.h>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/tools/cut.hpp"

namespace replay::cli {
namespace {

struct CutGiven : TraceFiles {
  std::string from, to, month, jobs, users, queues, partitions;
  std::optional<std::uint64_t> first;
  std::uint64_t skip = 0;
  bool rebase = false;
};

struct CutText {
  const char *option, *type, *help;
  std::string CutGiven::*text;
};
constexpr CutText kTexts[] = {
    {"--from", "TIME", "submitted at or after: 36h since the log's zero, or local 1996-10-01T12:00", &CutGiven::from},
    {"--to", "TIME", "submitted before", &CutGiven::to},
    {"--month", "YYYY-MM", "submitted in that month of the log's local time, such as 1996-10", &CutGiven::month},
    {"--jobs", "RANGES", "job numbers, such as 1-1000 or 5,7,100-", &CutGiven::jobs},
    {"--user", "RANGES", "users (field 12)", &CutGiven::users},
    {"--queue", "RANGES", "queues (field 15)", &CutGiven::queues},
    {"--partition", "RANGES", "partitions (field 16)", &CutGiven::partitions}};

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
  for (const auto& [option, type, help, text] : kTexts)
    if (const std::string& value = given.*text; !value.empty()) command += fmt::format(" {} {}", option, value);
  if (given.skip > 0) command += fmt::format(" --skip {}", given.skip);
  if (given.first) command += fmt::format(" --first {}", *given.first);
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
    fmt::print(stderr, "{} followed a job that is not kept: fields 17 and 18 are -1 there now\n",
               counted(result.orphans, "record"));
  report_odd_lines(odd_line_report(reader));
  return 0;
}

}  // namespace

Command add_trace_cut(CLI::App& trace) {
  CLI::App& command =
      add_command(trace, "cut", "a part of a trace: by time, month, job numbers, position, user, queue, partition",
                  "Jobs count by submit time. What is given several times over has to hold all at once.\n"
                  "Example: replay trace cut KTH-SP2.swf.gz --month 1996-10 --rebase -o october.swf");
  auto given = std::make_shared<CutGiven>();
  add_trace_files(command, *given);
  for (const auto& [option, type, help, text] : kTexts) add_text(command, option, (*given).*text, type, help);
  add_count(command, "--skip", given->skip, 0, kMostRecords, "leave out the first N of the records that are left");
  add_count(command, "--first", given->first, 1, kMostRecords, "keep at most N records");
  command.add_flag("--rebase", given->rebase,
                   "the second of the first submission kept is the new zero; UnixStartTime and StartTime follow");
  return [given] { return cut(*given); };
}

}  // namespace replay::cli
