#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "scheduler/base/error.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/log/text_words.hpp"

namespace replay::log {
namespace {

constexpr std::size_t kWriteBufferBytes = std::size_t{1} << 18;

using Buffer = fmt::memory_buffer;

void put(Buffer& out, std::string_view text) { out.append(text.data(), text.data() + text.size()); }

template <std::integral Integer>
void put(Buffer& out, Integer value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.data() + digits.size());
}

// The shortest text that reads back as the same double.
void put(Buffer& out, double value) {
  INVARIANT(std::isfinite(value), "the log cannot hold {}", value);
  if (value == std::trunc(value) && std::abs(value) < 1e15 && !std::signbit(value))
    put(out, static_cast<std::int64_t>(value));
  else
    put(out, fmt::format("{}", value));
}

// As replay::to_text(Duration), without the string.
void put(Buffer& out, Duration time) {
  const std::int64_t count = time.count();
  const auto micros = count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  if (count < 0) out.push_back('-');
  put(out, micros / 1'000'000);
  auto rest = static_cast<std::uint32_t>(micros % 1'000'000);
  if (rest == 0) return;
  std::array<char, 7> digits{'.'};
  for (std::size_t i = digits.size() - 1; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  std::size_t size = digits.size();
  while (digits[size - 1] == '0') --size;
  put(out, std::string_view{digits.data(), size});
}

// Control characters, backslashes and `quote` would end a line or a string: they are escaped.
void put_escaped(Buffer& out, std::string_view text, char quote) {
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n')
      put(out, "\\n");
    else if (c == '\t')
      put(out, "\\t");
    else if (code < 0x20 || code == 0x7f)
      put(out, fmt::format("\\x{:02x}", code));
    else if (c == '\\' || c == quote)
      out.push_back('\\'), out.push_back(c);
    else
      out.push_back(c);
  }
}

template <class Value>
void put_field(Buffer& out, std::string_view name_and_sign, const Value& value) {
  put(out, name_and_sign);
  put(out, value);
}

void put_quoted(Buffer& out, std::string_view name_and_sign, std::string_view text) {
  put(out, name_and_sign);
  out.push_back('"');
  put_escaped(out, text, '"');
  out.push_back('"');
}

void put_job(Buffer& out, JobId job, std::string_view name_and_sign = " job=") {
  put_field(out, name_and_sign, number(job));
}

void put_jobs(Buffer& out, std::string_view name_and_sign, const std::vector<JobId>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) put_job(out, jobs[i], i == 0 ? name_and_sign : ",");
}

// `on=0-3:2,7:1`: ascending neighbours with equally many processes are one range.
void put_allocation(Buffer& out, const Allocation& allocation) {
  put_field(out, " cores=", allocation.cores);
  put_field(out, " mpl=", allocation.mpl);
  const auto& named = allocation.named;
  std::string_view before = " on=";
  for (std::size_t first = 0; first < named.size();) {
    std::size_t last = first;
    while (last + 1 < named.size() && named[last + 1].core == next(named[last].core) &&
           named[last + 1].processes == named[first].processes)
      ++last;
    put_field(out, before, number(named[first].core));
    if (last != first) put_field(out, "-", number(named[last].core));
    put_field(out, ":", named[first].processes);
    before = ",";
    first = last + 1;
  }
  if (allocation.shareable) put(out, " shareable=yes");
  if (allocation.processes != 0) put_field(out, " processes=", allocation.processes);
}

void put_choice(Buffer& out, const SizeChoice& choice) {
  if (choice.optimal != 0) put_field(out, " optimal=", choice.optimal);
  if (choice.modifier != 0) put_field(out, " modifier=", choice.modifier);
  if (choice.horizon == Duration::zero()) return;
  put_field(out, " load=", choice.load);
  put_field(out, " ideal=", choice.ideal);
  put_field(out, " horizon=", choice.horizon);
}

template <class Value>
void put_if_stated(Buffer& out, std::string_view name_and_sign, const std::optional<Value>& value) {
  if (value) put_field(out, name_and_sign, *value);
}

void put_declaration(Buffer& out, const Declaration& declaration) {
  put_if_stated(out, " least=", declaration.least);
  put_if_stated(out, " most=", declaration.most);
  if (!declaration.sizes.empty()) put_field(out, " sizes=", sizes_text(declaration.sizes));
  if (declaration.speedup) put_field(out, " speedup=", replay::to_text(*declaration.speedup));
  put_if_stated(out, " same_cpu=", declaration.same_cpu_slowdown);
  put_if_stated(out, " same_node=", declaration.same_node_slowdown);
  put_if_stated(out, " pair_key=", declaration.pair_key);
}

// Fields with their default value are left out; the reader restores it.
struct PutFields {
  Buffer& out;
  Instant at;

  void operator()(const Submitted& what) const {
    const auto& [job, truth] = what;
    put_job(out, job.id);
    if (job.submitted != at) put_field(out, " submitted=", job.submitted.time_since_epoch());
    put_field(out, " processes=", job.processes);
    put_field(out, " estimate=", job.estimate);
    put_field(out, " runtime=", truth.runtime);
    put_field(out, " flexibility=", replay::to_text(job.flexibility));
    if (job.declared.cpu_use != 1) put_field(out, " cpu_use=", job.declared.cpu_use);
    if (job.declared.network_overhead != 0) put_field(out, " overhead=", job.declared.network_overhead);
    if (truth.behaviour.cpu_use != job.declared.cpu_use) put_field(out, " true_cpu_use=", truth.behaviour.cpu_use);
    if (truth.behaviour.network_overhead != job.declared.network_overhead)
      put_field(out, " true_overhead=", truth.behaviour.network_overhead);
    if (job.user != -1) put_field(out, " user=", job.user);
    if (job.group != -1) put_field(out, " group=", job.group);
    if (job.queue != -1) put_field(out, " queue=", job.queue);
    if (truth.executable != -1) put_field(out, " executable=", truth.executable);
    if (truth.cut_at_request) put(out, " cut_at_request=yes");
    if (job.user_priority != 0) put_field(out, " user_priority=", job.user_priority);
    if (std::isinf(job.political_priority))
      put(out, " political_priority=-inf");
    else if (job.political_priority != 0)
      put_field(out, " political_priority=", job.political_priority);
    if (job.declaration) put_declaration(out, *job.declaration);
    if (truth.speedup_power != 1) put_field(out, " speedup_power=", static_cast<double>(truth.speedup_power));
    if (truth.slowdown_power != 1) put_field(out, " slowdown_power=", static_cast<double>(truth.slowdown_power));
  }
  template <OnlyAJob Id>
  void operator()(const Id& what) const {
    put_job(out, what.job);
  }
  void operator()(const StartDecided& what) const {
    put_job(out, what.job);
    put_allocation(out, what.allocation);
    put_choice(out, what.choice);
  }
  template <JobAndAllocation Id>
  void operator()(const Id& what) const {
    put_job(out, what.job);
    put_allocation(out, what.allocation);
  }
  void operator()(const RanksSeen& what) const {
    put_job(out, what.job);
    put(out, what.malleable ? " malleable=yes" : " malleable=no");
    if (!what.reason.empty()) put_quoted(out, " reason=", what.reason);
  }
  void operator()(const KillDecided& what) const {
    put_job(out, what.job);
    put_field(out, " reason=", to_text(what.reason));
  }
  void operator()(const Extended& what) const {
    put_job(out, what.job);
    put_field(out, " estimate=", what.estimate);
  }
  void operator()(const Finished& what) const {
    const JobEnd& end = what.end;
    put_job(out, what.job);
    put_field(out, " outcome=", replay::to_text(end.outcome));
    if (end.exit_code != 0) put_field(out, " exit_code=", end.exit_code);
    if (end.verification != Verification::kNone) put_field(out, " verification=", replay::to_text(end.verification));
    if (end.cpu_use != -1) put_field(out, " cpu_use=", end.cpu_use);
    if (!end.reason.empty()) put_quoted(out, " reason=", end.reason);
  }
  void operator()(const Failed& what) const {
    put_job(out, what.job);
    put_quoted(out, " action=", what.action);
    put_quoted(out, " reason=", what.reason);
  }
  void operator()(const Note& what) const { put_quoted(out, " text=", what.text); }
  void operator()(const GroupFormed& what) const {
    put_job(out, what.primary, " primary=");
    put_jobs(out, " matched=", what.matched);
    put_field(out, " way=", what.way);
    put_field(out, " gain=", what.gain);
  }
  void operator()(const GroupEnded& what) const { put_job(out, what.primary, " primary="); }
  void operator()(const MatchRefused& what) const {
    put_job(out, what.primary, " primary=");
    put_jobs(out, " matched=", what.matched);
    put_field(out, " gain=", what.gain);
    put_job(out, what.delayed, " delayed=");
    put_field(out, " response=", what.response);
    put_field(out, " limit=", what.limit);
  }
  void operator()(const ResponseExpected& what) const {
    put_job(out, what.job);
    put_field(out, " response=", what.response);
  }
  void operator()(const ClassAssigned& what) const {
    put_job(out, what.job);
    put_field(out, " class=", to_text(what.job_class));
  }
  void operator()(const SliceBegun& what) const {
    put_field(out, " class=", to_text(what.job_class));
    put_field(out, " begins=", what.begins.time_since_epoch());
    put_field(out, " ends=", what.ends.time_since_epoch());
  }
};

void put_record(Buffer& out, const Record& record) {
  put(out, record.at.time_since_epoch());
  out.push_back(' ');
  put(out, kKindWords[record.what.index()]);
  std::visit(PutFields{out, record.at}, record.what);
}

void put_header(Buffer& out, const Header& header) {
  put(out, kFirstLine);
  out.push_back('\n');
  for (const auto& [name, value] : header.entries) {
    INVARIANT(!name.empty() && name.find_first_of(" \t\n\r\\") == std::string::npos, "a header named '{}'", name);
    out.push_back('#');
    put(out, name);
    if (!value.empty()) out.push_back(' ');
    put_escaped(out, value, '\0');
    out.push_back('\n');
  }
}

}  // namespace

std::string to_line(const Record& record) {
  Buffer buffer;
  put_record(buffer, record);
  return fmt::to_string(buffer);
}

TextWriter::TextWriter(const std::filesystem::path& path)
    : path_(path), file_(std::fopen(path.c_str(), "w+be"), &std::fclose) {
  if (!file_) fail(errno);
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // buffer_ is the buffer
}

TextWriter::~TextWriter() {
  if (file_)
    std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get());  // best effort: a destructor cannot report an error
}

void TextWriter::header(const Header& header) { put_header(buffer_, header); }

void TextWriter::record(const Record& record) {
  put_record(buffer_, record);
  buffer_.push_back('\n');
  if (buffer_.size() >= kWriteBufferBytes) write_buffer();
}

void TextWriter::flush() {
  write_buffer();
  if (std::fflush(file_.get()) != 0) fail(errno);
}

void TextWriter::save() {
  flush();
  if (::fdatasync(::fileno(file_.get())) != 0 && errno != EINVAL) fail(errno);  // EINVAL: not a file, but a pipe
}

void TextWriter::close() {
  flush();
  if (std::fclose(file_.release()) != 0) fail(errno);
}

void TextWriter::write_buffer() {
  errno = 0;
  const std::size_t written = std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get());
  const bool whole = written == buffer_.size();
  buffer_.clear();
  if (whole) return;
  const int error = errno;
  mark_cut(std::strerror(error));
  fail(error);
}

// A full disk has no room for one more line: the mark replaces the last lines, and the file does not grow. If that
// fails the file is cut in the middle of a line, which readers detect, too.
void TextWriter::mark_cut(const std::string& reason) {
  Buffer mark;
  put(mark, kCutMark);
  mark.push_back(' ');
  put_escaped(mark, reason, '\0');
  mark.push_back('\n');
  const int file = ::fileno(file_.get());
  const off_t end = ::lseek(file, 0, SEEK_END);
  if (end <= static_cast<off_t>(mark.size())) return;
  std::string tail(std::min<std::size_t>(static_cast<std::size_t>(end), kWriteBufferBytes), '\0');
  const off_t start = end - static_cast<off_t>(tail.size());
  if (::pread(file, tail.data(), tail.size(), start) != static_cast<ssize_t>(tail.size())) return;
  const std::size_t last_line = tail.rfind('\n', tail.size() - mark.size() - 1);
  if (last_line == std::string::npos) return;
  const off_t at = start + static_cast<off_t>(last_line) + 1;
  if (::ftruncate(file, at) == 0) static_cast<void>(!::pwrite(file, mark.data(), mark.size(), at));
}

void TextWriter::fail(int error) const {
  throw InputError(fmt::format("{}: cannot write the event log: {}", path_.string(), std::strerror(error)));
}

}  // namespace replay::log
