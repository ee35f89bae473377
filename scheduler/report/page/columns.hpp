// Columns of numbers and texts as little-endian bytes in base64, which a browser reads far faster than numbers in JSON. The
// JSON has a description of each: docs/formats/report-page.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace replay::report {

class Columns {
 public:
  /// Each adds a column, and returns its description.
  [[nodiscard]] nlohmann::ordered_json add(std::span<const double> values);
  [[nodiscard]] nlohmann::ordered_json add(std::span<const std::int32_t> values);
  [[nodiscard]] nlohmann::ordered_json add(std::span<const std::uint8_t> values);
  /// As clean_lines() gives them.
  [[nodiscard]] nlohmann::ordered_json add(std::span<const std::string> texts);

  /// In base64; a column's description has its place here.
  [[nodiscard]] std::span<const std::string> blocks() const { return blocks_; }

 private:
  [[nodiscard]] nlohmann::ordered_json add(const char* type, std::size_t length, std::span<const std::byte> bytes);

  std::vector<std::string> blocks_;
};

}  // namespace replay::report
