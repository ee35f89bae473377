// A CSV file on its way to disk: cells go straight into one block of memory, and full blocks to the file. What a run writes
// most is jobs.csv, so this is where a simulation's time goes if it is done with less care.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
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

  void empty() { comma(); }
  /// As it is: for words without commas, quotes and line ends.
  void word(std::string_view text) {
    comma();
    append(text);
  }
  /// Quoted where RFC 4180 asks for it.
  void text(std::string_view text);
  template <std::integral Integer>
  void count(Integer value) {
    comma();
    digits(value);
  }
  /// Seconds with six decimals, as Batsim writes them.
  void seconds(Duration time) {
    comma();
    micros(time.count());
  }
  void seconds(Instant time) { seconds(time.time_since_epoch()); }
  /// Six decimals; empty if there is no such number.
  void ratio(double value);
  void end_line() {
    room(1);
    *at_++ = '\n';
    is_first_ = true;
  }
  /// Everything is written when this returns.
  void close();

 private:
  static constexpr std::size_t kLongestNumber = 32;

  void comma() {
    room(1);
    if (!is_first_) *at_++ = ',';
    is_first_ = false;
  }
  void room(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes) [[unlikely]]
      write();
  }
  void append(std::string_view text);
  template <std::integral Integer>
  void digits(Integer value) {
    room(kLongestNumber);
    at_ = std::to_chars(at_, end_, value).ptr;
  }
  void micros(std::int64_t value);
  void write();

  std::unique_ptr<ByteSink> sink_;
  std::vector<char> block_;
  char* at_;
  char* end_;
  bool is_first_ = true;
};

}  // namespace replay::cli
