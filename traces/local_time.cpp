#include "traces/local_time.hpp"

#include <date/date.h>
#include <date/tz.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"

namespace replay {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t cut = std::min(text.find_first_of(separators), text.size());
    if (cut > 0) parts.push_back(text.substr(0, cut));
    text.remove_prefix(std::min(cut + 1, text.size()));
  }
  return parts;
}

std::optional<std::int64_t> seconds_of_day(std::string_view text) {
  const auto parts = parts_of(text, ":");
  if (parts.empty() || parts.size() > 3 || text.front() == ':' || text.back() == ':') return std::nullopt;
  static constexpr std::array<int, 3> kMost = {23, 59, 60};
  static constexpr std::array<std::int64_t, 3> kWeight = {kHour, kMinute, 1};
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_number<int>(parts[i], 0, kMost[i]);
    if (!number || parts[i].size() > 2) return std::nullopt;
    sum += *number * kWeight[i];
  }
  return sum;
}

std::optional<LocalSeconds> local_seconds(int year, unsigned month, unsigned day) {
  const date::year_month_day when{date::year{year}, date::month{month}, date::day{day}};
  if (!when.ok()) return std::nullopt;
  return date::sys_days{when}.time_since_epoch().count() * kDay;
}

constexpr int kFirstYear = 1900;
constexpr int kLastYear = 9999;

struct StartTime {
  LocalSeconds local;
  std::string abbreviation;
};

// "Mon Sep 23 14:00:31 CEST 1996", as date(1) writes it.
std::optional<StartTime> parse_start_time(std::string_view text) {
  const auto words = parts_of(text, " \t");
  if (words.size() != 6 && words.size() != 5) return std::nullopt;
  const auto month = std::ranges::find(kMonths, words[1]);
  const auto day = parse_number<int>(words[2], 1, 31);
  const auto time = seconds_of_day(words[3]);
  const auto year = parse_number<int>(words.back(), kFirstYear, kLastYear);
  if (month == kMonths.end() || !day || !time || !year) return std::nullopt;
  const auto midnight =
      local_seconds(*year, static_cast<unsigned>(month - kMonths.begin()) + 1, static_cast<unsigned>(*day));
  if (!midnight) return std::nullopt;
  return StartTime{*midnight + *time, words.size() == 6 ? std::string(words[4]) : std::string{}};
}

const date::time_zone* zone_named(std::string_view name) {
  if (name.empty()) return nullptr;
  try {
    return date::locate_zone(name);
  } catch (const std::runtime_error&) {  // not in the system's tz database, or there is none
    return nullptr;
  }
}

date::sys_seconds sys(std::int64_t unix_s) { return date::sys_seconds{std::chrono::seconds{unix_s}}; }

date::year_month_day day_of(LocalSeconds local) { return date::sys_days{date::days{floor_divide(local, kDay)}}; }

LocalSeconds second_of_day(LocalSeconds local) { return local - floor_divide(local, kDay) * kDay; }

std::string clock_text(LocalSeconds local) {
  const LocalSeconds second = second_of_day(local);
  return fmt::format("{:02}:{:02}:{:02}", second / kHour, second % kHour / kMinute, second % kMinute);
}

// "Mon Sep 23 14:00:31 CEST 1996"; the abbreviation of the zone may be empty.
std::string start_time_text(LocalSeconds local, std::string_view zone) {
  const date::year_month_day day = day_of(local);
  return fmt::format("{} {} {:02} {} {}{}{}", kDays[static_cast<std::size_t>(day_of_week(local))],
                     kMonths[static_cast<unsigned>(day.month()) - 1], static_cast<unsigned>(day.day()),
                     clock_text(local), zone, zone.empty() ? "" : " ", static_cast<int>(day.year()));
}

// Every digit of "2024-03-01T12:00:00" at its place.
bool is_full_time(std::string_view text) {
  constexpr std::string_view kPattern = "0000-00-00T00:00:00";
  return std::ranges::equal(text, kPattern, [](char c, char pattern) {
    if (pattern == '0') return c >= '0' && c <= '9';
    return c == pattern || (pattern == 'T' && c == ' ');
  });
}

}  // namespace

LocalClock::LocalClock(const std::string& zone) : zone_(zone_named(zone)) {
  if (zone_ == nullptr)
    throw UsageError(fmt::format("time zone: expected a name such as Europe/Stockholm or UTC, found '{}'", zone));
}

std::optional<LocalClock> LocalClock::named(std::string_view zone) {
  const date::time_zone* found = zone_named(zone);
  return found == nullptr ? std::nullopt : std::optional{LocalClock(found)};
}

LocalClock LocalClock::named_or_utc(std::string_view zone) {
  const auto clock = named(zone);
  return clock ? *clock : LocalClock("UTC");
}

LocalSeconds LocalClock::local(std::int64_t unix_second) const {
  return unix_second + zone_->get_info(sys(unix_second)).offset.count();
}

std::int64_t LocalClock::unix_second(LocalSeconds local) const {
  return zone_->to_sys(date::local_seconds{std::chrono::seconds{local}}, date::choose::earliest)
      .time_since_epoch()
      .count();
}

std::optional<std::int64_t> LocalClock::same_time_later(std::int64_t unix_second) const {
  const auto last = zone_->to_sys(date::local_seconds{std::chrono::seconds{local(unix_second)}}, date::choose::latest)
                        .time_since_epoch()
                        .count();
  return last > unix_second ? std::optional<std::int64_t>{last} : std::nullopt;
}

std::string LocalClock::abbreviation(std::int64_t unix_second) const {
  return zone_->get_info(sys(unix_second)).abbrev;
}

std::optional<std::int64_t> LocalClock::parse(std::string_view text) const {
  const auto local = is_full_time(text) ? parse_local_time(text) : std::nullopt;
  if (!local) return std::nullopt;
  const std::int64_t result = unix_second(*local);
  return result < 0 || result > kLastUnixSecond ? std::nullopt : std::optional{result};
}

std::string LocalClock::text(std::int64_t unix_second) const {
  return start_time_text(local(unix_second), abbreviation(unix_second));
}

std::int64_t LocalClock::same_weekday_first_in_month(std::int64_t unix_second) const {
  const LocalSeconds here = local(unix_second);
  const unsigned weeks = (static_cast<unsigned>(day_of(here).day()) - 1) / 7;
  return this->unix_second(here - std::int64_t{weeks} * 7 * kDay);
}

std::string LocalClock::name() const { return zone_->name(); }

std::optional<LogClock> LogClock::of(const SwfHeader& header) {
  const auto unix_start = header.unix_start_time();
  const auto start = parse_start_time(header.find("StartTime").value_or(""));
  LogClock clock;
  clock.zone_ = LocalClock::named(header.time_zone());
  if (clock.zone_ && (unix_start || start)) {
    clock.unix_zero_ = unix_start ? *unix_start : clock.zone_->unix_second(start->local);
    return clock;
  }
  if (!start) return std::nullopt;
  clock.unix_zero_ = unix_start.value_or(start->local);
  clock.offset_s_ = start->local - clock.unix_zero_;
  clock.abbreviation_ = start->abbreviation;
  return clock;
}

std::int64_t LogClock::unix_second(Duration since_zero) const {
  return unix_zero_ + std::chrono::floor<std::chrono::seconds>(since_zero).count();
}

LocalSeconds LogClock::local(Duration since_zero) const {
  return zone_ ? zone_->local(unix_second(since_zero)) : unix_second(since_zero) + offset_s_;
}

Duration LogClock::since_zero(LocalSeconds local) const {
  return std::chrono::seconds{(zone_ ? zone_->unix_second(local) : local - offset_s_) - unix_zero_};
}

std::string LogClock::start_time_text(Duration since_zero) const {
  return replay::start_time_text(local(since_zero),
                                 zone_ ? zone_->abbreviation(unix_second(since_zero)) : abbreviation_);
}

std::optional<LocalSeconds> parse_local_time(std::string_view text) {
  const std::size_t cut = text.find_first_of("T ");
  const auto parts = parts_of(text.substr(0, cut), "-");
  if (parts.size() != 3 || parts[0].size() != 4) return std::nullopt;
  const auto year = parse_number<int>(parts[0], kFirstYear, kLastYear);
  const auto month = parse_number<int>(parts[1], 1, 12);
  const auto day = parse_number<int>(parts[2], 1, 31);
  if (!year || !month || !day) return std::nullopt;
  const auto midnight = local_seconds(*year, static_cast<unsigned>(*month), static_cast<unsigned>(*day));
  if (!midnight || cut == std::string_view::npos) return midnight;
  const std::string_view rest = text.substr(cut + 1);
  const auto time = rest.empty() ? std::nullopt : seconds_of_day(rest);
  return time ? std::optional{*midnight + *time} : std::nullopt;
}

std::optional<LocalMonth> parse_local_month(std::string_view text) {
  const auto parts = parts_of(text, "-");
  if (parts.size() != 2 || parts[0].size() != 4) return std::nullopt;
  const auto year = parse_number<int>(parts[0], kFirstYear, kLastYear);
  const auto month = parse_number<int>(parts[1], 1, 12);
  if (!year || !month) return std::nullopt;
  const auto first = local_seconds(*year, static_cast<unsigned>(*month), 1);
  const auto next =
      *month == 12 ? local_seconds(*year + 1, 1, 1) : local_seconds(*year, static_cast<unsigned>(*month) + 1, 1);
  return LocalMonth{*first, *next};
}

std::string to_date_text(LocalSeconds local) {
  const date::year_month_day day = day_of(local);
  return fmt::format("{:04}-{:02}-{:02} {}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()), clock_text(local));
}

int hour_of_day(LocalSeconds local) { return static_cast<int>(second_of_day(local) / kHour); }

int day_of_week(LocalSeconds local) {
  constexpr std::int64_t kThursday = 3;  // 1970-01-01 was one
  const std::int64_t day = floor_divide(local, kDay) + kThursday;
  return static_cast<int>(day - floor_divide(day, 7) * 7);
}

void move_zero(SwfHeader& header, Duration later) {
  const auto clock = LogClock::of(header);
  const auto unix_start = header.unix_start_time();
  if (header.find("StartTime")) {
    if (clock)
      header.set("StartTime", clock->start_time_text(later));
    else
      header.remove("StartTime");
  }
  if (unix_start)
    header.set("UnixStartTime",
               fmt::format("{}", *unix_start + std::chrono::floor<std::chrono::seconds>(later).count()));
}

}  // namespace replay
