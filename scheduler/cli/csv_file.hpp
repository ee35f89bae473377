// A CSV file on its way to disk: cells go straight into one block of memory, and full blocks to the file. What a run writes
// most is jobs.csv, so this is where a simulation's time goes if it is done with less care.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/byte_sink.hpp"

namespace replay::cli {

/// Commas go between the cells of a line by themselves. Throws InputError when the file cannot be written.
class CsvFile {
 public:
  /// Makes the file, or replaces it. `columns` is its first line.
  CsvFile(const std::filesystem::path& path, std::string_view columns);

  void empty() {
    room();
    *at_++ = ',';
  }
  /// As it is: for words without commas, quotes and line ends.
  void word(std::string_view text) {
    if (text.size() <= kShort) {
      room();
      put_short(at_, text);
      at_ += text.size();
    } else {
      append(text);
    }
    empty();
  }
  /// Of a length that is known when this is compiled, and short.
  template <std::size_t Size>
  requires(Size < 64) void word(const char (&text)[Size]) {
    room();
    std::memcpy(at_, text, Size - 1);
    at_ += Size - 1;
    *at_++ = ',';
  }
  /// Quoted where RFC 4180 asks for it.
  void text(std::string_view text) { word(quoted(text, quoted_)); }
  /// What text() writes, for texts that come again on each line. It may be `text` itself, or point into `memory`.
  [[nodiscard]] static std::string_view quoted(std::string_view text, std::string& memory);
  template <std::integral Integer>
  void count(Integer value) {
    room();
    char* const end = put_number(at_, value);
    *end = ',';
    at_ = end + 1;
  }
  /// A cell of several numbers: its pieces one by one, then empty().
  template <std::integral Integer>
  void piece(Integer value) {
    room();
    at_ = put_number(at_, value);
  }
  void piece(char c) {
    room();
    *at_++ = c;
  }
  /// Seconds with six decimals, as Batsim writes them.
  void seconds(Duration time) { micros(time.count()); }
  void seconds(Instant time) { micros(time.time_since_epoch().count()); }
  /// Six decimals; empty if there is no such number.
  void ratio(double value);
  /// REQUIRES: the line has cells.
  void end_line() { at_[-1] = '\n'; }
  /// Everything is written when this returns.
  void close();

 private:
  static constexpr std::ptrdiff_t kLongestCell = 64;  // of those that are not cut in pieces, with the comma

  // Commas come behind cells; that of the last one becomes the end of the line.
  void room() {
    if (end_ - at_ < kLongestCell) [[unlikely]]
      write();
  }
  void append(std::string_view text);
  void micros(std::int64_t value) {
    if (value == 0) return word("0.000000");  // often
    room();
    at_ = put_micros(at_, value);
  }
  void write();

  // These write more bytes than they use, up to kLongestCell. They give the end of what counts.
  template <std::integral Integer>
  static char* put_number(char* at, Integer value) {
    if (value >= 0 && value < 10) {
      *at = static_cast<char>('0' + value);
      return at + 1;
    }
    if (value < 0) *at++ = '-';
    const auto size = static_cast<std::uint64_t>(value);
    return put_digits(at, value < 0 ? 0 - size : size);
  }
  static char* put_digits(char* at, std::uint64_t value) {
    if (value >= kEightDigits) [[unlikely]]
      return put_long(at, value);
    const std::uint64_t digits = eight_digits(static_cast<std::uint32_t>(value));
    const int zeros = std::countr_zero(digits | std::uint64_t{1} << 56) / 8;  // before the first digit that counts
    put_word(at, (digits + kZeros) >> 8 * zeros);
    return at + 8 - zeros;
  }
  static char* put_long(char* at, std::uint64_t value);
  static char* put_micros(char* at, std::int64_t value);

  // The decimal digits of a number below 10^8, the first one in the lowest byte: its halves, their pairs and the digits of those
  // are split side by side in one word.
  static std::uint64_t eight_digits(std::uint32_t value) {
    const std::uint64_t halves = value / 10'000 + (std::uint64_t{value % 10'000} << 32);
    const std::uint64_t first_pairs = halves * 5243 >> 19 & 0x0000'007f'0000'007f;  // by 100, exact below 10^4
    const std::uint64_t pairs = first_pairs + ((halves - 100 * first_pairs) << 16);
    const std::uint64_t first_digits = pairs * 103 >> 10 & 0x000f'000f'000f'000f;  // by 10, exact below 100
    return first_digits + ((pairs - 10 * first_digits) << 8);
  }
  // Up to kShort bytes: their first and their last ones, which may be the same, so that no length needs a loop.
  static void put_short(char* at, std::string_view text) {
    const auto put_ends = [&]<class Block>(Block) {
      std::memcpy(at, text.data(), sizeof(Block));
      std::memcpy(at + text.size() - sizeof(Block), text.data() + text.size() - sizeof(Block), sizeof(Block));
    };
    if (text.size() >= 16)
      put_ends(std::array<char, 16>{});
    else if (text.size() >= 8)
      put_ends(std::uint64_t{});
    else if (text.size() >= 4)
      put_ends(std::uint32_t{});
    else
      for (const char c : text) *at++ = c;
  }
  static void put_word(char* at, std::uint64_t characters) { std::memcpy(at, &characters, sizeof characters); }

  static constexpr std::size_t kShort = 32;
  static constexpr std::uint64_t kEightDigits = 100'000'000;
  static constexpr std::uint64_t kZeros = 0x3030'3030'3030'3030;  // "00000000"
  static_assert(std::endian::native == std::endian::little);

  std::unique_ptr<ByteSink> sink_;
  std::vector<char> block_;
  char* at_;
  char* end_;
  std::string quoted_;
};

}  // namespace replay::cli
