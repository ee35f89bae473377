#include "traces/convert/pbs_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/convert/dependency.hpp"
#include "traces/convert/pbs_values.hpp"
#include "traces/file_kind.hpp"

namespace replay::pbs {
namespace {

using accounting::Fate;
using accounting::kLongestName;

// Types of records about jobs that have no run of their own to tell: see docs/formats/pbs.md.
constexpr std::string_view kTypes = "QSERDAMzr";

std::optional<std::int64_t> read_count(std::string_view text) {
  return parse_number<std::int64_t>(text, 0, accounting::kMostProcessors);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Of a record that begins with "03/01/2024 12:00:00"; nothing where there is no such day or hour.
std::optional<std::int64_t> time_of(std::string_view record, const LocalClock& clock) {
  return clock.parse(
      fmt::format("{}-{}-{}T{}", record.substr(6, 4), record.substr(0, 2), record.substr(3, 2), record.substr(11, 8)));
}

// Of "1234[5].server", "1234[].server" and TORQUE's "1234-5.server": "1234[].server". Nothing for a job of no array.
std::optional<std::string> array_of(std::string_view id) {
  const std::size_t digits = std::min(id.find_first_not_of("0123456789"), id.size());
  const std::size_t dot = std::min(id.find('.'), id.size());
  if (digits == dot || digits == 0 || (id[digits] != '[' && id[digits] != '-')) return std::nullopt;
  return fmt::format("{}[]{}", id.substr(0, digits), id.substr(dot));
}

// Calls take(name, value) for each "name=value". A value with blanks is quoted by PBS, not by TORQUE: there its further
// words are passed over.
template <class Take>
void for_each_attribute(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::size_t equals = text.find('=');
    std::size_t end = blank;
    if (equals < blank) {
      const char quote = equals + 1 < text.size() ? text[equals + 1] : ' ';
      std::size_t from = equals + 1;
      if (quote == '"' || quote == '\'') {
        std::size_t close = text.find(quote, from + 1);
        while (close != std::string_view::npos && close + 1 < text.size() && text[close + 1] != ' ')
          close = text.find(quote, close + 1);
        if (close != std::string_view::npos) ++from, end = close;
      }
      take(text.substr(0, equals), text.substr(from, end - from));
      if (end != blank && end < text.size()) ++end;  // the quote
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

const std::array<std::string_view, Reader::kKeyCount> Reader::kNames{"user",
                                                                     "group",
                                                                     "account",
                                                                     "jobname",
                                                                     "queue",
                                                                     "depend",
                                                                     "ctime",
                                                                     "qtime",
                                                                     "etime",
                                                                     "start",
                                                                     "end",
                                                                     "exec_vnode",
                                                                     "exec_host",
                                                                     "resource_assigned.ncpus",
                                                                     "Resource_List.select",
                                                                     "Resource_List.nodes",
                                                                     "Resource_List.ncpus",
                                                                     "Resource_List.procs",
                                                                     "Resource_List.nodect",
                                                                     "Resource_List.walltime",
                                                                     "Resource_List.mem",
                                                                     "Resource_List.pmem",
                                                                     "resources_used.cput",
                                                                     "resources_used.mem",
                                                                     "resources_used.walltime",
                                                                     "Exit_status"};

Reader::Reader(std::vector<std::unique_ptr<ByteSource>> sources, const ReaderOptions& options)
    : accounting::Reader(options), name_(sources.front()->name()) {
  for (auto& source : sources) {
    File& file = files_.emplace_back(File{.lines = LineReader(std::move(source)), .first = {}, .begin = {}});
    const auto line = file.lines.next();
    file.has_first = line.has_value();
    if (line) file.first = line->text;
    if (is_pbs_record(file.first)) file.begin = time_of(file.first, clock_);
  }
  std::ranges::stable_sort(files_, {}, &File::begin);
}

bool Reader::next(Job& job) {
  while (ready_.empty() && !is_at_end_)
    if (!read_line()) give_rest();
  if (ready_.empty()) {
    if (tally_.jobs == 0) fail_without_jobs("records of PBS such as E, S and Q", "none of these types");
    return false;
  }
  job = std::move(ready_.front());
  ready_.pop_front();
  ++tally_.jobs;
  return true;
}

bool Reader::read_line() {
  if (file_ == files_.size()) return false;
  File& file = files_[file_];
  LineReader::Line line{.text = file.first};
  if (!std::exchange(file.has_first, false)) {
    const auto next = file.lines.next();
    if (!next) return ++file_, true;
    line = *next;
  }
  if (line.text.empty()) return true;
  try {
    if (line.too_long) throw InputError(fmt::format("expected at most {} characters, found more", kLongestLine));
    read_record(line.text);
  } catch (const InputError& error) {
    note_broken(file.lines.name(), file.lines.number(), error.what());
  }
  return true;
}

void Reader::read_record(std::string_view line) {
  const auto at = is_pbs_record(line) ? time_of(line, clock_) : std::nullopt;
  if (!at)
    throw InputError(
        fmt::format("expected a record such as 'MM/DD/YYYY HH:MM:SS;E;JOB;...', found '{}'", visible_text(line, 40)));
  at_ = *at;
  line.remove_prefix(line.find(';') + 1);
  const char type = line.front();
  line.remove_prefix(2);
  const std::size_t cut = std::min(line.find(';'), line.size());
  const std::string_view id = line.substr(0, cut);
  if (kTypes.find(type) == std::string_view::npos) {
    ++tally_.other_records;
    return;
  }
  if (id.empty() || !is_digit(id.front()))
    throw InputError(fmt::format("field 3: expected a job id such as 1234.server, found '{}'", visible_text(id, 40)));
  read_attributes(line.substr(std::min(cut + 1, line.size())));
  const std::string job = clean_line(id, kLongestName);
  const bool is_known = open_.contains(job);
  try {
    take(type, job);
  } catch (const InputError&) {
    if (!is_known) open_.erase(job);  // a damaged record makes no job
    throw;
  }
}

void Reader::read_attributes(std::string_view text) {
  cells_.fill({});
  for_each_attribute(text, [&](std::string_view name, std::string_view value) {
    const auto known = std::ranges::find(kNames, name);
    if (known != kNames.end()) cells_[static_cast<std::size_t>(known - kNames.begin())] = value;
  });
}

void Reader::take(char type, const std::string& id) {
  Open& open = state_of(id);
  switch (type) {
    case 'Q':
    case 'S':
      open.has_assigned = false;
      describe(open);
      if (type == 'Q' && !open.has_submit) open.job.submit = at_, open.has_submit = true;
      if (type == 'S') {
        open.job.start = time(Key::kStart).value_or(at_);
        open.suspended_at.reset();
        open.suspended = {};
      }
      return;
    case 'z': open.suspended_at = at_; return;
    case 'r':
      if (const auto since = std::exchange(open.suspended_at, std::nullopt); since && at_ > *since)
        open.suspended += std::chrono::seconds{at_ - *since};
      return;
    case 'D':
    case 'A':
    case 'M':
      open.is_deleted = true;
      if (open.has_submit && !open.job.start) leave_queue(open);
      return;
    default: describe(open); end_run(open, type == 'R');
  }
}

// A task of an array is queued with it, in no record of its own.
Reader::Open& Reader::state_of(const std::string& id) {
  const auto [entry, is_new] = open_.try_emplace(id);
  Open& open = entry->second;
  if (!is_new) return open;
  if (const auto array = array_of(id); array && *array != id) {
    arrays_.insert(*array);
    if (const auto parent = open_.find(*array); parent != open_.end()) open = parent->second;
    open.job.start.reset();
    open.is_deleted = false;
  }
  open.job.id = id;
  return open;
}

template <class Read>
auto Reader::checked(Key key, std::string_view expected, Read read) const {
  const std::string_view text = cell(key);
  auto value = text.empty() ? decltype(read(text)){} : read(text);
  if (!value && !text.empty())
    throw InputError(fmt::format("attribute {}: expected {}, found '{}'", kNames[static_cast<std::size_t>(key)],
                                 expected, visible_text(text, 40)));
  return value;
}

std::optional<std::int64_t> Reader::time(Key key) const {
  const auto seconds = checked(key, "seconds since 1970", [](std::string_view text) {
    return parse_number<std::int64_t>(text, 0, kLastUnixSecond);
  });
  return seconds && *seconds > 0 ? seconds : std::nullopt;
}

// What the record in hand says goes before what an earlier one said.
void Reader::describe(Open& open) const {
  Job& job = open.job;
  const auto keep = [](auto& to, const auto& value) {
    if (value) to = value;
  };
  const auto name = [&](std::string& to, Key key) {
    if (!cell(key).empty()) to = clean_line(cell(key), kLongestName);
  };
  const auto created = time(Key::kCreated), queued = time(Key::kQueued);
  if (!open.has_submit && (created || queued)) {
    job.submit = created ? *created : *queued;
    open.has_submit = true;
  }
  if (const auto eligible = time(Key::kEligible); eligible && open.has_submit && *eligible > job.submit)
    job.eligible = eligible;
  if (const auto assigned = checked(Key::kAssignedCpus, "a count", read_count); assigned && *assigned > 0)
    job.allocated = assigned, open.has_assigned = true;
  else if (!open.has_assigned)
    keep(job.allocated, allocated());
  keep(job.requested, requested());
  keep(job.time_limit, checked(Key::kWallTime, "[hours:[minutes:]]seconds", read_duration));
  const auto of_process = checked(Key::kMemoryOfProcess, "a size such as 2gb", read_memory);
  const auto of_job = checked(Key::kMemory, "a size such as 2gb", read_memory);
  const auto size = job.allocated ? job.allocated : job.requested;
  if (of_process && *of_process > 0)
    job.requested_memory = of_process;
  else if (of_job && *of_job > 0 && size)
    job.requested_memory = *of_job / static_cast<double>(*size);
  name(job.user, Key::kUser);
  name(job.group, cell(Key::kGroup).empty() ? Key::kAccount : Key::kGroup);
  name(job.name, Key::kJobName);
  name(job.queue, Key::kQueue);
  if (!cell(Key::kDepend).empty()) job.after = accounting::pbs_dependency(cell(Key::kDepend));
}

std::optional<std::int64_t> Reader::allocated() const {
  const auto vnodes = checked(Key::kExecVnode, "a list such as (n1:ncpus=8)", processors_of_vnodes);
  const auto hosts = checked(Key::kExecHost, "a list such as n1/0*8+n2/0*8 or n1/0+n1/1", processors_of_hosts);
  for (const auto& count : {vnodes, hosts})
    if (count && *count > 0) return count;
  return std::nullopt;
}

// The largest of them: a site's default for one of them stays there beside what the job asked for.
std::optional<std::int64_t> Reader::requested() const {
  std::optional<std::int64_t> most;
  for (const auto& size : {checked(Key::kSelect, "a request such as 2:ncpus=8", processors_of_request),
                           checked(Key::kNodes, "a request such as 2:ppn=8", processors_of_request),
                           checked(Key::kCpus, "a count", read_count), checked(Key::kProcs, "a count", read_count),
                           checked(Key::kNodeCount, "a count", read_count)})
    if (size && *size > most.value_or(0)) most = size;
  return most;
}

void Reader::end_run(Open& open, bool runs_again) {
  Job& job = open.job;
  if (const auto start = time(Key::kStart)) job.start = start;
  job.end = time(Key::kEnd).value_or(at_);
  const auto used = checked(Key::kUsedWallTime, "[hours:[minutes:]]seconds", read_duration);
  const auto cpu = checked(Key::kUsedCpuTime, "[hours:[minutes:]]seconds", read_duration);
  const auto memory = checked(Key::kUsedMemory, "a size such as 2gb", read_memory);
  const auto status =
      checked(Key::kExitStatus, "a number", [](std::string_view text) { return parse_number<std::int64_t>(text); });
  if (!job.start && used && *used > Duration::zero())
    job.start = *job.end - std::chrono::duration_cast<std::chrono::seconds>(*used).count();
  if (open.suspended_at && *job.end > *open.suspended_at)
    open.suspended += std::chrono::seconds{*job.end - *open.suspended_at};
  if (job.start && *job.end >= *job.start)
    job.elapsed = std::max<Duration>(std::chrono::seconds{*job.end - *job.start} - open.suspended, Duration::zero());
  if (cpu && *cpu > Duration::zero()) job.total_cpu = cpu;
  const auto size = job.allocated ? job.allocated : job.requested;
  if (memory && *memory > 0 && size) job.used_memory = *memory / static_cast<double>(*size);
  if (job.start && !job.allocated) job.has_allocation_column = false;
  if (runs_again)
    job.fate = Fate::kFailed;
  else if (!job.start)
    job.fate = Fate::kCancelled;
  else if (status)
    job.fate = *status == 0 ? Fate::kCompleted : open.is_deleted ? Fate::kCancelled : Fate::kFailed;
  const Job ended = job;
  give(open);
  if (!runs_again) {
    open_.erase(ended.id);
    return;
  }
  // The next run waits from the end of this one.
  Open again{.job = ended, .has_submit = true, .suspended_at = {}};
  again.job.submit = *ended.end;
  again.job.after.clear();
  for (auto* const member : {&again.job.eligible, &again.job.start, &again.job.end, &again.job.allocated})
    member->reset();
  again.job.elapsed.reset(), again.job.total_cpu.reset(), again.job.used_memory.reset(), again.job.fate.reset();
  open = std::move(again);
}

void Reader::leave_queue(Open& open) {
  open.job.end = at_;
  open.job.fate = Fate::kCancelled;
  const std::string id = open.job.id;
  give(open);
  open_.erase(id);
}

// An array is one job where none of its tasks has a record; else its tasks are the jobs.
void Reader::give(Open& open) {
  const bool is_array = open.job.id.find("[]") != std::string::npos;
  if (is_array && (open.job.start || arrays_.contains(open.job.id)))
    ++tally_.other_records;
  else if (!open.has_submit)
    ++tally_.without_submit;
  else
    ready_.push_back(open.job);
}

// Jobs that waited or ran when the log was made.
void Reader::give_rest() {
  is_at_end_ = true;
  std::vector<Open*> rest;
  for (auto& [id, open] : open_) rest.push_back(&open);
  std::ranges::sort(rest, {}, [](const Open* open) { return std::tie(open->job.submit, open->job.id); });
  for (Open* const open : rest) {
    open->job.fate = Fate::kUnfinished;
    give(*open);
  }
  open_.clear();
}

}  // namespace replay::pbs
