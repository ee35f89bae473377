// Fast writer of CSV files, line by line. jobs.csv is the largest output of a run, so a slow writer would dominate the
// time of a simulation.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/whole_number.hpp"

namespace replay {

/// The cells of one line, in memory that is large enough for all of them (CsvFile::begin_line()). Writes a comma after
/// each cell.
class CsvLine {
 public:
  /// Upper bound of the bytes that one number writes, including bytes beyond its end.
  static constexpr std::size_t kLongestNumber = 40;

  explicit CsvLine(char* at) : at_(at) {}
  /// One past the last cell.
  [[nodiscard]] char* end() const { return at_; }

  /// A cell that stands in this line, for again().
  struct Cell {
    const char* text;
    std::ptrdiff_t size;  // with its comma
  };

  void empty() { *at_++ = ','; }
  void empties(int count) {
    for (int i = 0; i < count; ++i) empty();
  }
  /// A word of a length known at compile time.
  template <std::size_t Size>
  [[gnu::always_inline]] void word(const char (&text)[Size]) {
    std::memcpy(at_, text, Size - 1);
    at_ += Size - 1;
    empty();
  }
  /// Written unquoted: for words without commas, quotes and line ends.
  [[gnu::always_inline]] void word(std::string_view text) {
    if (text.size() <= kShort)
      put_short(at_, text);
    else
      std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    empty();
  }
  template <WholeNumber Integer>
  [[gnu::always_inline]] Cell count(Integer value) {
    const char* const begin = at_;
    at_ = put_number(at_, value);
    empty();
    return {begin, at_ - begin};
  }
  /// A cell of several numbers: its pieces one by one, then empty().
  template <std::integral Integer>
  [[gnu::always_inline]] void piece(Integer value) {
    at_ = put_number(at_, value);
  }
  void piece(char c) { *at_++ = c; }
  /// Seconds with six decimals, as Batsim writes them.
  [[gnu::always_inline]] Cell seconds(std::chrono::microseconds time) { return micros(time.count()); }
  template <class Clock>
  [[gnu::always_inline]] Cell seconds(std::chrono::time_point<Clock, std::chrono::microseconds> time) {
    return micros(time.time_since_epoch().count());
  }
  /// Six decimals; empty if there is no such number.
  [[gnu::always_inline]] Cell ratio(double value) {
    const char* const begin = at_;
    if (value == 1)  // often
      word("1.000000");
    else
      at_ = put_ratio(at_, value);
    return {begin, at_ - begin};
  }
  /// Repeats a number of this line.
  [[gnu::always_inline]] Cell again(const Cell& cell) {
    std::array<char, kLongestNumber> copy;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled at once
    std::memcpy(copy.data(), cell.text, copy.size());
    std::memcpy(at_, copy.data(), copy.size());
    at_ += cell.size;
    return cell;
  }

 private:
  [[gnu::always_inline]] Cell micros(std::int64_t value) {
    const char* const begin = at_;
    if (value == 0)  // often
      word("0.000000");
    else
      at_ = put_micros(at_, value);
    return {begin, at_ - begin};
  }

  // These may write bytes beyond their result; they return its end. Those for times and ratios write the comma too.
  // Their callers are inlined, so that the position in the line stays in a register.
  template <WholeNumber Integer>
  [[gnu::always_inline]] static char* put_number(char* at, Integer value) {
    if (value >= 0 && value < 10) {
      *at = static_cast<char>('0' + value);
      return at + 1;
    }
    return put_large(at, value);
  }
  static char* put_large(char* at, std::int64_t value);
  static char* put_micros(char* at, std::int64_t value);
  static char* put_digits(char* at, std::uint64_t value) {
    if (value >= kEightDigits) [[unlikely]]
      return put_long(at, value);
    const std::uint64_t digits = eight_digits(static_cast<std::uint32_t>(value));
    const int zeros = std::countr_zero(digits | std::uint64_t{1} << 56) / 8;  // before the first digit that counts
    put_word(at, (digits + kZeros) >> 8 * zeros);
    return at + 8 - zeros;
  }
  static char* put_uneven(char* at, std::int64_t micros);
  static char* put_long(char* at, std::uint64_t value);
  static char* put_ratio(char* at, double value);

  // The decimal digits of a number below 10^8, the first one in the lowest byte. Splits it into halves, pairs and
  // digits, side by side in one word.
  static std::uint64_t eight_digits(std::uint32_t value) {
    const std::uint64_t halves = value / 10'000 + (std::uint64_t{value % 10'000} << 32);
    const std::uint64_t first_pairs = halves * 5243 >> 19 & 0x0000'007f'0000'007f;  // by 100, exact below 10^4
    const std::uint64_t pairs = first_pairs + ((halves - 100 * first_pairs) << 16);
    const std::uint64_t first_digits = pairs * 103 >> 10 & 0x000f'000f'000f'000f;  // by 10, exact below 100
    return first_digits + ((pairs - 10 * first_digits) << 8);
  }
  // Copies up to kShort bytes as two blocks, the first and the last bytes, which may overlap: no loop from 4 bytes on.
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

  char* at_;
};

/// Lines go into one block of memory, and full blocks to the file. Throws InputError when the file cannot be written.
class CsvFile {
 public:
  /// Makes the file, or replaces it. `columns` is its first line.
  CsvFile(const std::filesystem::path& path, std::string_view columns);

  /// Begins the next line, with room for `numbers` numbers and empty cells, each with one more character, and `letters`
  /// bytes of words with their commas. end_line() adds the line to the file.
  [[nodiscard]] CsvLine begin_line(std::size_t numbers, std::size_t letters = 0) {
    const std::size_t bytes = (numbers + 1) * CsvLine::kLongestNumber + letters;
    if (static_cast<std::size_t>(end_ - at_) < bytes) [[unlikely]]
      make_room(bytes);
    return CsvLine(at_);
  }
  /// REQUIRES: the line is the one that was begun last, and has cells.
  void end_line(const CsvLine& line) {
    at_ = line.end();
    at_[-1] = '\n';
  }
  /// Everything is written when this returns.
  void close();

  /// A cell for CsvLine::word(): `text`, quoted where RFC 4180 asks for it, behind an apostrophe where a spreadsheet would
  /// read it as a formula (it begins with = + - @, a tab or CR). It may be `text` itself, or point into `memory`.
  [[nodiscard]] static std::string_view quoted(std::string_view text, std::string& memory);

 private:
  void make_room(std::size_t bytes);
  void write();

  std::unique_ptr<ByteSink> sink_;
  std::vector<char> block_;
  char* at_;
  char* end_;
};

}  // namespace replay
