// A CSV file on its way to disk: cells go straight into one block of memory, and full blocks to the file. What a run writes
// most is jobs.csv, so this is where a simulation's time goes if it is done with less care.
#pragma once

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
    append(text);
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
    if (value < 0) *at_++ = '-';
    const auto size = static_cast<std::uint64_t>(value);
    at_ = put_digits(at_, value < 0 ? 0 - size : size);
    *at_++ = ',';
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
  void micros(std::int64_t value);
  static char* put_digits(char* at, std::uint64_t value);
  void write();

  std::unique_ptr<ByteSink> sink_;
  std::vector<char> block_;
  char* at_;
  char* end_;
  std::string quoted_;
};

}  // namespace replay::cli
