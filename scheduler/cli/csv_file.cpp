#include "scheduler/cli/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace replay::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 17;

// "00", "01", ... "99".
constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{};
  std::uint64_t power = 1;
  for (std::uint64_t& each : powers) each = power, power *= 10;
  return powers;
}();

void put_pair(char* at, std::uint64_t value) { std::memcpy(at, kPairs.data() + 2 * value, 2); }

// 0 has one digit.
unsigned digits_of(std::uint64_t value) {
  constexpr unsigned kLog2Times4096 = 1233;  // log10(2), times 4096
  const unsigned digits = static_cast<unsigned>(std::bit_width(value | 1)) * kLog2Times4096 >> 12;
  return digits + (value >= kPowersOfTen[digits] ? 1 : 0) + (value == 0 ? 1 : 0);
}

}  // namespace

CsvFile::CsvFile(const std::filesystem::path& path, std::string_view columns)
    : sink_(open_sink(path.string())), block_(kBlock), at_(block_.data()), end_(block_.data() + block_.size()) {
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
  if (!std::isfinite(value)) return empty();
  if (std::abs(value) < 9e12)
    micros(std::llround(value * 1e6));
  else
    word(fmt::format("{}", value));
}

void CsvFile::micros(std::int64_t value) {
  room();
  if (value < 0) *at_++ = '-';
  const auto size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  at_ = put_digits(at_, size / 1'000'000);
  const std::uint64_t decimals = size % 1'000'000;
  *at_ = '.';
  put_pair(at_ + 1, decimals / 10'000);
  put_pair(at_ + 3, decimals / 100 % 100);
  put_pair(at_ + 5, decimals % 100);
  at_[7] = ',';
  at_ += 8;
}

char* CsvFile::put_digits(char* at, std::uint64_t value) {
  const unsigned digits = digits_of(value);
  char* to = at + digits;
  for (; value >= 100; value /= 100) put_pair(to -= 2, value % 100);
  if (value >= 10)
    put_pair(to - 2, value);
  else
    to[-1] = static_cast<char>('0' + value);
  return at + digits;
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
