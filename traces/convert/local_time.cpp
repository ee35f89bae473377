#include "traces/convert/local_time.hpp"

#include <date/tz.h>
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

date::sys_seconds instant(std::int64_t unix_second) { return date::sys_seconds{std::chrono::seconds{unix_second}}; }

// "2024-03-01T12:00:00" has every digit at its place; anything else is no time.
std::optional<int> digits(std::string_view text, std::size_t from, std::size_t count) {
  int value = 0;
  for (const char c : text.substr(from, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

LocalClock::LocalClock(const std::string& zone) try : zone_(date::locate_zone(zone)) {
} catch (const std::runtime_error&) {
  throw UsageError(fmt::format("time zone: expected a name such as Europe/Stockholm or UTC, found '{}'", zone));
}

LocalClock LocalClock::named_or_utc(std::string_view zone) {
  try {
    return LocalClock(std::string(zone.empty() ? "UTC" : zone));
  } catch (const UsageError&) {
    return LocalClock("UTC");
  }
}

std::optional<std::int64_t> LocalClock::parse(std::string_view text) const {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const date::year_month_day when{date::year{*year}, date::month{static_cast<unsigned>(*month)},
                                  date::day{static_cast<unsigned>(*day)}};
  if (!when.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const date::local_seconds local = date::local_days{when} + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
                                    std::chrono::seconds{*second};
  const std::int64_t result = zone_->to_sys(local, date::choose::earliest).time_since_epoch().count();
  if (result < 0 || result > kLastUnixSecond) return std::nullopt;
  return result;
}

std::string LocalClock::text(std::int64_t unix_second) const {
  return date::format("%a %b %d %H:%M:%S %Z %Y", date::make_zoned(zone_, instant(unix_second)));
}

std::int64_t LocalClock::same_weekday_first_in_month(std::int64_t unix_second) const {
  const auto local = zone_->to_local(instant(unix_second));
  const date::year_month_day day{date::floor<date::days>(local)};
  const unsigned weeks = (static_cast<unsigned>(day.day()) - 1) / 7;
  return zone_->to_sys(local - date::weeks{weeks}, date::choose::earliest).time_since_epoch().count();
}

std::string LocalClock::name() const { return zone_->name(); }

}  // namespace replay
