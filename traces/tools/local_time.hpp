// The local time at which a job was submitted. A log counts seconds from its own zero; the header says when that was
// and where: TimeZoneString with daylight saving, else the offset that StartTime shows against UnixStartTime. The label
// TimeZone is unreliable (the archive says so itself) and is not read.
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

class LogClock {
 public:
  /// Nothing if the header does not say when its zero was, or not where: neither a time zone that this system knows
  /// nor a StartTime that can be read.
  [[nodiscard]] static std::optional<LogClock> of(const SwfHeader& header);

  [[nodiscard]] LocalSeconds local(Duration since_zero) const;
  /// The inverse. Of an hour that comes twice the first; an hour that is left out counts as the moment of the change.
  [[nodiscard]] Duration since_zero(LocalSeconds local) const;
  /// As StartTime has it: "Mon Sep 23 14:00:31 CEST 1996".
  [[nodiscard]] std::string start_time_text(Duration since_zero) const;
  /// Whether daylight saving is known.
  [[nodiscard]] bool has_time_zone() const { return zone_ != nullptr; }

 private:
  LogClock() = default;

  std::int64_t unix_zero_ = 0;
  const date::time_zone* zone_ = nullptr;
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
