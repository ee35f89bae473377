#include "traces/swf_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "traces/file_kind.hpp"

namespace replay {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kMostKilobytes = 9'000'000'000'000'000;  // a double holds every whole number up to here

constexpr std::string_view kBlanks = " \t";

bool is_separator(char c) { return c == ' ' || c == '\t'; }

std::string shown(std::string_view text) { return visible_text(text, 40); }

constexpr bool is_swf_time(int field, std::int64_t seconds) {
  return seconds >= -most_swf_seconds(field) && seconds <= most_swf_seconds(field);
}

// The first 18 fields of a line, as far as they are whole numbers.
struct WholeFields {
  std::array<std::int64_t, kSwfFields> numbers;  // 0 where the field is not a whole number, or too long to be sure
  std::uint64_t magnitudes = 0;                  // bitwise or of all numbers without their signs
  std::uint32_t whole = 0;                       // bit i: field i + 1 is one
  int count = 0;                                 // of the fields that were read
  const char* rest;                              // the text behind them

  [[nodiscard]] bool are_all_whole() const { return whole == (1U << kSwfFields) - 1; }
};

std::uint64_t eight_bytes(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}
static_assert(std::endian::native == std::endian::little && kReadableBehindLine == sizeof(std::uint64_t));

// The digits at the start of eight characters, side by side in one word. `trace info` on 10^6 jobs of Lublin's model takes 0.34 s of
// CPU time with it, and 0.41 s with the digits one after the other; on Curie's log, whose numbers are short, there is no gain.
struct Digits {
  std::uint64_t values;  // a byte each, the first one in the lowest; bytes behind them are undefined
  int count;

  explicit Digits(std::uint64_t characters) : values(characters ^ 0x3030'3030'3030'3030) {             // '0' is 0
    const std::uint64_t others = ((values + 0x7676'7676'7676'7676) | values) & 0x8080'8080'8080'8080;  // above 9
    count = std::countr_zero(others) / 8;
  }
  // REQUIRES: count >= 1.
  [[nodiscard]] std::uint64_t number() const {
    const std::uint64_t digits = values << (64 - 8 * count);
    const std::uint64_t pairs = digits * (1 + (10 << 8)) >> 8 & 0x00ff'00ff'00ff'00ff;
    const std::uint64_t fours = pairs * (1 + (100 << 16)) >> 16 & 0x0000'ffff'0000'ffff;
    return fours * (1 + (std::uint64_t{10'000} << 32)) >> 32;
  }
};

// A whole number without a sign, and how many digits it has; more than 16 are not read.
struct Magnitude {
  std::uint64_t value;
  int length;
};

Magnitude long_magnitude_at(const char* at, std::uint64_t first) {
  static constexpr std::array<std::uint64_t, 9> kPowers = {1,       10,        100,        1'000,      10'000,
                                                           100'000, 1'000'000, 10'000'000, 100'000'000};
  const Digits second(eight_bytes(at + 8));
  if (second.count == 0) return {first, 8};
  return {first * kPowers[static_cast<std::size_t>(second.count)] + second.number(), 8 + second.count};
}

Magnitude magnitude_at(const char* at) {
  const Digits digits(eight_bytes(at));
  if (digits.count == 0) [[unlikely]]
    return {0, 0};
  if (digits.count == 8) [[unlikely]]
    return long_magnitude_at(at, digits.number());
  return {digits.number(), digits.count};
}

WholeFields read_whole_fields(std::string_view line) {
  constexpr std::uint64_t kMinusOne = '-' | '1' << 8 | ' ' << 16, kThreeBytes = 0xff'ffff, kOneByte = 0xff;
  WholeFields fields;
  const char* at = line.data();
  const char* const end = at + line.size();
  std::uint64_t magnitudes = 0;
  std::uint32_t others = 0;
  std::size_t count = 0;
  for (; count < kSwfFields; ++count) {
    std::uint64_t text = eight_bytes(at);
    if ((text & kOneByte) <= ' ') {  // a second blank, or the end
      while (is_separator(*at)) ++at;
      if (at == end) break;
      text = eight_bytes(at);
    }
    if ((text & kThreeBytes) == kMinusOne) {  // most fields of most logs
      fields.numbers[count] = -1;
      at += 3;
      continue;
    }
    // A short number and a blank, as nearly all other fields; the rest is handled below.
    if (const Digits digits(text); digits.count > 0 && digits.count < 8 && at[digits.count] == ' ') [[likely]] {
      const std::uint64_t value = digits.number();
      magnitudes |= value;
      fields.numbers[count] = static_cast<std::int64_t>(value);
      at += digits.count + 1;
      continue;
    }
    const bool negative = *at == '-';
    const char* const digits = at + (negative ? 1 : 0);
    const auto [value, length] = magnitude_at(digits);
    const char* const behind = digits + length;
    if (length > 0 && (behind == end || is_separator(*behind))) {
      magnitudes |= value;
      fields.numbers[count] = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
      at = behind;
      continue;
    }
    others |= 1U << count;
    fields.numbers[count] = 0;
    while (at != end && !is_separator(*at)) ++at;
  }
  while (is_separator(*at)) ++at;
  fields.magnitudes = magnitudes;
  fields.whole = ((1U << count) - 1) & ~others;
  fields.count = static_cast<int>(count);
  fields.rest = at;
  return fields;
}

// The fields of a line of whole numbers of the usual size: each fits any field.
class UsualFields {
 public:
  // REQUIRES: are_usual(fields).
  explicit UsualFields(const WholeFields& fields) : fields_(fields) {}

  static bool are_usual(const WholeFields& fields) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
    static_assert(kMost <= kMostSwfRunSeconds && kMost <= kMostKilobytes);
    return fields.are_all_whole() && fields.magnitudes <= kMost;
  }

  Duration time(int field) { return Duration{number(field) * kMicrosPerSecond}; }
  template <class Integer>
  Integer whole(int field) {
    return static_cast<Integer>(number(field));
  }
  double kilobytes(int field) { return static_cast<double>(number(field)); }

 private:
  [[nodiscard]] std::int64_t number(int field) const { return fields_.numbers[static_cast<std::size_t>(field - 1)]; }

  const WholeFields& fields_;
};

// The fields of any line: the text of a field is looked for when its number is not enough.
class Fields {
 public:
  Fields(std::string_view line, const WholeFields& fields) : line_(line), fields_(fields) {}

  [[nodiscard]] int count() const { return fields_.count + count_more(fields_.rest, line_.data() + line_.size()); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  Duration time(int field) {
    if (is_whole(field) && is_swf_time(field, number(field))) return Duration{number(field) * kMicrosPerSecond};
    return decimal_time(field);
  }

  template <class Integer>
  Integer whole(int field) {
    if (is_whole(field) && std::in_range<Integer>(number(field))) return static_cast<Integer>(number(field));
    return unusual_whole<Integer>(field);
  }

  double kilobytes(int field) {
    const auto size = is_whole(field) ? static_cast<double>(number(field)) : parse_finite(text(field));
    if (!size) return fail(field, "a number of kilobytes"), -1;
    if (std::abs(*size) > static_cast<double>(kMostKilobytes))
      return fail(field, fmt::format("at most {} kilobytes", kMostKilobytes)), -1;
    return *size;
  }

 private:
  static int count_more(const char* at, const char* end) {
    int more = 0;
    while (at != end) {
      ++more;
      while (at != end && !is_separator(*at)) ++at;
      while (at != end && is_separator(*at)) ++at;
    }
    return more;
  }

  // For numbers of more than 16 digits, which read_whole_fields() does not read, and for whole numbers that some tools
  // write as "4.0" and "1e+06".
  template <class Integer>
  Integer unusual_whole(int field) {
    const std::string_view found = text(field);
    if (const auto long_one = parse_number<Integer>(found)) return *long_one;
    const auto value = parse_finite(found);
    if (!is_whole(field) && !value) return fail(field, "a whole number"), Integer{-1};
    constexpr double kExact = 9e15;
    const double least = std::max(static_cast<double>(std::numeric_limits<Integer>::min()), -kExact);
    const double most = std::min(static_cast<double>(std::numeric_limits<Integer>::max()), kExact);
    if (!value || *value < least || *value > most)
      return fail(field, fmt::format("a whole number up to {}", std::numeric_limits<Integer>::max())), Integer{-1};
    if (std::trunc(*value) != *value) return fail(field, "a whole number"), Integer{-1};
    return static_cast<Integer>(*value);
  }

  Duration decimal_time(int field) {
    const Duration most = std::chrono::seconds{most_swf_seconds(field)};
    auto time = parse_seconds(text(field));
    const auto value = time ? std::nullopt : parse_finite(text(field));
    if (value && std::abs(*value) <= seconds(most)) time = from_seconds(*value);
    if (time && *time >= -most && *time <= most) return *time;
    const bool is_number = time || value || is_whole(field);
    fail(field, is_number ? fmt::format("at most {} seconds", most_swf_seconds(field)) : "a number of seconds");
    return kUnknownTime;
  }

  [[nodiscard]] bool is_whole(int field) const { return (fields_.whole >> (field - 1) & 1) != 0; }
  [[nodiscard]] std::int64_t number(int field) const { return fields_.numbers[static_cast<std::size_t>(field - 1)]; }

  [[nodiscard]] std::string_view text(int field) const {
    std::string_view rest = line_;
    for (int i = 1;; ++i) {
      rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
      const std::string_view found = rest.substr(0, rest.find_first_of(kBlanks));
      if (i == field) return found;
      rest.remove_prefix(found.size());
    }
  }

  void fail(int field, std::string_view expected) {
    if (problem_.empty())
      problem_ = fmt::format("field {} ({}): expected {}, found '{}'", field,
                             kSwfFieldNames[static_cast<std::size_t>(field - 1)], expected, shown(text(field)));
  }

  std::string_view line_;
  const WholeFields& fields_;
  std::string problem_;
};

template <class Fields>
void fill(SwfRecord& record, Fields& fields) {
  record.job = fields.template whole<std::int64_t>(1);
  record.submit = fields.time(2);
  record.wait = fields.time(3);
  record.run = fields.time(4);
  record.allocated = fields.template whole<std::int32_t>(5);
  record.average_cpu = fields.time(6);
  record.used_memory = fields.kilobytes(7);
  record.requested = fields.template whole<std::int32_t>(8);
  record.requested_time = fields.time(9);
  record.requested_memory = fields.kilobytes(10);
  record.status = fields.template whole<std::int32_t>(11);
  record.user = fields.template whole<std::int32_t>(12);
  record.group = fields.template whole<std::int32_t>(13);
  record.executable = fields.template whole<std::int32_t>(14);
  record.queue = fields.template whole<std::int32_t>(15);
  record.partition = fields.template whole<std::int32_t>(16);
  record.preceding = fields.template whole<std::int64_t>(17);
  record.think_time = fields.time(18);
}

std::string wrong_count(int count, std::string_view line) {
  return fmt::format("expected {} fields, found {} in '{}'", kSwfFields, count, shown(line));
}

// What is wrong with the line, or an empty string.
std::string parse_unusual_line(std::string_view line, Fields fields, SwfRecord& record) {
  if (fields.count() < kSwfFields) return wrong_count(fields.count(), line);
  fill(record, fields);
  return fields.problem();
}

}  // namespace

bool parse_swf_line(std::string_view line, SwfRecord& record, std::string& problem, int& fields) {
  const WholeFields numbers = read_whole_fields(line);
  fields = kSwfFields;
  if (UsualFields::are_usual(numbers) && numbers.rest == line.data() + line.size()) [[likely]] {
    UsualFields usual(numbers);
    fill(record, usual);
    return true;
  }
  const Fields unusual(line, numbers);
  fields = unusual.count();
  problem = parse_unusual_line(line, unusual, record);
  return problem.empty();
}

SwfReader::SwfReader(const std::string& path, SwfReaderOptions options)
    : SwfReader((expect_no_run_folder(path), open_source(path)), options) {}

SwfReader::SwfReader(std::unique_ptr<ByteSource> source, SwfReaderOptions options)
    : lines_(std::move(source)), options_(options), header_(lines_.name()) {
  read_header();
}

// A line without its ';' does not end the header: what follows it, the machine's size perhaps, still counts.
void SwfReader::read_header() {
  SwfRecord record;
  if (find_record(record, [this](std::string_view text) { header_.add_line(std::string(text), lines_.number()); }))
    first_ = record;
}

bool SwfReader::next(SwfRecord& record) {
  comments_.clear();
  CommentCount count;
  const auto keep = [&](std::string_view text) {
    count.add(text, lines_.name(), lines_.number());
    comments_.emplace_back(text);
  };
  if (first_) {
    record = *std::exchange(first_, std::nullopt);
  } else if (!find_record(record, keep)) {
    expect_some_record();
    return false;
  }
  ++records_;
  return true;
}

template <class OnComment>
bool SwfReader::find_record(SwfRecord& record, OnComment on_comment) {
  while (const auto line = lines_.next()) {
    if (is_comment(*line)) {
      on_comment(line->text);
      continue;
    }
    if (read_record(*line, record)) return true;
  }
  return false;
}

bool SwfReader::read_record(const LineReader::Line& line, SwfRecord& record) {
  std::string problem;
  int fields = kSwfFields;
  if (line.too_long)
    problem = fmt::format("expected at most {} characters, found more in '{}'", kLongestLine, shown(line.text));
  else if (parse_swf_line(line.text, record, problem, fields)) {
    if (fields > kSwfFields) note_long(fields, line.text);
    return true;
  }
  if (records_ == 0 && broken_lines_ == 0)
    if (const auto other = kind_of_text(line.text, lines_.name()))
      throw InputError(fmt::format("{}: expected a trace in SWF, found {}", lines_.name(), other->text));
  note_broken(problem);
  return false;
}

bool SwfReader::is_comment(const LineReader::Line& line) const {
  if (line.too_long) return false;
  const std::size_t first = line.text.find_first_not_of(kBlanks);
  return first == std::string_view::npos || line.text[first] == ';';
}

void SwfReader::note_broken(std::string_view problem) {
  const InputError error(lines_.name(), lines_.number(), problem);
  if (options_.strict) throw error;
  ++broken_lines_;
  if (broken_messages_.size() >= options_.messages_to_keep) return;
  broken_messages_.emplace_back(error.what());
  broken_line_numbers_.push_back(lines_.number());
}

void SwfReader::note_long(int fields, std::string_view line) {
  if (options_.strict) throw InputError(lines_.name(), lines_.number(), wrong_count(fields, line));
  ++long_records_;
  if (long_record_lines_.size() < options_.messages_to_keep) long_record_lines_.push_back(lines_.number());
}

void SwfReader::expect_some_record() const {
  if (records_ > 0) return;
  if (broken_lines_ == 0)
    throw InputError(fmt::format("{}: no records: expected lines of {} numbers, found {}", lines_.name(), kSwfFields,
                                 lines_.number() == 0 ? "an empty file" : "only comments"));
  throw InputError(fmt::format("{}: no records: expected lines of {} numbers, found none among {}; the first: {}",
                               lines_.name(), kSwfFields, counted(broken_lines_, "line"),
                               broken_messages_.empty() ? "" : broken_messages_.front()));
}

std::string_view long_record_text() { return "of more than 18 fields, read by their first 18"; }

std::vector<std::string> odd_line_report(const SwfReader& reader) {
  std::vector<std::string> lines;
  if (reader.broken_lines() > 0)
    lines.push_back(fmt::format("skipped {}:", counted(reader.broken_lines(), "broken line")));
  lines.insert(lines.end(), reader.broken_messages().begin(), reader.broken_messages().end());
  if (reader.long_records() > 0)
    lines.push_back(
        fmt::format("{}: {} {}", reader.name(), counted(reader.long_records(), "record"), long_record_text()));
  return lines;
}

}  // namespace replay
