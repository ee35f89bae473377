// The rules for records that no machine could run as they stand, each with a default, and the report that counts what
// each rule did. Nothing is dropped or changed without a line in the report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay {

enum class SizeFrom : std::uint8_t { kAllocated, kRequested };
enum class ZeroRuntime : std::uint8_t { kKeep, kClamp };
enum class OverRequest : std::uint8_t { kCut, kKeep };
enum class Oversize : std::uint8_t { kSkip, kClamp, kError };
enum class OutOfOrder : std::uint8_t { kSort, kSkip };
enum class Cancelled : std::uint8_t { kSkip, kHonour, kRun };
enum class QueueFrom : std::uint8_t { kEligible, kSubmit };

struct CleaningRules {
  SizeFrom size = SizeFrom::kAllocated;           ///< field 5, else field 8; or the other way round
  ZeroRuntime zero_runtime = ZeroRuntime::kKeep;  ///< a run time of 0 stays, or becomes 1 s
  OverRequest over_request = OverRequest::kCut;   ///< run > request: ends at the request, or runs on
  Oversize oversize = Oversize::kSkip;            ///< size > machine
  OutOfOrder out_of_order = OutOfOrder::kSort;    ///< submit times that descend
  Cancelled cancelled = Cancelled::kSkip;         ///< jobs taken back while they waited: left out, again, or not
  QueueFrom queue_from = QueueFrom::kEligible;  ///< a job that could not start at once waits from when it could, or not
  std::optional<CoreCount> machine_size{};      ///< what "machine" means; nothing: the header's
  std::optional<double> cpu_use{};              ///< of parallel jobs without it in fields 4 and 6
  bool closed_loop = false;                     ///< honour fields 17 and 18
};

/// One rule as the command line names it: --NAME VALUE.
struct CleaningOption {
  std::string_view name;
  std::string_view values;  ///< "allocated|requested", or a range such as "0..1"
  std::string_view default_value;
  std::string_view help;
};

/// All rules, in the order of CleaningRules. The command line, its help and the documentation are made from this table.
[[nodiscard]] std::span<const CleaningOption> cleaning_options();

/// Sets one rule from text. Throws UsageError that lists the possible values.
void set_rule(CleaningRules& rules, std::string_view name, std::string_view value);

/// What one rule did, or what was noticed.
struct Finding {
  std::string rule;                ///< "runtime-missing"; the list is in docs/formats/swf.md
  std::string action;              ///< "skipped", "cut", "clamped", "replaced", "sorted", "kept", "ignored", "noted"
  std::uint64_t count = 0;         ///< records, or what the rule counts
  std::string text;                ///< in words, for people
  std::vector<std::size_t> lines;  ///< the first few, ascending; empty if no line is at fault
};

struct CleaningReport {
  std::string file;
  std::uint64_t read = 0;                    ///< records, broken lines not counted
  std::uint64_t kept = 0;                    ///< jobs made of them
  std::uint64_t skipped = 0;                 ///< read - kept
  std::uint64_t broken = 0;                  ///< lines that are no records
  std::vector<Finding> findings;             ///< only those that happened, in a fixed order
  std::vector<std::string> broken_messages;  ///< of the first few broken lines

  [[nodiscard]] const Finding* find(std::string_view rule) const;
  /// 0 if the rule found nothing.
  [[nodiscard]] std::uint64_t count(std::string_view rule) const;
  /// "475 records cut: ran longer than requested (lines 29, 87, ...)", a line each, the sum first.
  [[nodiscard]] std::vector<std::string> to_lines() const;
};

}  // namespace replay
