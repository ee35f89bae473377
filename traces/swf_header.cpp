#include "traces/swf_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/lower_case.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/trimmed.hpp"

namespace replay {
namespace {

// The labels that the archive's format page lists, and our own Program. A line that is indented further than usual is a
// label only if it is one of these; otherwise it goes on with the value above.
constexpr std::string_view kKnownLabels[] = {
    "Version",    "Computer",      "Installation",  "Acknowledge", "Information",    "Conversion", "MaxJobs",
    "MaxRecords", "Preemption",    "UnixStartTime", "TimeZone",    "TimeZoneString", "StartTime",  "EndTime",
    "MaxNodes",   "MaxProcs",      "MaxRuntime",    "MaxMemory",   "AllowOveruse",   "MaxQueues",  "Queues",
    "Queue",      "MaxPartitions", "Partitions",    "Partition",   "Note",           "Copyright",  "Program"};

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_letter(char c) { return lower_case(c) >= 'a' && lower_case(c) <= 'z'; }
bool is_word(char c) { return is_letter(c) || c == '_' || (c >= '0' && c <= '9'); }

// The label at the start of `text` (its indentation already taken off), or nothing.
std::string_view label_of(std::string_view text, std::size_t indentation) {
  if (text.empty() || !is_letter(text.front())) return {};
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin());
  if (end == text.size() || text[end] != ':' || text.substr(end).starts_with("://")) return {};
  const std::string_view label = text.substr(0, end);
  if (indentation > 1 && !is_known_label(label)) return {};
  return label;
}

std::vector<std::string> lines_for(std::string_view label, std::string_view value) {
  std::vector<std::string> lines;
  for (const std::string_view part : split(value, '\n'))
    if (lines.empty())
      lines.push_back(part.empty() ? fmt::format("; {}:", label) : fmt::format("; {}: {}", label, part));
    else
      lines.push_back(fmt::format(";{:{}}{}", "", label.size() + 3, part));
  return lines;
}

}  // namespace

bool is_known_label(std::string_view label) {
  return std::ranges::any_of(kKnownLabels, [label](std::string_view known) { return same_but_for_case(known, label); });
}

void CommentCount::add(std::string_view text, std::string_view file, std::size_t line) {
  ++lines_;
  bytes_ += text.size();
  if (lines_ > kMostCommentLines)
    throw InputError(
        file, line,
        fmt::format("expected a record after at most {} comment and blank lines, found more", kMostCommentLines));
  if (bytes_ > kMostCommentBytes)
    throw InputError(
        file, line,
        fmt::format("expected a record after at most {} bytes of comment lines, found more", kMostCommentBytes));
}

void SwfHeader::add_line(std::string text, std::size_t line) {
  count_.add(text, source_, line);
  std::string_view body = text;
  while (!body.empty() && (is_blank(body.front()))) body.remove_prefix(1);
  if (body.starts_with(';')) body.remove_prefix(1);
  const std::string_view content = trimmed(body);
  const std::size_t first = body.find_first_not_of(" \t");
  const std::size_t indentation = first == std::string_view::npos ? 0 : (body.front() == '\t' ? 8 : first);
  if (const std::string_view label = label_of(content, indentation); !label.empty()) {
    labels_.push_back({std::string(label), std::string(trimmed(content.substr(label.size() + 1))), line});
    spans_.emplace_back(lines_.size(), 1);
    open_ = true;
  } else if (open_ && !content.empty() && indentation > 1) {
    labels_.back().value.append("\n").append(content);
    ++spans_.back().second;
  } else {
    open_ = false;
  }
  lines_.push_back(std::move(text));
}

void SwfHeader::add(std::string_view label, std::string_view value) {
  for (std::string& line : lines_for(label, value)) add_line(std::move(line));
}

void SwfHeader::set(std::string_view label, std::string_view value) {
  const auto entry =
      std::ranges::find_if(labels_, [&](const SwfLabel& l) { return same_but_for_case(l.label, label); });
  if (entry == labels_.end()) return add(label, value);
  const auto index = static_cast<std::size_t>(entry - labels_.begin());
  const auto [first, old_count] = spans_[index];
  const std::vector<std::string> fresh = lines_for(entry->label, value);
  const auto at = lines_.begin() + static_cast<std::ptrdiff_t>(first);
  lines_.insert(lines_.erase(at, at + static_cast<std::ptrdiff_t>(old_count)), fresh.begin(), fresh.end());
  entry->value = value;
  spans_[index].second = fresh.size();
  for (std::size_t later = index + 1; later < spans_.size(); ++later)
    spans_[later].first = spans_[later].first + fresh.size() - old_count;
}

void SwfHeader::remove(std::string_view label) {
  // In one pass, as a header may consist of a hundred thousand of them.
  SwfHeader rest(source_);
  std::size_t copied = 0;  // lines
  const auto copy_lines_to = [&](std::size_t end) {
    for (; copied < end; ++copied) rest.lines_.push_back(std::move(lines_[copied]));
  };
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const auto [first, count] = spans_[i];
    copy_lines_to(first);
    if (same_but_for_case(labels_[i].label, label)) {
      copied += count;
      continue;
    }
    rest.spans_.emplace_back(rest.lines_.size(), count);
    rest.labels_.push_back(std::move(labels_[i]));
    copy_lines_to(first + count);
  }
  copy_lines_to(lines_.size());
  rest.count_ = count_;
  *this = std::move(rest);
}

std::optional<std::string_view> SwfHeader::find(std::string_view label) const {
  for (const SwfLabel& entry : labels_)
    if (same_but_for_case(entry.label, label)) return entry.value;
  return std::nullopt;
}

std::vector<std::string_view> SwfHeader::find_all(std::string_view label) const {
  std::vector<std::string_view> values;
  for (const SwfLabel& entry : labels_)
    if (same_but_for_case(entry.label, label)) values.emplace_back(entry.value);
  return values;
}

std::optional<std::int64_t> SwfHeader::number(std::string_view label) const {
  const auto value = find(label);
  if (!value) return std::nullopt;
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), result);
  if (error != std::errc{}) return std::nullopt;
  const bool goes_on = end != value->data() + value->size() && *end == ',';  // "1,024" is not 1
  return goes_on ? std::nullopt : std::optional{result};
}

std::optional<std::int32_t> SwfHeader::count(std::string_view label) const {
  const auto value = number(label);
  if (!value || *value < 1 || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

bool SwfHeader::is_from_accounting() const {
  constexpr std::string_view kConversions[] = {"from sacct", "from pbs", "from lsf"};
  return std::ranges::find(kConversions, find("Conversion").value_or("")) != std::end(kConversions);
}

std::optional<std::int32_t> SwfHeader::machine_size() const {
  const auto procs = max_procs();
  return procs ? procs : max_nodes();
}

std::map<std::int32_t, std::string> SwfHeader::programs() const {
  std::map<std::int32_t, std::string> table;
  for (const SwfLabel& entry : labels_) {
    if (!same_but_for_case(entry.label, "Program")) continue;
    const auto fail = [&](const std::string& found) {
      throw InputError(source_, entry.line,
                       fmt::format("header label Program: expected 'NUMBER COMMAND' such as '3 cg --class W', {}",
                                   visible_text(found, 100)));
    };
    std::string value = entry.value;
    std::ranges::replace(value, '\n', ' ');
    std::int32_t number = 0;
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, number);
    if (error != std::errc{} || number < 0 || (end != last && !is_blank(*end))) fail(fmt::format("found '{}'", value));
    const std::string_view command = trimmed(std::string_view(end, static_cast<std::size_t>(last - end)));
    if (command.empty()) fail(fmt::format("found no command for {}", number));
    if (!table.emplace(number, command).second) fail(fmt::format("found a second entry for {}", number));
  }
  return table;
}

}  // namespace replay
