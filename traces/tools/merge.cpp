#include "traces/tools/merge.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "scheduler/base/error.hpp"
#include "traces/history.hpp"
#include "traces/local_time.hpp"
#include "traces/tools/survivors.hpp"

namespace replay {
namespace {

// ---- the first look at a source ----

struct SourceLook {
  SwfHeader header;
  bool has_partitions = false;
  bool has_predecessors = false;
  Duration latest{};  // submit time
};

SourceLook look_at(const RereadableTrace& trace) {
  TraceReader reader = trace.open();
  SourceLook look{reader.header()};
  std::int64_t last_job = -1;
  for (TraceEntry entry; reader.next(entry);) {
    const SwfRecord& record = entry.record;
    look.has_partitions |= record.partition >= 0;
    look.has_predecessors |= record.preceding >= 0;
    const bool goes_on = is_burst(record) && record.job == last_job;
    last_job = record.job;
    if (goes_on) continue;
    if (record.submit < look.latest)
      throw InputError(reader.swf().name(), reader.swf().line(),
                       fmt::format("field 2 (submit time): expected {} or later, as in the lines above, found {}: "
                                   "`replay trace clean` or `replay trace sort` first",
                                   to_text(look.latest), to_text(record.submit)));
    look.latest = record.submit;
  }
  return look;
}

// ---- a source while it is merged ----

class Source {
 public:
  Source(const RereadableTrace& trace, const SourceLook& look, Duration shift, std::int32_t index, std::int32_t count,
         bool partition_is_source)
      : reader_(trace.open()),
        remembers_(look.has_predecessors),
        shift_(shift),
        index_(index),
        count_(count),
        partition_is_source_(partition_is_source) {
    advance();
  }

  [[nodiscard]] bool is_done() const { return !head_; }
  [[nodiscard]] Duration submit() const { return head_->record.submit + shift_; }
  // Whether the head belongs to the job that was taken last.
  [[nodiscard]] bool goes_on() const { return head_ && is_burst(head_->record) && head_->record.job == last_job_; }

  TraceEntry take(std::int64_t number, std::uint64_t& orphans) {
    TraceEntry entry = std::move(*head_);
    last_job_ = entry.record.job;
    line_ = reader_.swf().line();
    advance();
    renumber(entry.record, number, orphans);
    return entry;
  }
  [[nodiscard]] const TraceReader& reader() const { return reader_; }

 private:
  void advance() {
    TraceEntry entry;
    if (reader_.next(entry))
      head_ = std::move(entry);
    else
      head_.reset();
  }

  void renumber(SwfRecord& r, std::int64_t number, std::uint64_t& orphans) {
    if (r.submit >= Duration::zero()) r.submit += shift_;
    if (r.preceding >= 0) {
      const auto found = numbers_.find(r.preceding);
      if (found == numbers_.end()) ++orphans, r.think_time = kUnknownTime;
      r.preceding = found == numbers_.end() ? -1 : found->second;
    }
    if (remembers_) numbers_.insert_or_assign(r.job, number);
    r.job = number;
    r.user = apart(r.user, 12), r.group = apart(r.group, 13), r.executable = apart(r.executable, 14);
    if (r.queue != 0) r.queue = apart(r.queue, 15);
    r.partition = partition_is_source_ ? index_ + 1 : apart(r.partition, 16);
  }

  [[nodiscard]] std::int32_t apart(std::int32_t number, int field) const {
    if (number < 0) return number;
    const std::int64_t result = std::int64_t{number} * count_ + index_;
    if (result <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(result);
    throw InputError(reader_.swf().name(), line_,
                     fmt::format("field {} ({}): expected at most {} so that {} sources can be kept apart, found {}",
                                 field, kSwfFieldNames[static_cast<std::size_t>(field - 1)],
                                 std::numeric_limits<std::int32_t>::max() / count_, count_, number));
  }

  TraceReader reader_;
  bool remembers_;
  Duration shift_;
  std::int32_t index_, count_;
  bool partition_is_source_;
  std::optional<TraceEntry> head_;
  std::int64_t last_job_ = -1;
  std::size_t line_ = 0;                                    // near the record that was taken last
  std::unordered_map<std::int64_t, std::int64_t> numbers_;  // old to new, where field 17 is used
};

// ---- the common clock ----

std::int64_t unix_start_of(const SwfHeader& header) {
  if (const auto start = header.unix_start_time()) {
    if (*start >= -kMostSwfSeconds && *start <= kMostSwfSeconds) return *start;
    throw InputError(fmt::format("{}: header label UnixStartTime: expected seconds since 1970, at most {}, found {}",
                                 header.source(), kMostSwfSeconds, *start));
  }
  throw InputError(
      fmt::format("{}: header label UnixStartTime: expected seconds since 1970, found nothing: --align "
                  "start puts the zeros of the logs together",
                  header.source()));
}

std::vector<Duration> shifts_of(const std::vector<SourceLook>& looks, Align align) {
  std::vector<Duration> shifts(looks.size());
  if (align == Align::kStart) return shifts;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const SourceLook& look : looks) first = std::min(first, unix_start_of(look.header));
  for (std::size_t i = 0; i < looks.size(); ++i)
    shifts[i] = std::chrono::seconds{unix_start_of(looks[i].header) - first};
  for (std::size_t i = 0; i < looks.size(); ++i)
    if (looks[i].latest + shifts[i] > std::chrono::seconds{kMostSwfSeconds})
      throw InputError(
          fmt::format("{}: header label UnixStartTime: {} s after the first source's, so that the last job would be "
                      "submitted at {}: expected at most {} s: --align start puts the zeros of the logs together",
                      looks[i].header.source(), shifts[i] / std::chrono::seconds{1},
                      to_text(looks[i].latest + shifts[i]), kMostSwfSeconds));
  return shifts;
}

// ---- the header ----

CoreCount merged_machine(const std::vector<SourceLook>& looks, MergedMachine rule) {
  std::int64_t sum = 0, largest = 0;
  for (const SourceLook& look : looks) {
    const auto size = look.header.machine_size();
    if (!size) return 0;
    sum += *size;
    largest = std::max<std::int64_t>(largest, *size);
  }
  const std::int64_t machine = rule == MergedMachine::kSum ? sum : largest;
  return static_cast<CoreCount>(std::min<std::int64_t>(machine, std::numeric_limits<CoreCount>::max()));
}

void copy_all(SwfHeader& to, const SwfHeader& from, std::string_view label) {
  const auto there = to.find_all(label);
  std::vector<std::string> fresh;
  for (const std::string_view value : from.find_all(label))
    if (std::ranges::find(there, value) == there.end()) fresh.emplace_back(value);
  for (const std::string& value : fresh) to.add(label, value);
}

// A line of a source's header as a note, its ';' and the blanks around taken off; empty for a line that says nothing.
std::string_view content_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t;");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

// When the zero of the merged trace was, where that has a meaning: with kUnix the earliest zero; with kStart the first
// source's, because the hours of the day can follow one log only.
void add_clock(SwfHeader& header, const std::vector<SourceLook>& looks, const std::vector<Duration>& shifts) {
  const auto earliest = static_cast<std::size_t>(std::ranges::min_element(shifts) - shifts.begin());
  for (const std::string_view label : {"UnixStartTime", "TimeZoneString", "StartTime"})
    if (const auto value = looks[earliest].header.find(label)) header.add(label, *value);
}

SwfHeader merged_header(const std::vector<SourceLook>& looks, const std::vector<Duration>& shifts, CoreCount machine,
                        std::string_view command) {
  SwfHeader header;
  header.add("Version", "2.2");
  for (const char* label : {"Computer", "Installation", "Acknowledge", "Copyright"})
    for (const SourceLook& look : looks) copy_all(header, look.header, label);
  add_clock(header, looks, shifts);
  if (machine > 0) header.add("MaxProcs", fmt::format("{}", machine));
  const std::size_t count = looks.size();
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& [number, command_line] : looks[i].header.programs())
      header.add(
          "Program",
          fmt::format("{} {}", number * static_cast<std::int64_t>(count) + static_cast<std::int64_t>(i), command_line));
  note_history(header, command);
  for (std::size_t i = 0; i < count; ++i)
    for (const std::string& line : looks[i].header.lines())
      if (const std::string_view content = content_of(line); !content.empty())
        header.add(kHistoryLabel, fmt::format("source {} of {}: {}", i + 1, count, content));
  return header;
}

}  // namespace

MergeResult merge_traces(const std::vector<RereadableTrace>& sources, TraceWriter& writer, const MergeOptions& options,
                         std::string_view command) {
  INVARIANT(sources.size() >= 2, "{} traces to merge", sources.size());
  std::vector<SourceLook> looks;
  looks.reserve(sources.size());
  for (const RereadableTrace& source : sources) looks.push_back(look_at(source));
  const std::vector<Duration> shifts = shifts_of(looks, options.align);
  const bool partition_is_source = std::ranges::none_of(looks, &SourceLook::has_partitions);

  MergeResult result;
  result.records.resize(sources.size());
  result.machine = merged_machine(looks, options.machine);
  writer.write(merged_header(looks, shifts, result.machine, command));
  std::vector<Source> open;
  open.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i)
    open.emplace_back(sources[i], looks[i], shifts[i], static_cast<std::int32_t>(i),
                      static_cast<std::int32_t>(sources.size()), partition_is_source);
  // There are few sources, so a look at each head is faster than a heap. Of equal submit times the earlier source's
  // comes first.
  for (std::int64_t number = 1;; ++number) {
    Source* next = nullptr;
    for (Source& source : open)
      if (!source.is_done() && (next == nullptr || source.submit() < next->submit())) next = &source;
    if (next == nullptr) break;
    std::uint64_t& records = result.records[static_cast<std::size_t>(next - open.data())];
    do {
      writer.write(next->take(number, result.orphans));
      ++records;
    } while (next->goes_on());
  }
  for (const Source& source : open)
    std::ranges::copy(odd_line_report(source.reader()), std::back_inserter(result.odd_lines));
  return result;
}

}  // namespace replay
