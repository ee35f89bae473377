#include "scheduler/log/record_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/whole_number.hpp"
#include "scheduler/log/fields.hpp"

namespace replay::log {
namespace {

// One piece of `on`: `7:1` or `0-3:2`.
bool read_piece(std::string_view piece, std::size_t most, std::vector<CoreLoad>& named) {
  const std::size_t colon = piece.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view range = piece.substr(0, colon);
  const std::size_t dash = range.find('-');
  const auto first = parse_number<std::int32_t>(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number<std::int32_t>(range.substr(dash + 1));
  const auto processes = parse_number<ProcessCount>(piece.substr(colon + 1));
  if (!first || !last || !processes || *first < 0 || *last < *first || *processes < 1) return false;
  if (static_cast<std::size_t>(*last - *first) >= most - named.size()) return false;
  for (const CoreId core : CoreRange{CoreId{*first}, CoreId{*last}}) named.push_back({core, *processes});
  return true;
}

// ---- values ----

// What was expected in place of the text; empty: the text has been read.
using Refusal = std::string;

template <class Value, class Parsed>
Refusal take(Value& value, Parsed parsed, std::string_view expected) {
  if (!parsed) return std::string{expected};
  value = Value(*std::move(parsed));
  return {};
}

template <WholeNumber Integer>
Refusal read(std::string_view text, Integer& value) {
  return take(value, parse_number<Integer>(text), "a whole number");
}
template <std::floating_point Real>
Refusal read(std::string_view text, Real& value) {
  const auto number = parse_number<Real>(text);
  return take(value, number && std::isfinite(*number) ? number : std::nullopt, "a number");
}
Refusal read(std::string_view text, bool& value) {
  value = text == "yes";
  return value || text == "no" ? Refusal{} : Refusal{"yes or no"};
}
Refusal read(std::string_view text, JobId& job) { return take(job, parse_number<std::int64_t>(text), "a job number"); }
Refusal read(std::string_view text, NodeId& node) {
  const auto number = parse_number<std::int32_t>(text);
  return take(node, number && *number >= 0 ? number : std::nullopt, "a node number, 0 or more");
}
Refusal read(std::string_view text, Instant& at) { return take(at, parse_seconds(text), "seconds"); }
Refusal read(std::string_view text, Duration& time) {
  const auto value = parse_seconds(text);
  return take(time, value && *value >= Duration::zero() ? value : std::nullopt, "seconds, 0 or more");
}
Refusal read(std::string_view text, SpeedupCurve& speedup) {
  return take(speedup, parse_speedup(text), "a speedup curve");
}
Refusal read(std::string_view text, std::vector<ProcessCount>& sizes) {
  return take(sizes, parse_sizes(text), "ascending counts such as 4|8|16");
}

Refusal read(std::string_view text, std::string& plain) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return take(plain, is_quoted ? unescaped(text.substr(1, text.size() - 2)) : std::nullopt,
              "a string in quotes, with \\\" \\\\ \\n \\t \\xHH as escapes");
}

template <class Enum>
Refusal read(std::string_view text, Enum& value) requires std::is_enum_v<Enum> {
  const auto found = enum_of<Enum>(text);
  return found ? take(value, found, {}) : "one of " + enum_words<Enum>();
}

Refusal read(std::string_view text, std::vector<JobId>& jobs) {
  for (const std::string_view number : split(text, ','))
    if (!read(number, jobs.emplace_back()).empty()) return "job numbers joined by commas";
  return {};
}

template <class Value>
Refusal read(std::string_view text, std::optional<Value>& value) {
  return read(text, value.emplace());
}

// ---- values with a rule ----

Refusal read(std::string_view text, auto& value, NoRule) { return read(text, value); }

template <class Holds>
Refusal read(std::string_view text, auto& value, const FieldRule<Holds>& rule) {
  if (!read(text, value).empty() || !rule.holds(value)) return std::string{rule.expected};
  return {};
}

Refusal read(std::string_view text, double& value, OrMinusInfinity) {
  const auto number = text == "-inf" ? -std::numeric_limits<double>::infinity() : parse_finite(text);
  return take(value, number, "a number or -inf");
}

Refusal read(std::string_view text, CoreLoads& named, NamedCores of) {
  std::vector<CoreLoad> loads;
  const auto most = static_cast<std::size_t>(of.count);
  for (std::string_view rest = text; read_piece(rest.substr(0, rest.find(',')), most, loads);
       rest.remove_prefix(rest.find(',') + 1)) {
    if (rest.find(',') != std::string_view::npos) continue;
    if (loads.size() != most) break;
    named = std::move(loads);
    return {};
  }
  return fmt::format("CORE:PROCESSES or FIRST-LAST:PROCESSES, joined by commas, {} cores in all", of.count);
}

// ---- one line ----

// Reads the fields of one record, `name=value` each, in any order; finish() reports one that was not read.
class LineReader {
 public:
  LineReader(std::string_view text, const Place& place, Instant time) : at(time), place_(place) {
    while (!text.empty()) {
      if (text.front() != ' ') place.fail("expected a blank between two fields, found '{}'", shown(text));
      text.remove_prefix(1);
      const std::size_t sign = text.find_first_of("= ");
      if (sign == std::string_view::npos || sign == 0 || text[sign] != '=')
        place.fail("expected a field name=value, found '{}'", shown(text));
      if (count_ == found_.size()) place.fail("expected at most {} fields, found more", found_.size());
      const std::size_t size = end_of_value(text.substr(sign + 1), text.substr(0, sign));
      found_[count_++] = {text.data(), sign, size};
      text.remove_prefix(sign + 1 + size);
    }
    left_ = (std::uint64_t{1} << count_) - 1;
  }

  template <class Value, class Of = NoRule>
  void field(std::string_view name, Value& value, const Of& rule = {}) {
    const auto text = find(name);
    const Refusal refusal = read(text.value_or(std::string_view{}), value, rule);
    if (!refusal.empty()) refuse(name, refusal, text);
  }
  template <class Value, class Of = NoRule>
  void optional(std::string_view name, Value& value, const std::type_identity_t<Value>& otherwise = {},
                const Of& rule = {}) {
    const auto text = left_ != 0 ? find(name) : std::nullopt;
    if (!text)
      value = otherwise;
    else if (const Refusal refusal = read(*text, value, rule); !refusal.empty())
      refuse(name, refusal, text);
  }
  void together(bool /*are_stated*/, const auto& read_fields) {
    if (left_ != 0) read_fields();
  }
  void declaration(std::shared_ptr<const Declaration>& stated) {
    if (left_ == 0) return;  // as in nearly every record
    Declaration declared;
    fields(*this, declared);
    if (!declared.is_empty()) stated = std::make_shared<const Declaration>(std::move(declared));
  }

  void finish() const {
    if (left_ != 0) place_.fail("field '{}': not known here, or there twice", shown(next_field(left_).name()));
  }

  Instant at;

 private:
  struct Field {
    const char* begin;
    std::size_t name_size;
    std::size_t value_size;  // strings with their quotes

    [[nodiscard]] std::string_view name() const { return {begin, name_size}; }
    [[nodiscard]] std::string_view value() const { return {begin + name_size + 1, value_size}; }
  };

  static std::string shown(std::string_view text) { return visible_text(text, 40); }

  [[noreturn]] void refuse(std::string_view name, const Refusal& expected,
                           std::optional<std::string_view> found) const {
    place_.fail("field '{}': expected {}, found {}", name, expected,
                found ? fmt::format("'{}'", shown(*found)) : "no such field");
  }

  // Takes the first field of the name that was not taken yet.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) {
    for (std::uint64_t rest = left_; rest != 0; rest &= rest - 1) {
      const Field& field = next_field(rest);
      if (field.name() != name) continue;
      left_ &= ~(rest & -rest);
      return field.value();
    }
    return std::nullopt;
  }

  [[nodiscard]] const Field& next_field(std::uint64_t of) const {
    return found_[static_cast<std::size_t>(std::countr_zero(of))];
  }

  [[nodiscard]] std::size_t end_of_value(std::string_view text, std::string_view name) const {
    if (!text.starts_with('"')) return std::min(text.find(' '), text.size());
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        return i + 1;
    }
    place_.fail("field '{}': expected a closing quote, found the end of the line", shown(name));
  }

  Place place_;
  std::array<Field, 32> found_;  // the first count_
  std::size_t count_ = 0;
  std::uint64_t left_ = 0;  // bit i: found_[i] was not taken
};

}  // namespace

std::optional<std::string> unescaped(std::string_view text) {
  constexpr std::string_view kLetters = "nt\"\\", kMeant = "\n\t\"\\", kHex = "0123456789abcdef";
  constexpr std::size_t kNone = std::string_view::npos;
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
    } else if (++i == text.size()) {
      return std::nullopt;
    } else if (const std::size_t letter = kLetters.find(text[i]); letter != kNone) {
      plain += kMeant[letter];
    } else {
      const std::size_t high = i + 1 < text.size() ? kHex.find(text[i + 1]) : kNone;
      const std::size_t low = i + 2 < text.size() ? kHex.find(text[i + 2]) : kNone;
      if (text[i] != 'x' || high == kNone || low == kNone) return std::nullopt;
      plain += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return plain;
}

Record read_record(std::string_view text, const Place& place) {
  const std::size_t after_time = text.find(' ');
  const auto at = parse_seconds(text.substr(0, after_time));
  if (!at) place.fail("field 1 (time): expected seconds, found '{}'", visible_text(text.substr(0, after_time), 40));
  text.remove_prefix(std::min(after_time, text.size()));
  if (!text.empty()) text.remove_prefix(1);
  const std::string_view kind = text.substr(0, text.find(' '));
  const auto* const known = std::ranges::find(kWords, kind);
  if (known == kWords.end())
    place.fail("field 2 (kind): expected one of {}, found '{}'", fmt::join(kWords, ", "), visible_text(kind, 40));
  LineReader line(text.substr(kind.size()), place, Instant{*at});
  Record record{Instant{*at}, SuspendDecided{}};  // of the right kind in a moment
  with_index<kWords.size()>(static_cast<std::size_t>(known - kWords.begin()),
                            [&](auto word) { fields(line, emplace<word>(record.what)); });
  line.finish();
  return record;
}

}  // namespace replay::log
