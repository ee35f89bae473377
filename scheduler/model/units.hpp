// Units of time and counts. Time is an integer count of microseconds of trace time, so that equal times compare equal
// and a log is the same on every machine. Speeds are doubles; a finish rounds up. This is the one place that decides
// how time is stored.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/model/count.hpp"

namespace replay {

using Duration = std::chrono::duration<std::int64_t, std::micro>;

/// The clock of the trace: zero is the instant that the trace calls zero. It has no now(): bodies pass the time in.
struct JobClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<JobClock, Duration>;
};
using Instant = JobClock::time_point;

/// The last instant there is: "never" for timers.
inline constexpr Instant kNever = Instant::max();

/// Plans and simulations end here, half-way to kNever (146,000 years): an instant before it plus any duration of a job
/// does not overflow.
inline constexpr Instant kEndOfPlans{kNever.time_since_epoch() / 2};

using CoreCount = Count<struct OfCores>;         ///< cores (the field's "processors" or "CPUs")
using ProcessCount = Count<struct OfProcesses>;  ///< MPI processes of one job

/// The job number of the trace (SWF field 1), unique within a run.
enum class JobId : std::int64_t {};
[[nodiscard]] constexpr std::int64_t number(JobId id) { return static_cast<std::int64_t>(id); }

[[nodiscard]] constexpr double seconds(Duration d) { return static_cast<double>(d.count()) / 1e6; }
[[nodiscard]] constexpr double seconds(Instant t) { return seconds(t.time_since_epoch()); }

/// The duration of `s` seconds, rounded to the nearest microsecond. REQUIRES: |s| < 9e12.
[[nodiscard]] Duration from_seconds(double s);

/// `micros` rounded up. A number that is whole but for the last bits of its computation is that whole number: 1000 s at
/// a slowdown of 1.08 are 1080 s, although no double is 1.08. `largest` is the largest time in the computation, in
/// microseconds; a part in 10^14 of it counts as such bits. REQUIRES: the result fits into a Duration.
[[nodiscard]] inline Duration rounded_up(double micros, double largest) {
  const double nearest = std::round(micros);
  const bool is_whole = std::abs(micros - nearest) <= largest * 1e-14;
  return Duration{static_cast<std::int64_t>(is_whole ? nearest : std::ceil(micros))};
}

/// "12", "12.5" or "12.000001": seconds without trailing zeros; read back exactly by parse_seconds.
[[nodiscard]] std::string to_text(Duration d);
[[nodiscard]] std::string to_text(Instant t);

/// For people: "4.5 s", "12 min 5 s", "3 h 10 min", "2 d 5 h". Two units at most, rounded.
[[nodiscard]] std::string length_text(Duration length);
/// The same of an estimate in seconds, in whole seconds.
[[nodiscard]] std::string about_text(double s);

/// Reads a decimal count of seconds ("12", "0.25", "-1") exactly, to the microsecond (further digits round half up).
/// Nothing if `text` is not such a number or lies beyond 9e12 seconds.
[[nodiscard]] std::optional<Duration> parse_seconds(std::string_view text);

/// Reads a duration with a unit, as people write it: "90", "90s", "5min", "2h", "1d", "250ms". Nothing otherwise.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);
/// The same duration in the largest unit of which it is a whole number, else in seconds: "90s", "5min", "2h", "10ms",
/// "0.0005s", "0". Read back exactly by parse_duration if it is shorter than 10^5 days.
[[nodiscard]] std::string with_unit(Duration d);

}  // namespace replay
