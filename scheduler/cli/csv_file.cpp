#include "scheduler/cli/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace replay::cli {
namespace {

constexpr std::size_t kWrittenAtOnce = std::size_t{1} << 17;

// The decimal digits of a number below 10^8, the first one in the lowest byte: its halves, their pairs and the digits of those are
// split side by side in one word.
std::uint64_t eight_digits(std::uint32_t value) {
  const std::uint64_t halves = value / 10'000 + (std::uint64_t{value % 10'000} << 32);
  const std::uint64_t first_pairs = halves * 5243 >> 19 & 0x0000'007f'0000'007f;  // by 100, exact below 10^4
  const std::uint64_t pairs = first_pairs + ((halves - 100 * first_pairs) << 16);
  const std::uint64_t first_digits = pairs * 103 >> 10 & 0x000f'000f'000f'000f;  // by 10, exact below 100
  return first_digits + ((pairs - 10 * first_digits) << 8);
}

constexpr std::uint64_t kZeros = 0x3030'3030'3030'3030;  // "00000000"
static_assert(std::endian::native == std::endian::little);

void put_word(char* at, std::uint64_t characters) { std::memcpy(at, &characters, sizeof characters); }

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
  const std::uint64_t decimals = eight_digits(static_cast<std::uint32_t>(size % 1'000'000)) + kZeros;
  put_word(at_, std::uint64_t{'.'} | decimals >> 16 << 8 | std::uint64_t{','} << 56);
  at_ += 8;
}

// What it writes behind the digits is written over, or not there yet: room() has seen to that.
char* CsvFile::put_digits(char* at, std::uint64_t value) {
  constexpr std::uint64_t kEight = 100'000'000;
  if (value >= kEight) {
    at = put_digits(at, value / kEight);
    put_word(at, eight_digits(static_cast<std::uint32_t>(value % kEight)) + kZeros);
    return at + 8;
  }
  const std::uint64_t digits = eight_digits(static_cast<std::uint32_t>(value));
  const int zeros = std::countr_zero(digits | std::uint64_t{1} << 56) / 8;  // before the first digit that counts
  put_word(at, (digits + kZeros) >> 8 * zeros);
  return at + 8 - zeros;
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
