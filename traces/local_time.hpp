// Local times of logs, daylight saving included: those of a time zone of the system (tzdata), and those of a log, which
// counts seconds from its own zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/model/units.hpp"
#include "traces/swf_header.hpp"

namespace date {
class time_zone;
}

namespace replay {

/// Seconds from 1970-01-01 00:00 as if the local clock had always run like today's: date and hour follow by division.
using LocalSeconds = std::int64_t;

/// 9999-12-31T23:59:59 UTC; what lies beyond, or before 1970, is no time of a log.
inline constexpr std::int64_t kLastUnixSecond = 253'402'300'799;

/// The clocks of a time zone: Unix seconds on one side, what people and accounting tools write on the other.
class LocalClock {
 public:
  /// "Europe/Stockholm", "UTC". Throws UsageError for a zone that this system does not know.
  explicit LocalClock(const std::string& zone);
  /// Nothing if this system does not know the zone, or it has no name.
  [[nodiscard]] static std::optional<LocalClock> named(std::string_view zone);
  /// UTC where the zone is empty or unknown: headers of old logs have all kinds of them.
  [[nodiscard]] static LocalClock named_or_utc(std::string_view zone);

  [[nodiscard]] LocalSeconds local(std::int64_t unix_second) const;
  /// The inverse. Of an hour that comes twice the first; an hour that is left out counts as the moment of the change.
  [[nodiscard]] std::int64_t unix_second(LocalSeconds local) const;
  /// The second instant at which the clock shows what it shows at this one; nothing if there is none behind it.
  [[nodiscard]] std::optional<std::int64_t> same_time_later(std::int64_t unix_second) const;
  /// "CEST".
  [[nodiscard]] std::string abbreviation(std::int64_t unix_second) const;

  /// Reads "2024-03-01T12:00:00", also with a blank for the T. Nothing if it is no time of a log.
  [[nodiscard]] std::optional<std::int64_t> parse(std::string_view text) const;
  /// As StartTime of SWF headers has it: "Fri Mar 01 12:00:00 CET 2024".
  [[nodiscard]] std::string text(std::int64_t unix_second) const;
  /// As many whole weeks earlier as leave it in the same month; weekday and local hour stay.
  [[nodiscard]] std::int64_t same_weekday_first_in_month(std::int64_t unix_second) const;

  [[nodiscard]] std::string name() const;

 private:
  explicit LocalClock(const date::time_zone* zone) : zone_(zone) {}

  const date::time_zone* zone_;
};

/// The local time at which a job was submitted. The header says when the log's zero was and where: TimeZoneString with
/// daylight saving, else the offset that StartTime shows against UnixStartTime. The label TimeZone is unreliable (the
/// archive says so itself) and is not read.

class LogClock {
 public:
  /// Nothing if the header does not say when its zero was, or not where: neither a time zone that this system knows
  /// nor a StartTime that can be read.
  [[nodiscard]] static std::optional<LogClock> of(const SwfHeader& header);

  [[nodiscard]] LocalSeconds local(Duration since_zero) const;
  /// The inverse, as LocalClock::unix_second().
  [[nodiscard]] Duration since_zero(LocalSeconds local) const;
  /// As StartTime has it: "Mon Sep 23 14:00:31 CEST 1996".
  [[nodiscard]] std::string start_time_text(Duration since_zero) const;
  /// Whether daylight saving is known.
  [[nodiscard]] bool has_time_zone() const { return zone_.has_value(); }

 private:
  LogClock() = default;
  [[nodiscard]] std::int64_t unix_second(Duration since_zero) const;

  std::int64_t unix_zero_ = 0;
  std::optional<LocalClock> zone_;
  std::int64_t offset_s_ = 0;  // local - UTC, where there is no zone
  std::string abbreviation_;   // "CEST" of StartTime, where there is no zone
};

/// "1996-10-01", "1996-10-01T12", "1996-10-01T12:00" or "1996-10-01T12:00:00"; a blank may stand for the T.
[[nodiscard]] std::optional<LocalSeconds> parse_local_time(std::string_view text);

struct LocalMonth {
  LocalSeconds first;  ///< its first second
  LocalSeconds next;   ///< that of the month after it
};
/// "1996-10".
[[nodiscard]] std::optional<LocalMonth> parse_local_month(std::string_view text);

/// "1996-10-01 12:00:00".
[[nodiscard]] std::string to_date_text(LocalSeconds local);
/// 0 .. 23.
[[nodiscard]] int hour_of_day(LocalSeconds local);
/// 0: Monday .. 6: Sunday.
[[nodiscard]] int day_of_week(LocalSeconds local);

/// Moves the header's zero by `later`: UnixStartTime and StartTime say the new one, where the header has them. A
/// StartTime that cannot be read is removed, as it would be wrong.
void move_zero(SwfHeader& header, Duration later);

}  // namespace replay
