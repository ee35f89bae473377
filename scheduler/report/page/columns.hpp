// Columns of numbers and texts for a page: in a file as little-endian bytes in base64, which a browser reads far faster than
// numbers in JSON, with a description of each in the JSON; for a live page, which gets them bit by bit, as arrays in the
// JSON. docs/formats/report-page.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace replay::report {

class Columns {
 public:
  enum class Form : std::uint8_t {
    kBlocks,  ///< base64, in blocks()
    kArrays   ///< in the JSON itself; what is absent (NaN) is null
  };
  explicit Columns(Form form = Form::kBlocks) : form_(form) {}

  /// Each adds a column, and returns its description, or the array. Numbers in blocks get the narrowest of the types u8, i32 and
  /// f64 that holds all of them exactly: most are whole, and many columns have only small ones.
  [[nodiscard]] nlohmann::ordered_json add(std::span<const double> values);
  [[nodiscard]] nlohmann::ordered_json add(std::span<const std::int32_t> values);
  [[nodiscard]] nlohmann::ordered_json add(std::span<const std::uint8_t> values);
  /// As clean_lines() gives them.
  [[nodiscard]] nlohmann::ordered_json add(std::span<const std::string> texts);

  /// In base64; a column's description has its place here.
  [[nodiscard]] std::span<const std::string> blocks() const { return blocks_; }

 private:
  [[nodiscard]] nlohmann::ordered_json add(const char* type, std::size_t length, std::span<const std::byte> bytes);

  Form form_;
  std::vector<std::string> blocks_;
};

}  // namespace replay::report
