#include "scheduler/log/record_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/log/text_words.hpp"
#include "scheduler/model/contention.hpp"

namespace replay::log {
namespace {

constexpr CoreCount kMostCores = 100'000'000;  // as Machine::parse: a broken `on` must not ask for all memory

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

template <std::integral Integer>
Integer integer(Fields& fields, std::string_view name, Integer least, std::string_view expected) {
  const std::string_view text = fields.take(name, expected);
  const auto value = parse_number<Integer>(text);
  if (!value || *value < least) fields.wrong(name, expected, text);
  return *value;
}

std::int32_t integer_or(Fields& fields, std::string_view name, std::int32_t otherwise) {
  const auto text = fields.take_if_there(name);
  if (!text) return otherwise;
  const auto value = parse_number<std::int32_t>(*text);
  if (!value) fields.wrong(name, "a number", *text);
  return *value;
}

double real_or(Fields& fields, std::string_view name, double otherwise) {
  const auto text = fields.take_if_there(name);
  if (!text) return otherwise;
  const auto value = parse_finite(*text);
  if (!value) fields.wrong(name, "a number", *text);
  return *value;
}

Duration duration(Fields& fields, std::string_view name) {
  constexpr std::string_view kExpected = "seconds, 0 or more";
  const std::string_view text = fields.take(name, kExpected);
  const auto value = parse_seconds(text);
  if (!value || *value < Duration::zero()) fields.wrong(name, kExpected, text);
  return *value;
}

bool yes_or_no(Fields& fields, std::string_view name, std::string_view text) {
  if (text != "yes" && text != "no") fields.wrong(name, "yes or no", text);
  return text == "yes";
}

std::string quoted(Fields& fields, std::string_view name, std::string_view text) {
  constexpr std::string_view kExpected = "a string in quotes, with \\\" \\\\ \\n \\t \\xHH as escapes";
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') fields.wrong(name, kExpected, text);
  auto plain = unescaped(text.substr(1, text.size() - 2));
  if (!plain) fields.wrong(name, kExpected, text);
  return *std::move(plain);
}

std::string quoted_or_empty(Fields& fields, std::string_view name) {
  const auto text = fields.take_if_there(name);
  return text ? quoted(fields, name, *text) : std::string{};
}

template <class Enum, std::size_t kCount>
Enum word(Fields& fields, std::string_view name, std::string_view text, const std::array<Enum, kCount>& all) {
  std::string expected;
  for (const Enum value : all) {
    if (to_text(value) == text) return value;
    if (!expected.empty()) expected += ", ";
    expected += to_text(value);
  }
  fields.wrong(name, "one of " + expected, text);
}

JobId job_id(Fields& fields, std::string_view name = "job") {
  return JobId{integer(fields, name, std::numeric_limits<std::int64_t>::min(), "a job number")};
}

std::vector<JobId> jobs(Fields& fields, std::string_view name) {
  constexpr std::string_view kExpected = "job numbers joined by commas";
  const std::string_view text = fields.take(name, kExpected);
  std::vector<JobId> read;
  for (std::string_view rest = text;; rest.remove_prefix(rest.find(',') + 1)) {
    const auto value = parse_number<std::int64_t>(rest.substr(0, rest.find(',')));
    if (!value) fields.wrong(name, kExpected, text);
    read.push_back(JobId{*value});
    if (rest.find(',') == std::string_view::npos) return read;
  }
}

JobClass job_class(Fields& fields) { return word(fields, "class", fields.take("class", "a class"), kJobClassWords); }

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

std::vector<CoreLoad> named_cores(Fields& fields, std::string_view text, CoreCount cores) {
  std::vector<CoreLoad> named;
  const auto most = static_cast<std::size_t>(cores);
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    if (!read_piece(rest.substr(0, comma), most, named)) break;
    if (comma == std::string_view::npos && named.size() == most) return named;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  fields.wrong("on", fmt::format("CORE:PROCESSES or FIRST-LAST:PROCESSES, joined by commas, {} cores in all", cores),
               text);
}

ProcessCount count(Fields& fields, std::string_view name, std::string_view text) {
  const auto value = parse_number<ProcessCount>(text);
  if (!value || *value < 1) fields.wrong(name, "a count of processes, 1 or more", text);
  return *value;
}

template <class Value, class Parse>
std::optional<Value> stated(Fields& fields, std::string_view name, std::string_view expected, Parse parse) {
  const auto text = fields.take_if_there(name);
  if (!text) return std::nullopt;
  auto value = parse(*text);
  if (!value) fields.wrong(name, expected, *text);
  return value;
}

std::optional<double> slowdown(Fields& fields, std::string_view name) {
  const auto text = fields.take_if_there(name);
  if (!text) return std::nullopt;
  const auto value = parse_finite(*text);
  if (!value || *value < kLeastStatedSlowdown || *value > kMostStatedSlowdown)
    fields.wrong(name, fmt::format("a slowdown of {} to {}", kLeastStatedSlowdown, kMostStatedSlowdown), *text);
  return value;
}

std::shared_ptr<const Declaration> declaration(Fields& fields) {
  if (!fields.has_more()) return nullptr;  // as in nearly every record
  Declaration read;
  if (const auto text = fields.take_if_there("least")) read.least = count(fields, "least", *text);
  if (const auto text = fields.take_if_there("most")) read.most = count(fields, "most", *text);
  if (auto sizes = stated<std::vector<ProcessCount>>(fields, "sizes", "ascending counts such as 4|8|16", parse_sizes))
    read.sizes = *std::move(sizes);
  read.speedup = stated<SpeedupCurve>(fields, "speedup", "a speedup curve", parse_speedup);
  read.same_cpu_slowdown = slowdown(fields, "same_cpu");
  read.same_node_slowdown = slowdown(fields, "same_node");
  read.pair_key = stated<std::uint64_t>(fields, "pair_key", "a whole number of 64 bits",
                                        [](std::string_view text) { return parse_number<std::uint64_t>(text); });
  return read.is_empty() ? nullptr : std::make_shared<const Declaration>(std::move(read));
}

float power(Fields& fields, std::string_view name) {
  const double value = real_or(fields, name, 1);
  return static_cast<float>(value);
}

Allocation allocation(Fields& fields) {
  Allocation read;
  read.cores = integer<CoreCount>(fields, "cores", 0, "a count of cores");
  if (read.cores > kMostCores) fields.wrong("cores", fmt::format("at most {}", kMostCores), fmt::to_string(read.cores));
  read.mpl = integer(fields, "mpl", 1, "a multiprogramming level, 1 or more");
  if (const auto text = fields.take_if_there("on")) read.named = named_cores(fields, *text, read.cores);
  if (const auto text = fields.take_if_there("shareable")) {
    read.shareable = yes_or_no(fields, "shareable", *text);
    if (read.shareable && read.named.empty()) fields.wrong("shareable", "no, where cores have no names", *text);
  }
  if (fields.has_more())
    if (const auto text = fields.take_if_there("processes")) read.processes = count(fields, "processes", *text);
  return read;
}

double real(Fields& fields, std::string_view name, std::string_view expected) {
  const std::string_view text = fields.take(name, expected);
  const auto value = parse_finite(text);
  if (!value) fields.wrong(name, expected, text);
  return *value;
}

SizeChoice size_choice(Fields& fields) {
  if (!fields.has_more()) return {};  // as in nearly every record
  SizeChoice read;
  if (const auto text = fields.take_if_there("optimal")) read.optimal = count(fields, "optimal", *text);
  read.modifier = real_or(fields, "modifier", 0);
  if (!fields.has_more()) return read;
  read.load = real(fields, "load", "a load");
  read.ideal = real(fields, "ideal", "a load");
  read.horizon = duration(fields, "horizon");
  return read;
}

void read_priorities(Fields& fields, Job& job) {
  job.user_priority = real_or(fields, "user_priority", 0);
  const auto text = fields.take_if_there("political_priority");
  if (!text) return;
  const auto value = *text == "-inf" ? -std::numeric_limits<double>::infinity() : parse_finite(*text);
  if (!value) fields.wrong("political_priority", "a number or -inf", *text);
  job.political_priority = *value;
}

Submitted submitted(Fields& fields, Instant at) {
  Submitted read;
  auto& [job, truth] = read;
  job.id = job_id(fields);
  job.submitted = at;
  if (const auto text = fields.take_if_there("submitted")) {
    const auto value = parse_seconds(*text);
    if (!value) fields.wrong("submitted", "seconds", *text);
    job.submitted = Instant{*value};
  }
  job.processes = integer<ProcessCount>(fields, "processes", 1, "a count of processes, 1 or more");
  job.estimate = duration(fields, "estimate");
  truth.runtime = duration(fields, "runtime");
  job.flexibility = word(fields, "flexibility", fields.take("flexibility", "a flexibility"), kFlexibilities);
  job.declared.cpu_use = real_or(fields, "cpu_use", 1);
  job.declared.network_overhead = real_or(fields, "overhead", 0);
  truth.behaviour.cpu_use = real_or(fields, "true_cpu_use", job.declared.cpu_use);
  truth.behaviour.network_overhead = real_or(fields, "true_overhead", job.declared.network_overhead);
  job.user = integer_or(fields, "user", -1);
  job.group = integer_or(fields, "group", -1);
  job.queue = integer_or(fields, "queue", -1);
  truth.executable = integer_or(fields, "executable", -1);
  if (const auto text = fields.take_if_there("cut_at_request"))
    truth.cut_at_request = yes_or_no(fields, "cut_at_request", *text);
  if (fields.has_more()) read_priorities(fields, job);
  job.declaration = declaration(fields);
  if (fields.has_more()) truth.speedup_power = power(fields, "speedup_power");
  if (fields.has_more()) truth.slowdown_power = power(fields, "slowdown_power");
  return read;
}

Finished finished(Fields& fields) {
  Finished read;
  read.job = job_id(fields);
  read.end.outcome = word(fields, "outcome", fields.take("outcome", "an outcome"), kOutcomes);
  read.end.exit_code = integer_or(fields, "exit_code", 0);
  if (const auto text = fields.take_if_there("verification"))
    read.end.verification = word(fields, "verification", *text, kVerifications);
  read.end.cpu_use = real_or(fields, "cpu_use", -1);
  read.end.reason = quoted_or_empty(fields, "reason");
  return read;
}

MatchRefused match_refused(Fields& fields) {
  MatchRefused read;
  read.primary = job_id(fields, "primary");
  read.matched = jobs(fields, "matched");
  read.gain = real(fields, "gain", "a gain");
  read.delayed = job_id(fields, "delayed");
  read.response = duration(fields, "response");
  read.limit = duration(fields, "limit");
  return read;
}

template <class Kind>
Kind read_as(Fields& fields, Instant at) {
  if constexpr (std::is_same_v<Kind, Submitted>) {
    return submitted(fields, at);
  } else if constexpr (std::is_same_v<Kind, Finished>) {
    return finished(fields);
  } else if constexpr (std::is_same_v<Kind, Note>) {
    return {quoted(fields, "text", fields.take("text", "a string in quotes"))};
  } else if constexpr (std::is_same_v<Kind, GroupFormed>) {
    const JobId primary = job_id(fields, "primary");
    std::vector<JobId> matched = jobs(fields, "matched");
    const int way = integer(fields, "way", 1, "a case, 1 or more");
    return {primary, std::move(matched), way, real(fields, "gain", "a gain")};
  } else if constexpr (std::is_same_v<Kind, GroupEnded>) {
    return {job_id(fields, "primary")};
  } else if constexpr (std::is_same_v<Kind, MatchRefused>) {
    return match_refused(fields);
  } else if constexpr (std::is_same_v<Kind, SliceBegun>) {
    const JobClass of = job_class(fields);
    const Instant begins{duration(fields, "begins")};
    return {of, begins, Instant{duration(fields, "ends")}};
  } else {
    const JobId job = job_id(fields);
    if constexpr (OnlyAJob<Kind>) {
      return {job};
    } else if constexpr (std::is_same_v<Kind, StartDecided>) {
      Allocation taken = allocation(fields);
      return {job, std::move(taken), size_choice(fields)};
    } else if constexpr (JobAndAllocation<Kind>) {
      return {job, allocation(fields)};
    } else if constexpr (std::is_same_v<Kind, RanksSeen>) {
      const bool malleable = yes_or_no(fields, "malleable", fields.take("malleable", "yes or no"));
      return {job, malleable, quoted_or_empty(fields, "reason")};
    } else if constexpr (std::is_same_v<Kind, KillDecided>) {
      return {job, word(fields, "reason", fields.take("reason", "a reason"), kKillReasons)};
    } else if constexpr (std::is_same_v<Kind, Extended>) {
      return {job, duration(fields, "estimate")};
    } else if constexpr (std::is_same_v<Kind, ResponseExpected>) {
      return {job, duration(fields, "response")};
    } else if constexpr (std::is_same_v<Kind, ClassAssigned>) {
      return {job, job_class(fields)};
    } else {
      static_assert(std::is_same_v<Kind, Failed>);
      std::string action = quoted(fields, "action", fields.take("action", "a string in quotes"));
      return {job, std::move(action), quoted(fields, "reason", fields.take("reason", "a string in quotes"))};
    }
  }
}

template <std::size_t kIndex = 0>
What read_kind(std::size_t index, Fields& fields, Instant at) {
  if constexpr (kIndex + 1 < std::variant_size_v<What>)
    if (index != kIndex) return read_kind<kIndex + 1>(index, fields, at);
  return read_as<std::variant_alternative_t<kIndex, What>>(fields, at);
}

}  // namespace

std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case 'n': plain += '\n'; break;
      case 't': plain += '\t'; break;
      case '"':
      case '\\': plain += text[i]; break;
      case 'x': {
        const int high = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) return std::nullopt;
        plain += static_cast<char>(high * 16 + low);
        i += 2;
        break;
      }
      default: return std::nullopt;
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
  const auto* const known = std::ranges::find(kKindWords, kind);
  if (known == kKindWords.end())
    place.fail("field 2 (kind): expected one of {}, found '{}'", fmt::join(kKindWords, ", "), visible_text(kind, 40));
  Fields fields(text.substr(kind.size()), place);
  Record record{Instant{*at}, read_kind(static_cast<std::size_t>(known - kKindWords.begin()), fields, Instant{*at})};
  fields.finish();
  return record;
}

}  // namespace replay::log
