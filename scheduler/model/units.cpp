#include "scheduler/model/units.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <utility>

namespace replay {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kMostSeconds = 9'000'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Duration from_seconds(double s) { return Duration{std::llround(s * 1e6)}; }

std::string to_text(Duration d) {
  const bool negative = d.count() < 0;
  const auto micros = negative ? -static_cast<std::uint64_t>(d.count()) : static_cast<std::uint64_t>(d.count());
  const fmt::format_int whole(micros / kMicrosPerSecond);
  std::string text(negative ? 1 : 0, '-');
  text.append(whole.data(), whole.size());
  auto rest = static_cast<std::uint32_t>(micros % kMicrosPerSecond);
  if (rest == 0) return text;
  std::array<char, 7> digits{'.'};
  for (std::size_t i = digits.size() - 1; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  std::size_t size = digits.size();
  while (digits[size - 1] == '0') --size;
  return text.append(digits.data(), size);
}

std::string to_text(Instant t) { return to_text(t.time_since_epoch()); }

std::optional<Duration> parse_seconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::size_t at = 0;
  std::int64_t whole = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    whole = whole * 10 + (text[at] - '0');
    if (whole > kMostSeconds) return std::nullopt;
  }
  std::size_t digits = at;
  std::int64_t micros = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    std::int64_t weight = kMicrosPerSecond / 10;
    bool rounded = false;
    for (; at < text.size() && is_digit(text[at]); ++at, ++digits) {
      if (weight > 0) {
        micros += weight * (text[at] - '0');
        weight /= 10;
      } else if (!rounded) {
        micros += text[at] >= '5' ? 1 : 0;
        rounded = true;
      }
    }
  }
  if (digits == 0 || at != text.size()) return std::nullopt;
  const std::int64_t total = whole * kMicrosPerSecond + micros;
  return Duration{negative ? -total : total};
}

std::optional<Duration> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr Unit kUnits[] = {{"ms", 1e-3}, {"min", 60}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  double scale = 1;
  for (const Unit& unit : kUnits) {
    if (text.ends_with(unit.name)) {
      text.remove_suffix(unit.name.size());
      scale = unit.seconds;
      break;
    }
  }
  const auto number = parse_seconds(text);
  if (!number || std::abs(seconds(*number)) * scale > static_cast<double>(kMostSeconds)) return std::nullopt;
  if (scale == 1) return number;
  return Duration{std::llround(static_cast<double>(number->count()) * scale)};
}

std::string length_text(Duration length) {
  const std::int64_t s = (length.count() + kMicrosPerSecond / 2) / kMicrosPerSecond;
  constexpr std::int64_t kHundredth = kMicrosPerSecond / 100;
  if (length.count() >= kMicrosPerSecond && s < 60)
    return to_text(Duration{(length.count() + kHundredth / 2) / kHundredth * kHundredth}) + " s";
  if (s < 60) return to_text(length) + " s";
  const auto two = [](std::int64_t big, const char* unit, std::int64_t small, const char* small_unit) {
    return small == 0 ? fmt::format("{} {}", big, unit) : fmt::format("{} {} {} {}", big, unit, small, small_unit);
  };
  if (s < 3600) return two(s / 60, "min", s % 60, "s");
  const std::int64_t minutes = (s + 30) / 60;
  if (minutes < 1440) return two(minutes / 60, "h", minutes % 60, "min");
  const std::int64_t hours = (minutes + 30) / 60;
  return two(hours / 24, "d", hours % 24, "h");
}

std::string about_text(double s) { return length_text(std::chrono::round<std::chrono::seconds>(from_seconds(s))); }

std::string with_unit(Duration d) {
  if (d == Duration::zero()) return "0";
  constexpr std::pair<const char*, Duration> kUnits[] = {{"d", std::chrono::hours{24}},
                                                         {"h", std::chrono::hours{1}},
                                                         {"min", std::chrono::minutes{1}},
                                                         {"s", std::chrono::seconds{1}},
                                                         {"ms", std::chrono::milliseconds{1}}};
  for (const auto& [name, unit] : kUnits)
    if (d % unit == Duration::zero()) return fmt::format("{}{}", d / unit, name);
  return to_text(d) + "s";
}

}  // namespace replay
