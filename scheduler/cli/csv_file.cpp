#include "scheduler/cli/csv_file.hpp"

#include <fmt/format.h>

namespace replay::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 17;

void put_two_digits(char* at, std::uint32_t value) {
  at[0] = static_cast<char>('0' + value / 10);
  at[1] = static_cast<char>('0' + value % 10);
}

}  // namespace

CsvFile::CsvFile(const std::filesystem::path& path, std::string_view columns)
    : sink_(open_sink(path.string())), block_(kBlock), at_(block_.data()), end_(block_.data() + block_.size()) {
  append(columns);
  end_line();
}

void CsvFile::text(std::string_view text) {
  comma();
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return append(text);
  append("\"");
  for (const char& c : text) {
    if (c == '"') append("\"");
    append({&c, 1});
  }
  append("\"");
}

void CsvFile::ratio(double value) {
  comma();
  if (!std::isfinite(value)) return;
  if (std::abs(value) < 9e12)
    micros(std::llround(value * 1e6));
  else
    append(fmt::format("{}", value));
}

void CsvFile::micros(std::int64_t value) {
  room(kLongestNumber);
  if (value < 0) *at_++ = '-';
  const auto size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  at_ = std::to_chars(at_, end_, size / 1'000'000).ptr;
  const auto decimals = static_cast<std::uint32_t>(size % 1'000'000);
  constexpr std::string_view kNoDecimals = ".000000";
  std::memcpy(at_, kNoDecimals.data(), kNoDecimals.size());
  if (decimals != 0) {
    put_two_digits(at_ + 1, decimals / 10'000);
    put_two_digits(at_ + 3, decimals / 100 % 100);
    put_two_digits(at_ + 5, decimals % 100);
  }
  at_ += kNoDecimals.size();
}

void CsvFile::append(std::string_view text) {
  while (!text.empty()) {
    room(std::min(text.size(), block_.size()));
    const std::size_t taken = std::min(text.size(), block_.size());
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
