// Cutting a part out of a trace: by submit time, job number, position, user, queue or partition. Records that are kept stay
// unchanged, unless the zero is moved to the first job kept. One pass, constant memory.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/local_time.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

/// A submit time as people give it: since the log's zero, or by the log's local clock.
struct TimeBound {
  std::optional<Duration> since_zero{};
  std::optional<LocalSeconds> local{};
};
/// "36h", "5400" or "1996-10-01T12:00". Throws UsageError that names `option`.
[[nodiscard]] TimeBound parse_time_bound(std::string_view option, std::string_view text);

struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();  ///< included
  [[nodiscard]] bool contains(std::int64_t number) const { return first <= number && number <= last; }
};
/// "7", "1-1000", "1000-" and "1-10,20-30". Throws UsageError that names `option`.
[[nodiscard]] std::vector<NumberRange> parse_ranges(std::string_view option, std::string_view text);

/// A record is kept if all that is given holds.
struct CutOptions {
  std::optional<TimeBound> from{};        ///< submitted at or after
  std::optional<TimeBound> to{};          ///< submitted before
  std::optional<LocalMonth> month{};      ///< submitted in
  std::vector<NumberRange> jobs{};        ///< job numbers; empty: all
  std::vector<NumberRange> users{};       ///< field 12
  std::vector<NumberRange> queues{};      ///< field 15
  std::vector<NumberRange> partitions{};  ///< field 16
  std::uint64_t skip = 0;                 ///< of the records that are left, leave out so many first
  std::optional<std::uint64_t> first{};   ///< then keep at most so many
  bool rebase = false;                    ///< the second of the first submission kept becomes the zero
  bool drain = false;                     ///< read to the end even if nothing more can be kept: for pipes
};

struct CutResult {
  std::uint64_t read = 0;
  std::uint64_t kept = 0;
  std::uint64_t orphans = 0;  ///< records that lost their predecessor: fields 17 and 18 are -1
  Duration moved{};           ///< the new zero, on the old clock
};

/// `command` goes into the header. Throws UsageError where a local time is asked for and the header does not tell it,
/// InputError if nothing is left, or a record would lie before the new zero.
CutResult cut_trace(TraceReader& reader, TraceWriter& writer, const CutOptions& options, std::string_view command);

}  // namespace replay
