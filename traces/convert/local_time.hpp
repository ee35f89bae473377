// Instants of the wall clock in a log's own time zone, summer time included. Unix seconds on one side, what people and
// accounting tools write on the other. The zones are those of the system (tzdata).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace date {
class time_zone;
}

namespace replay {

/// 9999-12-31T23:59:59 UTC; what lies beyond, or before 1970, is no time of a log.
inline constexpr std::int64_t kLastUnixSecond = 253'402'300'799;

class LocalClock {
 public:
  /// "Europe/Stockholm", "UTC". Throws UsageError for a zone that this system does not know.
  explicit LocalClock(const std::string& zone);
  /// UTC where the zone is empty or unknown: headers of old logs have all kinds of them.
  [[nodiscard]] static LocalClock named_or_utc(std::string_view zone);

  /// Reads "2024-03-01T12:00:00", also with a blank for the T. The hour that happens twice in autumn is taken as the first
  /// one, the one that is left out in spring as its end. Nothing if it is no time.
  [[nodiscard]] std::optional<std::int64_t> parse(std::string_view text) const;
  /// "Fri Mar 01 12:00:00 CET 2024", as SWF headers write it.
  [[nodiscard]] std::string text(std::int64_t unix_second) const;
  /// As many whole weeks earlier as leave it in the same month; weekday and local hour stay.
  [[nodiscard]] std::int64_t same_weekday_first_in_month(std::int64_t unix_second) const;

  [[nodiscard]] std::string name() const;

 private:
  const date::time_zone* zone_;
};

}  // namespace replay
