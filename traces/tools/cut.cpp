#include "traces/tools/cut.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/history.hpp"
#include "traces/tools/survivors.hpp"

namespace replay {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  return parse_number<std::int64_t>(text, 0, std::numeric_limits<std::int64_t>::max());
}

std::optional<NumberRange> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = whole_number(text.substr(0, dash));
  if (!first) return std::nullopt;
  if (dash == std::string_view::npos) return NumberRange{*first, *first};
  const std::string_view rest = text.substr(dash + 1);
  if (rest.empty()) return NumberRange{.first = *first};
  const auto last = whole_number(rest);
  if (!last || *last < *first) return std::nullopt;
  return NumberRange{*first, *last};
}

bool is_in(const std::vector<NumberRange>& ranges, std::int64_t number) {
  return ranges.empty() || std::ranges::any_of(ranges, [&](const NumberRange& r) { return r.contains(number); });
}

LogClock clock_of(const SwfHeader& header) {
  if (auto clock = LogClock::of(header)) return *clock;
  throw UsageError(
      fmt::format("{}: dates need to know when the log's zero was: expected UnixStartTime and TimeZoneString, or "
                  "StartTime, in its header; durations since the zero such as --from 30d work without",
                  header.source()));
}

class Cut {
 public:
  Cut(const SwfHeader& header, const CutOptions& options) : options_(options) {
    by_time_ = options.from || options.to || options.month;
    if (options.from) from_ = resolved(header, *options.from);
    if (options.to) to_ = resolved(header, *options.to);
    if (options.month) {
      const LogClock clock = clock_of(header);
      from_ = std::max(from_, clock.since_zero(options.month->first));
      to_ = std::min(to_, clock.since_zero(options.month->next));
    }
  }

  // The bursts of a job stand below it, and are kept or left out with it.
  bool keeps(const SwfRecord& record) {
    if (is_burst(record) && last_job_ == record.job && record.job >= 0) return last_kept_;
    last_job_ = record.job;
    last_kept_ = is_selected(record) && is_within_count();
    return last_kept_;
  }
  [[nodiscard]] bool is_done() const { return options_.first && counted_ > options_.skip + *options_.first; }

 private:
  static Duration resolved(const SwfHeader& header, const TimeBound& bound) {
    return bound.since_zero ? *bound.since_zero : clock_of(header).since_zero(bound.local.value_or(0));
  }

  [[nodiscard]] bool is_selected(const SwfRecord& record) const {
    const bool is_in_time = record.submit >= std::max(from_, Duration::zero()) && record.submit < to_;
    if (by_time_ && !is_in_time) return false;
    return is_in(options_.jobs, record.job) && is_in(options_.users, record.user) &&
           is_in(options_.queues, record.queue) && is_in(options_.partitions, record.partition);
  }

  bool is_within_count() {
    ++counted_;
    return counted_ > options_.skip && (!options_.first || counted_ - options_.skip <= *options_.first);
  }

  const CutOptions& options_;
  bool by_time_ = false;
  Duration from_ = Duration::min(), to_ = Duration::max();
  std::int64_t last_job_ = -1;
  bool last_kept_ = false;
  std::uint64_t counted_ = 0;  // records selected by everything but position
};

void write_header(TraceWriter& writer, SwfHeader header, const CutResult& result, std::string_view command) {
  forget_totals(header);
  if (result.moved != Duration::zero()) move_zero(header, result.moved);
  note_history(header, command);
  writer.write(header);
}

Duration new_zero(const SwfRecord& first, const TraceReader& reader) {
  if (first.submit >= Duration::zero()) return std::chrono::floor<std::chrono::seconds>(first.submit);
  throw InputError(reader.swf().name(), reader.swf().line(),
                   "field 2 (submit time): expected the new zero, found -1: `replay trace clean` first");
}

void rebase(SwfRecord& record, const CutResult& result, const TraceReader& reader) {
  if (record.submit < Duration::zero()) return;  // unknown, before as after
  if (record.submit < result.moved)
    throw InputError(reader.swf().name(), reader.swf().line(),
                     fmt::format("job {}: expected a submit time from the new zero {} on, found {}: "
                                 "`replay trace sort` or `clean` first",
                                 record.job, to_text(result.moved), to_text(record.submit)));
  record.submit -= result.moved;
}

}  // namespace

TimeBound parse_time_bound(std::string_view option, std::string_view text) {
  if (const auto local = parse_local_time(text)) return {.local = local};
  if (const auto since = parse_duration(text); since && *since >= Duration::zero()) return {.since_zero = since};
  throw UsageError(
      fmt::format("{}: expected a time since the log's zero such as 36h or 10d, or a local one such as 1996-10-01 or "
                  "1996-10-01T12:00, found '{}'",
                  option, text));
}

std::vector<NumberRange> parse_ranges(std::string_view option, std::string_view text) {
  std::vector<NumberRange> ranges;
  for (const std::string_view part : split(text, ',')) {
    const auto range = parse_range(part);
    if (!range)
      throw UsageError(fmt::format(
          "{}: expected numbers and ranges such as 7, 1-1000 or 1000-, joined by commas, found '{}'", option, text));
    ranges.push_back(*range);
  }
  return ranges;
}

CutResult cut_trace(TraceReader& reader, TraceWriter& writer, const CutOptions& options, std::string_view command) {
  Cut cut(reader.header(), options);
  Survivors survivors;
  CutResult result;
  for (TraceEntry entry; reader.next(entry);) {
    ++result.read;
    if (cut.keeps(entry.record)) {
      if (result.kept == 0) {
        if (options.rebase) result.moved = new_zero(entry.record, reader);
        write_header(writer, reader.header(), result, command);
      }
      ++result.kept;
      if (options.rebase) rebase(entry.record, result, reader);
      survivors.keep(entry.record);
      writer.write_comments(reader.swf().comments());
      writer.write(entry);
    }
    if (cut.is_done() && !options.drain) break;
  }
  if (result.kept == 0)
    throw InputError(fmt::format("{}: nothing is left: none of {} records is in the part that is asked for",
                                 reader.swf().name(), result.read));
  result.orphans = survivors.orphans();
  return result;
}

}  // namespace replay
