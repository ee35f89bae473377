#include "scheduler/base/text/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scheduler/base/text/csv_row.hpp"

namespace replay {
namespace {

constexpr std::size_t kWrittenAtOnce = std::size_t{1} << 18;

}  // namespace

char* CsvLine::put_large(char* at, std::int64_t value) {
  if (value < 0) *at++ = '-';
  const auto size = static_cast<std::uint64_t>(value);
  return put_digits(at, value < 0 ? 0 - size : size);
}

char* CsvLine::put_micros(char* at, std::int64_t value) {
  constexpr std::int64_t kMicros = 1'000'000;
  const std::int64_t seconds = value / kMicros;
  if (value < 0 || seconds * kMicros != value) return put_uneven(at, value);
  at = put_digits(at, static_cast<std::uint64_t>(seconds));
  constexpr char kRest[] = {'.', '0', '0', '0', '0', '0', '0', ','};
  std::memcpy(at, kRest, sizeof kRest);
  return at + sizeof kRest;
}

char* CsvLine::put_ratio(char* at, double value) {
  constexpr double kMost = 9e12;
  if (std::abs(value) < kMost) [[likely]] {
    const double micro = value * 1e6;
    auto whole = static_cast<std::int64_t>(micro);
    const double rest = micro - static_cast<double>(whole);  // exact
    whole += rest >= 0.5 ? 1 : 0;
    whole -= rest <= -0.5 ? 1 : 0;
    return put_uneven(at, whole);
  }
  if (std::isfinite(value)) at = std::ranges::copy(fmt::format("{}", value), at).out;
  *at = ',';
  return at + 1;
}

char* CsvLine::put_uneven(char* at, std::int64_t micros) {
  constexpr std::uint64_t kMicros = 1'000'000;
  if (micros < 0) *at++ = '-';
  const auto size = micros < 0 ? 0 - static_cast<std::uint64_t>(micros) : static_cast<std::uint64_t>(micros);
  const std::uint64_t seconds = size / kMicros;
  at = put_digits(at, seconds);
  constexpr std::uint64_t kEnds = std::uint64_t{'.'} | std::uint64_t{','} << 56;
  const std::uint64_t decimals = eight_digits(static_cast<std::uint32_t>(size - seconds * kMicros)) >> 16 << 8;
  put_word(at, kEnds + decimals + (kZeros >> 16 << 8));
  return at + 8;
}

char* CsvLine::put_long(char* at, std::uint64_t value) {
  at = put_digits(at, value / kEightDigits);
  put_word(at, eight_digits(static_cast<std::uint32_t>(value % kEightDigits)) + kZeros);
  return at + 8;
}

CsvFile::CsvFile(const std::filesystem::path& path, std::string_view columns)
    : sink_(open_sink(path.string())), block_(kWrittenAtOnce), at_(block_.data()), end_(block_.data() + block_.size()) {
  CsvLine line = begin_line(0, columns.size() + 1);
  line.word(columns);
  end_line(line);
}

std::string_view CsvFile::quoted(std::string_view text, std::string& memory) {
  const std::string_view guard = is_formula(text) ? "'" : "";
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return guard.empty() ? text : memory.assign(guard).append(text);
  memory.assign("\"").append(guard);
  for (const char c : text) memory.append(c == '"' ? 2 : 1, c);
  return memory += '"';
}

void CsvFile::make_room(std::size_t bytes) {
  write();
  if (block_.size() < bytes) block_.resize(bytes);
  at_ = block_.data();
  end_ = block_.data() + block_.size();
}

void CsvFile::write() {
  sink_->write({block_.data(), static_cast<std::size_t>(at_ - block_.data())});
  at_ = block_.data();
}

void CsvFile::close() {
  write();
  sink_->close();
}

}  // namespace replay
