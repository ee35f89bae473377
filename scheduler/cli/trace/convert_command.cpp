// `replay trace convert FILE`: between SWF, our CSV and the accounting of Slurm, PBS and LSF, and --anonymise for logs that
// are to be published.

#include <fmt/format.h>

#include <functional>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/cleaning.hpp"
#include "traces/convert/accounting_trace.hpp"
#include "traces/convert/anonymise.hpp"
#include "traces/convert/lsf_reader.hpp"
#include "traces/convert/pbs_reader.hpp"
#include "traces/convert/sacct_reader.hpp"
#include "traces/convert/trace_csv.hpp"
#include "traces/file_kind.hpp"
#include "traces/history.hpp"

namespace replay::cli {
namespace {

constexpr Choice<QueueFrom> kQueueFrom[] = {{"eligible", QueueFrom::kEligible}, {"submit", QueueFrom::kSubmit}};
constexpr DurationRange kMissingLimit{.least = std::chrono::seconds{1}, .expected = "a time such as 7d or 36h"};

struct ConvertGiven : TraceFiles {
  std::string from_format, to_format;
  std::vector<std::string> more;  // logs that follow
  std::string time_zone = "UTC";
  std::string cluster;
  std::optional<Duration> missing_limit;
  CoreCount machine_size = 0;  // 0: not given
  std::optional<QueueFrom> queue_from;
  bool anonymise = false;
  bool keep_acknowledgement = false;
  bool without_header = false;
};

// ---- formats ----

bool is_accounting(std::string_view format) { return format == "sacct" || format == "pbs" || format == "lsf"; }

std::string format_of_name(const std::string& path) {
  std::string_view stem = path;
  if (stem.ends_with(".gz")) stem.remove_suffix(3);
  for (const std::string_view format : {"swf", "csv", "sacct", "pbs", "lsf"})
    if (stem.ends_with(fmt::format(".{}", format))) return std::string(format);
  return {};
}

// By the name, else by the content: PBS calls its files 20240301, LSF lsb.acct.
std::string format_of(const std::string& path) {
  std::string format = format_of_name(path);
  if (!format.empty() || path == "-") return format;
  const auto known = kind_of_path(path);
  if (!known) return {};
  switch (known->kind) {
    case FileKind::kSwf: return "swf";
    case FileKind::kTraceCsv: return "csv";
    case FileKind::kSacct: return "sacct";
    case FileKind::kPbs: return "pbs";
    case FileKind::kLsf: return "lsf";
    default: return {};
  }
}

void settle_formats(ConvertGiven& given) {
  if (given.from_format.empty()) given.from_format = format_of(given.input.input);
  if (given.from_format.empty())
    throw UsageError(fmt::format("--from: expected swf, csv, sacct, pbs or lsf, as '{}' does not say what it is",
                                 given.input.input));
  if (given.to_format.empty()) given.to_format = format_of_name(given.output.output);
  if (given.to_format.empty()) given.to_format = "swf";
  if (is_accounting(given.to_format))
    throw UsageError("--to: expected swf or csv: logs of sacct, PBS and LSF are only read");
  if (given.keep_acknowledgement && !given.anonymise)
    throw UsageError("--keep-acknowledgement goes with --anonymise: without it everything is kept");
  if (given.without_header && given.to_format != "csv") throw UsageError("--no-header goes with --to csv");
  const auto only_with = [&](bool is_given, std::string_view what, std::string_view formats, bool is_right) {
    if (is_given && !is_right) throw UsageError(fmt::format("{} with --from {}", what, formats));
  };
  constexpr std::string_view kAccounting = "sacct, pbs or lsf";
  const bool is_log = is_accounting(given.from_format);
  if (given.machine_size > 0 && !is_log)
    throw UsageError("--machine-size goes with --from sacct, pbs or lsf: other traces say it in their header");
  only_with(!given.more.empty(), "several files go", kAccounting, is_log);
  only_with(given.queue_from.has_value(), "--queue-from goes", kAccounting, is_log);
  only_with(given.missing_limit.has_value(), "--missing-limit goes", kAccounting, is_log);
  only_with(!given.cluster.empty(), "--cluster goes", "sacct", given.from_format == "sacct");
  if (given.to_format == "csv" && !given.output.jobs_to.empty())
    throw UsageError("--jobs-to goes with --to swf: the CSV has the columns of the side file");
  if (given.from_format != "swf" && !given.input.jobs_from.empty())
    throw UsageError("--jobs-from goes with --from swf: nothing else has a side file");
}

// ---- where entries come from ----

struct Source {
  SwfHeader header;
  std::function<bool(TraceEntry&)> next;
  std::function<std::vector<std::string>()> comments = [] { return std::vector<std::string>{}; };
  std::function<void()> report = [] {};
};

Source swf_source(const ConvertGiven& given) {
  auto reader = std::make_shared<TraceReader>(open_trace(given.input));
  return {.header = reader->header(),
          .next = [reader](TraceEntry& entry) { return reader->next(entry); },
          .comments = [reader] { return reader->swf().comments(); },
          .report = [reader] { report_odd_lines(odd_line_report(*reader)); }};
}

Source csv_source(const ConvertGiven& given) {
  auto reader = std::make_shared<TraceCsvReader>(open_source(given.input.input));
  return {.header = reader->header(), .next = [reader](TraceEntry& entry) { return reader->next(entry); }};
}

void report_accounting(const accounting::Tally& tally, const accounting::Trace& trace, const ConvertGiven& given) {
  const auto say = [](std::uint64_t count, const char* noun, const std::string& what) {
    if (count > 0) fmt::print(stderr, "replay: {} {}\n", counted(count, noun), what);
  };
  fmt::print(stderr, "replay: {}; times as {}\n", counted(trace.records.size(), "job"), given.time_zone);
  if (tally.steps > 0 || tally.components > 0)
    fmt::print(stderr, "replay: {} and {} of heterogeneous jobs folded into theirs\n", counted(tally.steps, "step"),
               counted(tally.components, "component"));
  say(trace.unfinished, "job", "had not ended: no run time, status -1");
  say(tally.without_submit, "job", "without a time of submission left out");
  say(tally.lone_steps, "step", "without their job left out");
  if (tally.broken > 0) say(tally.broken, "broken row", "left out; the first: " + tally.broken_messages.front());
  say(tally.continued, "line", "passed over: the rest of a text at the end of a row");
  say(tally.other_records, "record", "passed over: of reservations, licenses, whole arrays and the like");
  say(tally.of_other_clusters, "job", "of other clusters left out");
  if (tally.unknown_states > 0)
    fmt::print(stderr, "replay: {} a state that is not known, status -1; the first: {}\n",
               counted(tally.unknown_states, "row has", "rows have"), tally.unknown_state);
  say(trace.repeated, "row", "of jobs that other rows have too, counted once");
  say(trace.lone_runs, "job", "ran before, and no row says when: sacct --duplicates prints the earlier runs");
  say(trace.resized, "row", "of jobs that changed their size: such a job has the size of its start");
  say(trace.later_eligible, "job",
      given.queue_from == QueueFrom::kSubmit
          ? "could not start at once (dependency, begin time, hold): they wait from their submission all the same"
          : "could not start at once (dependency, begin time, hold): they wait from `eligible` in the side file on");
  say(trace.followers, "job",
      "had to wait for the end of another one (fields 17 and 18): --closed-loop on honours that");
  say(trace.without_size, "job", "ran on what the log does not say: sizes are requests (field 8)");
  say(trace.without_limit, "job",
      "without a time limit" +
          (given.missing_limit ? fmt::format(": {} s, or the run time, stands in", to_text(*given.missing_limit))
                               : ": a simulation takes the run time as the estimate; --missing-limit 7d sets one"));
  if (!trace.was_sorted) fmt::print(stderr, "replay: sorted by submission\n");
  if (given.machine_size == 0)
    fmt::print(
        stderr,
        "replay: the log does not say how large the machine is: --machine-size COUNT does; at most {} processors "
        "were in use at once\n",
        trace.most_in_use);
}

// PBS has a file a day, in which jobs begin that end in a later one; the others' files are complete.
std::vector<std::unique_ptr<accounting::Reader>> readers_of(const ConvertGiven& given) {
  const accounting::ReaderOptions options{
      .time_zone = given.time_zone, .strict = given.input.strict, .cluster = given.cluster};
  std::vector<std::unique_ptr<ByteSource>> sources;
  sources.push_back(open_source(given.input.input));
  for (const std::string& path : given.more) sources.push_back(open_source(path));
  std::vector<std::unique_ptr<accounting::Reader>> readers;
  if (given.from_format == "pbs")
    readers.push_back(std::make_unique<pbs::Reader>(std::move(sources), options));
  else
    for (auto& source : sources)
      if (given.from_format == "lsf")
        readers.push_back(std::make_unique<lsf::Reader>(std::move(source), options));
      else
        readers.push_back(std::make_unique<sacct::Reader>(std::move(source), options));
  return readers;
}

Source accounting_source(const ConvertGiven& given) {
  const auto readers = readers_of(given);
  auto trace = std::make_shared<accounting::Trace>(accounting::read_trace(
      readers, {.machine_size = given.machine_size > 0 ? std::optional{given.machine_size} : std::nullopt,
                .missing_limit = given.missing_limit}));
  accounting::Tally tally;
  for (const auto& reader : readers) tally += reader->tally();
  report_accounting(tally, *trace, given);
  return {.header = trace->header,
          .next = [trace, keeps_eligible = given.queue_from != QueueFrom::kSubmit,
                   at = std::size_t{0}](TraceEntry& entry) mutable {
            if (at == trace->records.size()) return false;
            entry = {trace->records[at], {}};
            if (keeps_eligible && trace->eligible[at] > Duration::zero()) entry.traits.eligible = trace->eligible[at];
            ++at;
            return true;
          }};
}

Source open_any(const ConvertGiven& given) {
  if (is_accounting(given.from_format)) return accounting_source(given);
  return given.from_format == "csv" ? csv_source(given) : swf_source(given);
}

// ---- where they go ----

std::uint64_t write_csv(Source& source, const ConvertGiven& given, const std::function<void(TraceEntry&)>& change) {
  const std::string& file = given.output.output;
  if (file != "-") expect_file_of_its_own("--output", file, {}, given.output.force);
  TraceCsvWriter writer(open_sink(file));
  writer.write(source.header, !given.without_header);
  std::uint64_t records = 0;
  for (TraceEntry entry; source.next(entry); ++records) {
    change(entry);
    writer.write(entry);
  }
  writer.close();
  return records;
}

std::uint64_t write_swf(Source& source, const ConvertGiven& given, const std::function<void(TraceEntry&)>& change) {
  TraceWriter writer = create_trace(given.output);
  writer.write(source.header);
  for (TraceEntry entry; source.next(entry);) {
    if (!given.anonymise)  // comments are free text and may hold personal data
      writer.write_comments(source.comments());
    change(entry);
    writer.write(entry);
  }
  if (!given.anonymise) writer.write_comments(source.comments());
  writer.close();
  return writer.records();
}

std::string canonical(const ConvertGiven& given) {
  std::string text = fmt::format("replay trace convert --from {} --to {}", given.from_format, given.to_format);
  if (is_accounting(given.from_format)) text += fmt::format(" --time-zone {}", given.time_zone);
  if (given.machine_size > 0) text += fmt::format(" --machine-size {}", given.machine_size);
  if (!given.cluster.empty() && !given.anonymise) text += fmt::format(" --cluster {}", given.cluster);
  if (given.queue_from) text += fmt::format(" --queue-from {}", word_of(kQueueFrom, *given.queue_from));
  if (given.missing_limit) text += fmt::format(" --missing-limit {}", to_text(*given.missing_limit));
  if (given.anonymise) text += " --anonymise";
  if (given.keep_acknowledgement) text += " --keep-acknowledgement";
  return text;
}

int convert(ConvertGiven given) {
  settle_formats(given);
  Source source = open_any(given);
  Anonymiser anonymiser({.keep_acknowledgement = given.keep_acknowledgement});
  if (given.anonymise) source.header = anonymiser.header(source.header);
  note_history(source.header, canonical(given));
  const auto change = [&](TraceEntry& entry) {
    if (given.anonymise) anonymiser.apply(entry);
  };
  const std::uint64_t records =
      given.to_format == "csv" ? write_csv(source, given, change) : write_swf(source, given, change);
  source.report();
  fmt::print(stderr, "replay: {} from {} to {}\n", counted(records, "record"), given.from_format, given.to_format);
  if (!anonymiser.removed().empty())
    fmt::print(stderr, "replay: left out of the header: {}\n", fmt::join(anonymiser.removed(), ", "));
  return 0;
}

}  // namespace

Command add_trace_convert(CLI::App& trace) {
  CLI::App& command = add_command(
      trace, "convert", "between SWF, CSV and the accounting of Slurm (sacct), PBS and LSF; --anonymise to publish",
      "Examples:\n"
      "  replay trace convert KTH-SP2.swf.gz -o kth.csv\n"
      "  sacct -a -D -P -S 2024-01-01 "
      "--format=JobID,User,Group,JobName,Partition,QOS,Cluster,Submit,Eligible,Start,End,ElapsedRaw,AllocCPUS,"
      "ReqCPUS,TotalCPU,TimelimitRaw,ReqMem,NNodes,MaxRSS,Restarts,State,SubmitLine > jan.sacct\n"
      "  replay trace convert jan.sacct --time-zone Europe/Stockholm --machine-size 1024 --anonymise -o jan.swf.gz\n"
      "  replay trace convert server_priv/accounting/202401* --time-zone Europe/Stockholm -o jan.swf.gz\n"
      "  replay trace convert logdir/lsb.acct* --time-zone Europe/Stockholm -o jan.swf.gz");
  auto given = std::make_shared<ConvertGiven>();
  add_trace_files(command, *given);
  command.get_option("FILE")->description(
      "SWF, CSV, what sacct --parsable2 prints, PBS accounting or lsb.acct; plain or .gz, '-': standard input");
  command.add_option("MORE", given->more, "sacct, pbs, lsf: further logs of the same cluster, which may overlap")
      ->type_name("FILE");
  command
      .add_option("--from", given->from_format,
                  "format of FILE (default: by the ending of its name, else by its content)")
      ->check(CLI::IsMember({"swf", "csv", "sacct", "pbs", "lsf"}));
  command.add_option("--to", given->to_format, "format of the output (default: by the ending of its name, else swf)")
      ->check(CLI::IsMember({"swf", "csv"}));
  command
      .add_option("--time-zone", given->time_zone,
                  "sacct, pbs, lsf: where its times are local, such as Europe/Stockholm")
      ->capture_default_str();
  add_count(command, "--machine-size", given->machine_size, 1, 2'147'483'647,
            "sacct, pbs, lsf: processors of the machine, for MaxProcs");
  add_text(command, "--cluster", given->cluster, "NAME", "sacct: only the jobs of this cluster");
  add_choice(command, "--queue-from", given->queue_from, kQueueFrom,
             "sacct, pbs, lsf: a job that could not start at once waits from when it could (eligible, the default: the "
             "side file says when) or from its submission");
  add_duration(command, "--missing-limit", "DURATION", given->missing_limit, kMissingLimit,
               "sacct, pbs, lsf: time limit of jobs that have none, such as 7d; never below the run time");
  command.add_flag(
      "--anonymise", given->anonymise,
      "users, groups, programs, queues, partitions become numbers in order of appearance; header lines that "
      "name people, sites or accounts go; the date is made coarse");
  command.add_flag("--keep-acknowledgement", given->keep_acknowledgement,
                   "with --anonymise: keep Acknowledge and Copyright");
  command.add_flag("--no-header", given->without_header, "csv: without the lines of the SWF header in front");
  return [given] { return convert(*given); };
}

}  // namespace replay::cli
