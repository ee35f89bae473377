// The header's part of validate_trace(): labels, their values, the clock and the totals.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/lower_case.hpp"
#include "traces/local_time.hpp"
#include "traces/tools/validate_parts.hpp"

namespace replay {
namespace {

// Labels that may be there more than once; "Copyright" and "Acknowledge" too, as merged traces thank several people.
constexpr std::array<std::string_view, 10> kRepeated = {"Information", "Queue",       "Partition",   "Note",
                                                        "Program",     "Copyright",   "Acknowledge", "Conversion",
                                                        "Computer",    "Installation"};
// Labels that a reader needs to interpret the numbers. The machine's size is checked separately.
constexpr std::array<std::string_view, 5> kExpected = {"Version", "Computer", "UnixStartTime", "TimeZoneString",
                                                       "MaxRecords"};
constexpr std::array<std::string_view, 8> kCounts = {"MaxJobs",    "MaxRecords", "MaxNodes",  "MaxProcs",
                                                     "MaxRuntime", "MaxMemory",  "MaxQueues", "MaxPartitions"};
constexpr std::array<std::string_view, 4> kPreemption = {"No", "Yes", "Double", "TS"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view label) {
  return std::ranges::any_of(list, [&](std::string_view known) { return same_but_for_case(known, label); });
}

void check_labels(const SwfHeader& header, Violations& violations) {
  const std::vector<SwfLabel>& labels = header.labels();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string& label = labels[i].label;
    if (!is_known_label(label))
      violations.note("header-label-unknown", Severity::kWarning, "header labels that the format does not have",
                      labels[i].line);
    const bool is_second =
        std::any_of(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const SwfLabel& earlier) { return same_but_for_case(earlier.label, label); });
    if (is_second && !is_one_of(kRepeated, label))
      violations.note("header-label-repeated", Severity::kError,
                      fmt::format("header label {}: expected once, as only one value can be true", label),
                      labels[i].line);
  }
}

void check_missing(const SwfHeader& header, Violations& violations) {
  std::string missing;
  for (const std::string_view label : kExpected)
    if (!header.find(label)) add_item(missing, ", ", "{}", label);
  if (!missing.empty())
    violations.note("header-label-missing", Severity::kWarning,
                    fmt::format("header labels that readers look for are missing: {}", missing));
  if (!header.machine_size())
    violations.note("machine-size", Severity::kWarning,
                    "no MaxProcs and no MaxNodes in the header: the size of the machine is unknown");
  else if (!header.find("MaxProcs"))
    violations.note("machine-size", Severity::kWarning,
                    "no MaxProcs in the header: MaxNodes stands in, which counts nodes");
}

void check_numbers(const SwfHeader& header, Violations& violations) {
  for (const SwfLabel& entry : header.labels()) {
    const auto fail = [&](std::string_view expected) {
      violations.note(
          "header-value", Severity::kError,
          fmt::format("header label {}: expected {}, found '{}'", entry.label, expected, visible_text(entry.value, 40)),
          entry.line);
    };
    SwfHeader alone;
    alone.add(entry.label, entry.value);
    const auto number = alone.number(entry.label);
    if (is_one_of(kCounts, entry.label) && (!number || *number < 1)) fail("a count");
    if (same_but_for_case(entry.label, "UnixStartTime") && !number) fail("seconds since 1970");
    if (same_but_for_case(entry.label, "Preemption") && !is_one_of(kPreemption, entry.value))
      fail("No, Yes, Double or TS");
  }
  const auto nodes = header.max_nodes(), procs = header.max_procs();
  if (nodes && procs && *nodes > *procs)
    violations.note("machine-size", Severity::kWarning,
                    fmt::format("header has more nodes ({}) than processors ({})", *nodes, *procs));
}

void check_clock(const SwfHeader& header, Violations& violations) {
  const auto start = header.find("StartTime");
  const auto clock = LogClock::of(header);
  if (!header.time_zone().empty() && (!clock || !clock->has_time_zone()) && (start || header.unix_start_time()))
    violations.note("time-zone", Severity::kWarning,
                    fmt::format("header label TimeZoneString: expected a name of the tz database such as "
                                "Europe/Stockholm, found '{}'",
                                visible_text(header.time_zone(), 40)));
  if (start && !clock)
    violations.note(
        "start-time", Severity::kWarning,
        fmt::format("header label StartTime: expected a time such as Mon Sep 23 14:00:31 CEST 1996, found '{}'",
                    visible_text(*start, 40)));
  if (!start || !clock || !clock->has_time_zone() || !header.unix_start_time()) return;
  // Both tell the zero: without UnixStartTime the clock takes it from StartTime.
  SwfHeader without = header;
  without.remove("UnixStartTime");
  const auto other = LogClock::of(without);
  if (other && other->local(Duration{}) != clock->local(Duration{}))
    violations.note(
        "start-time", Severity::kWarning,
        fmt::format("header labels UnixStartTime and StartTime disagree: {} there would be '{}', found '{}'",
                    *header.unix_start_time(), clock->start_time_text(Duration{}), visible_text(*start, 40)));
}

}  // namespace

void check_header(const SwfHeader& header, Violations& violations) {
  check_labels(header, violations);
  check_missing(header, violations);
  check_numbers(header, violations);
  check_clock(header, violations);
}

void check_totals(const SwfHeader& header, std::uint64_t records, std::uint64_t jobs, Violations& violations) {
  const auto check = [&](const char* rule, std::string_view label, std::uint64_t found) {
    if (const auto promised = header.number(label); promised && std::cmp_not_equal(*promised, found))
      violations.note(rule, Severity::kWarning,
                      fmt::format("header says {} {}, the file has {}: cleaned logs often keep the old count", label,
                                  *promised, found));
  };
  check("max-records", "MaxRecords", records);
  check("max-jobs", "MaxJobs", jobs);
}

}  // namespace replay
