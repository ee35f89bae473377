// The values that Slurm's sacct prints: times, sizes of memory, states, job ids. Each function reads one cell;
// "nothing" is Slurm's own way of saying that there is no such value (Unknown, None, UNLIMITED, Partition_Limit,
// INVALID, empty). Sources: sacct(1) of Slurm 15.08 to 24.05.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scheduler/model/units.hpp"
#include "traces/convert/accounting.hpp"
#include "traces/local_time.hpp"

namespace replay::sacct {

/// A cell: with a value, without one, or (not is_right) malformed.
template <class Value>
struct Cell {
  bool is_right = true;
  std::optional<Value> value{};
};

[[nodiscard]] bool says_nothing(std::string_view text);

/// "2024-03-01T12:00:00" on `clock`, or seconds since 1970 (SLURM_TIME_FORMAT=%s).
[[nodiscard]] Cell<std::int64_t> read_time(std::string_view text, const LocalClock& clock);

/// "[days-]hours:minutes:seconds[.fraction]" or "minutes:seconds[.fraction]".
[[nodiscard]] Cell<Duration> read_elapsed(std::string_view text);

/// A whole number >= 0 of at most 18 digits.
[[nodiscard]] Cell<std::int64_t> read_count(std::string_view text);

/// The count of `what` in a list of resources such as "billing=8,cpu=8,mem=32G,node=2"; nothing if it is not in there.
[[nodiscard]] Cell<std::int64_t> read_resource(std::string_view list, std::string_view what);

enum class MemoryPer : std::uint8_t { kJob, kNode, kProcessor };
struct Memory {
  double kilobytes = 0;
  MemoryPer per = MemoryPer::kJob;  ///< "n" and "c" behind the unit, until Slurm 20.11; later the job's sum
};
/// "4000Mc", "16Gn", "3.5G"; without K, M, G, T or P it is in `unit_kilobytes`.
[[nodiscard]] Cell<Memory> read_memory(std::string_view text, double unit_kilobytes);

using accounting::Fate;
/// "COMPLETED", "CANCELLED by 1000", "TIMEOUT+", "NODE_FAIL", in full or as sacct's column cut it off.
[[nodiscard]] std::optional<Fate> read_state(std::string_view text);
/// Whether the text has the form of a state, known or not: capital letters and '_'.
[[nodiscard]] bool may_be_state(std::string_view text);

/// "1234", "1234_7" (array), "1234_[8-10%2]" (the part of an array that has not started), "1234+1" (component of a
/// heterogeneous job), each with ".batch", ".extern" or ".0" behind it for a step.
struct Id {
  std::string_view job;     ///< without the step
  std::string_view leader;  ///< of a heterogeneous job: "1234"; else empty
  bool is_step = false;
};
[[nodiscard]] std::optional<Id> read_id(std::string_view text);

}  // namespace replay::sacct
