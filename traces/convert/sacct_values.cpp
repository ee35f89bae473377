#include "traces/convert/sacct_values.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::sacct {
namespace {

constexpr std::int64_t kMostSeconds = 10'000'000'000;  // as in SWF

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::int64_t> whole(std::string_view text) {
  constexpr std::size_t kMostDigits = 18;
  if (text.empty() || text.size() > kMostDigits || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  return parse_number<std::int64_t>(text);
}

template <class Value>
Cell<Value> wrong() {
  return {false, std::nullopt};
}

// Takes the part of `rest` behind the last `mark`, and the mark, out of it; all of it if there is no mark.
std::string_view take_last(std::string_view& rest, char mark) {
  const std::size_t at = rest.rfind(mark);
  const std::string_view last = at == std::string_view::npos ? rest : rest.substr(at + 1);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(0, at);
  return last;
}

}  // namespace

bool says_nothing(std::string_view text) {
  constexpr std::string_view kNothing[] = {"",        "Unknown", "None",    "UNLIMITED", "Partition_Limit",
                                           "INVALID", "N/A",     "NOT_SET", "(null)"};
  return std::ranges::find(kNothing, text) != std::end(kNothing);
}

Cell<std::int64_t> read_time(std::string_view text, const LocalClock& clock) {
  if (says_nothing(text)) return {};
  std::optional<std::int64_t> value = whole(text);
  if (!value) value = clock.parse(text);
  if (!value || *value > kLastUnixSecond) return wrong<std::int64_t>();
  if (*value == 0) return {};  // how some versions print "not yet"
  return {true, value};
}

Cell<Duration> read_elapsed(std::string_view text) {
  if (says_nothing(text)) return {};
  std::int64_t days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = whole(text.substr(0, dash));
    if (!value || *value > kMostSeconds / 86'400) return wrong<Duration>();
    days = *value;
    text.remove_prefix(dash + 1);
  }
  const auto parsed = parse_seconds(take_last(text, ':'));
  if (!parsed || *parsed < Duration::zero() || text.empty()) return wrong<Duration>();
  const auto minutes = whole(take_last(text, ':'));
  const auto hours = text.empty() ? std::optional<std::int64_t>{0} : whole(text);
  if (!minutes || !hours || *minutes > kMostSeconds / 60 || *hours > kMostSeconds / 3600) return wrong<Duration>();
  const Duration sum = *parsed + std::chrono::seconds{days * 86'400 + *hours * 3600 + *minutes * 60};
  if (sum > std::chrono::seconds{kMostSeconds}) return wrong<Duration>();
  return {true, sum};
}

Cell<std::int64_t> read_count(std::string_view text) {
  if (says_nothing(text)) return {};
  const auto value = whole(text);
  return {value.has_value(), value};
}

Cell<std::int64_t> read_resource(std::string_view list, std::string_view what) {
  for (const std::string_view item : split(list, ','))
    if (item.starts_with(what) && item.substr(what.size()).starts_with('=')) {
      std::string_view count = item.substr(what.size() + 1);
      return read_count(count);
    }
  return {};
}

Cell<Memory> read_memory(std::string_view text, double unit_kilobytes) {
  if (says_nothing(text)) return {};
  Memory memory;
  if (text.ends_with('n') || text.ends_with('c')) {
    memory.per = text.back() == 'n' ? MemoryPer::kNode : MemoryPer::kProcessor;
    text.remove_suffix(1);
  }
  constexpr std::string_view kUnits = "KMGTP";
  double unit = unit_kilobytes;
  if (const std::size_t place = text.empty() ? std::string_view::npos : kUnits.find(text.back());
      place != std::string_view::npos) {
    unit = 1;
    for (std::size_t i = 0; i < place; ++i) unit *= 1024;
    text.remove_suffix(1);
  }
  const auto number = parse_number<double>(text);
  constexpr double kMostKilobytes = 9e15;  // as in SWF
  if (!number || !(*number >= 0) || *number * unit > kMostKilobytes) return wrong<Memory>();
  memory.kilobytes = *number * unit;
  return {true, memory};
}

std::optional<Fate> read_state(std::string_view text) {
  // sacct(1), "JOB STATE CODES". A job that lost its node, was preempted or requeued has failed in this run; a later
  // run is a job of its own (sacct --duplicates).
  static constexpr auto kStates = std::to_array<std::pair<std::string_view, Fate>>(
      {{"COMPLETED", Fate::kCompleted},      {"FAILED", Fate::kFailed},         {"TIMEOUT", Fate::kFailed},
       {"NODE_FAIL", Fate::kFailed},         {"BOOT_FAIL", Fate::kFailed},      {"OUT_OF_MEMORY", Fate::kFailed},
       {"DEADLINE", Fate::kFailed},          {"PREEMPTED", Fate::kFailed},      {"REQUEUED", Fate::kFailed},
       {"REQUEUE_FED", Fate::kFailed},       {"REQUEUE_HOLD", Fate::kFailed},   {"SPECIAL_EXIT", Fate::kFailed},
       {"LAUNCH_FAILED", Fate::kFailed},     {"RECONFIG_FAIL", Fate::kFailed},  {"CANCELLED", Fate::kCancelled},
       {"REVOKED", Fate::kCancelled},        {"RESIZING", Fate::kResized},      {"PENDING", Fate::kUnfinished},
       {"RUNNING", Fate::kUnfinished},       {"SUSPENDED", Fate::kUnfinished},  {"STOPPED", Fate::kUnfinished},
       {"CONFIGURING", Fate::kUnfinished},   {"COMPLETING", Fate::kUnfinished}, {"SIGNALING", Fate::kUnfinished},
       {"STAGE_OUT", Fate::kUnfinished},     {"EXPEDITING", Fate::kUnfinished}, {"POWER_UP_NODE", Fate::kUnfinished},
       {"RESV_DEL_HOLD", Fate::kUnfinished}, {"UPDATE_DB", Fate::kUnfinished}});
  std::string_view word = text.substr(0, text.find(' '));
  const bool cut_off = word.ends_with('+');
  if (cut_off) word.remove_suffix(1);
  if (word.empty()) return std::nullopt;
  for (const auto& [name, fate] : kStates)
    if (name == word || (cut_off && name.starts_with(word))) return fate;
  return std::nullopt;
}

bool may_be_state(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  return word.size() > 1 && std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

std::optional<Id> read_id(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  Id id;
  // The list of an array that has not started may be cut off by "..."; that is no step.
  const std::size_t list_end = text.find('[') == std::string_view::npos ? 0 : std::min(text.rfind(']'), text.size());
  const std::size_t dot = text.find('.', list_end);
  id.is_step = dot != std::string_view::npos;
  id.job = text.substr(0, dot);
  if (const std::size_t plus = id.job.find('+'); plus != std::string_view::npos) id.leader = id.job.substr(0, plus);
  return id;
}

}  // namespace replay::sacct
