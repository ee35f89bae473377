// Reads a page as its script does (scheduler/report/page/assets/data.js): script elements, the JSON, and columns by their
// descriptions. A page that a browser would not take apart in the same way fails the test.
#pragma once

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace replay::test {

struct ScriptElement {
  std::string attributes;  ///< as written, "" or with a blank in front
  std::string text;
};

/// In the order of the page. A script element ends at the first "</script", in any case, whatever its text means.
inline std::vector<ScriptElement> script_elements(const std::string& html) {
  std::string lower = html;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<ScriptElement> elements;
  for (std::size_t at = lower.find("<script"); at != std::string::npos; at = lower.find("<script", at)) {
    const std::size_t open = html.find('>', at), close = lower.find("</script", open);
    if (open == std::string::npos || close == std::string::npos) {
      ADD_FAILURE() << "a script element without an end";
      break;
    }
    elements.push_back({html.substr(at + 7, open - at - 7), html.substr(open + 1, close - open - 1)});
    at = close;
  }
  return elements;
}

class PageReader {
 public:
  explicit PageReader(const std::string& html) {
    for (const ScriptElement& element : script_elements(html)) {
      constexpr std::string_view kBlock = " type=\"application/octet-stream\" id=\"replay-bin-";
      if (element.attributes == " type=\"application/json\" id=\"replay-data\"")
        json_ = nlohmann::ordered_json::parse(element.text);
      else if (element.attributes.starts_with(kBlock)) {
        EXPECT_EQ(element.attributes.substr(kBlock.size()), std::to_string(blocks_.size()) + "\"");
        blocks_.push_back(decoded(element.text));
      } else {
        EXPECT_EQ(element.attributes, "") << "an unknown script element";
        ++scripts_;
      }
    }
  }

  [[nodiscard]] const nlohmann::ordered_json& json() const { return json_; }
  [[nodiscard]] const nlohmann::ordered_json& run(std::size_t i = 0) const { return json_.at("runs").at(i); }
  [[nodiscard]] std::size_t scripts() const { return scripts_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

  /// Of a column of numbers, whatever its type.
  [[nodiscard]] std::vector<double> numbers(const nlohmann::ordered_json& column) const {
    const auto type = column.at("type").get<std::string>();
    if (type == "f64") return values<double>(column);
    if (type == "i32") return values<std::int32_t>(column);
    EXPECT_EQ(type, "u8");
    return values<std::uint8_t>(column);
  }
  [[nodiscard]] std::vector<std::string> texts(const nlohmann::ordered_json& column) const {
    EXPECT_EQ(column.at("type"), "utf8");
    const std::string& bytes = blocks_.at(column.at("bin").get<std::size_t>());
    const std::vector<double> offsets = numbers(column.at("offsets"));
    EXPECT_EQ(offsets.size(), column.at("length").get<std::size_t>() + 1);
    std::vector<std::string> result;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
      result.push_back(bytes.substr(static_cast<std::size_t>(offsets[i]),
                                    static_cast<std::size_t>(offsets[i + 1]) - static_cast<std::size_t>(offsets[i])));
    return result;
  }

 private:
  static std::string decoded(const std::string& base64) {
    std::string bytes(base64.size() / 4 * 3 + 3, '\0');
    std::size_t length = 0;
    EXPECT_EQ(sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), base64.data(),
                                base64.size(), nullptr, &length, nullptr, sodium_base64_VARIANT_ORIGINAL),
              0);
    bytes.resize(length);
    return bytes;
  }
  template <class Value>
  [[nodiscard]] std::vector<double> values(const nlohmann::ordered_json& column) const {
    const std::string& bytes = blocks_.at(column.at("bin").get<std::size_t>());
    const auto length = column.at("length").get<std::size_t>();
    EXPECT_EQ(bytes.size(), length * sizeof(Value)) << column.dump();
    std::vector<Value> raw(length);
    if (bytes.size() == length * sizeof(Value)) std::memcpy(raw.data(), bytes.data(), bytes.size());
    return {raw.begin(), raw.end()};
  }

  nlohmann::ordered_json json_;
  std::vector<std::string> blocks_;
  std::size_t scripts_ = 0;
};

}  // namespace replay::test
