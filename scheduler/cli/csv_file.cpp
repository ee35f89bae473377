#include "scheduler/cli/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace replay::cli {
namespace {

constexpr std::size_t kWrittenAtOnce = std::size_t{1} << 18;

}  // namespace

CsvFile::CsvFile(const std::filesystem::path& path, std::string_view columns)
    : sink_(open_sink(path.string())), block_(kWrittenAtOnce), at_(block_.data()), end_(block_.data() + block_.size()) {
  word(columns);
  end_line();
}

std::string_view CsvFile::quoted(std::string_view text, std::string& memory) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return text;
  memory = '"';
  for (const char c : text) memory.append(c == '"' ? 2 : 1, c);
  return memory += '"';
}

void CsvFile::ratio(double value) {
  if (value == 1) return word("1.000000");  // often
  constexpr double kMost = 9e12;
  if (std::abs(value) < kMost) [[likely]] {
    const double micro = value * 1e6;
    auto whole = static_cast<std::int64_t>(micro);
    const double rest = micro - static_cast<double>(whole);  // exact
    whole += rest >= 0.5 ? 1 : 0;
    whole -= rest <= -0.5 ? 1 : 0;
    micros(whole);
  } else if (std::isfinite(value)) {
    word(fmt::format("{}", value));
  } else {
    empty();
  }
}

char* CsvFile::put_micros(char* at, std::int64_t value) {
  constexpr std::uint64_t kMicros = 1'000'000;
  if (value < 0) *at++ = '-';
  const auto size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const std::uint64_t seconds = size / kMicros;
  const std::uint64_t decimals = size - seconds * kMicros;
  at = put_digits(at, seconds);
  constexpr std::uint64_t kEnds = std::uint64_t{'.'} | std::uint64_t{','} << 56;
  const std::uint64_t digits = decimals == 0 ? 0 : eight_digits(static_cast<std::uint32_t>(decimals)) >> 16 << 8;
  put_word(at, kEnds + digits + (kZeros >> 16 << 8));
  return at + 8;
}

char* CsvFile::put_long(char* at, std::uint64_t value) {
  at = put_digits(at, value / kEightDigits);
  put_word(at, eight_digits(static_cast<std::uint32_t>(value % kEightDigits)) + kZeros);
  return at + 8;
}

void CsvFile::append(std::string_view text) {
  while (!text.empty()) {
    room();
    const std::size_t taken = std::min(text.size(), static_cast<std::size_t>(end_ - at_));
    std::memcpy(at_, text.data(), taken);
    at_ += taken;
    text.remove_prefix(taken);
  }
}

void CsvFile::write() {
  sink_->write({block_.data(), static_cast<std::size_t>(at_ - block_.data())});
  at_ = block_.data();
}

void CsvFile::close() {
  write();
  sink_->close();
}

}  // namespace replay::cli
