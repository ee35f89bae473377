// Fields of JSON files, read with their place, so that a message can name it: "benchmarks[3].run_time_s".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay {

/// A value in a file. Both must outlive it. All functions that read throw InputError, "FILE: PLACE: expected ..., found
/// ...", when the value is not what they are to return.
template <class Json>
class JsonPlace {
 public:
  /// All of the file; `name` stands in messages about it, but not in front of its members.
  JsonPlace(const Json& value, const std::string& file, std::string name = "")
      : value_(value), path_(std::move(name)), file_(file), is_whole_(true) {}

  [[noreturn]] void fail(std::string_view expected) const {
    throw InputError(fmt::format("{}: {}{}expected {}, found {}", file_, path_, path_.empty() ? "" : ": ", expected,
                                 short_text(value_)));
  }

  [[nodiscard]] const Json& value() const { return value_; }
  [[nodiscard]] bool is_null() const { return value_.is_null(); }
  [[nodiscard]] bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  [[nodiscard]] JsonPlace at(const char* key) const {
    if (!value_.is_object()) fail("an object");
    if (!value_.contains(key)) fail(fmt::format("a member '{}'", key));
    return {value_[key], file_, is_whole_ ? key : fmt::format("{}.{}", path_, key), false};
  }
  /// The elements of the list.
  [[nodiscard]] std::vector<JsonPlace> elements() const {
    if (!value_.is_array()) fail("a list");
    std::vector<JsonPlace> places;
    for (std::size_t i = 0; i < value_.size(); ++i)
      places.push_back({value_[i], file_, fmt::format("{}[{}]", path_, i), false});
    return places;
  }
  /// The elements of the list `key`; none if it is not there.
  [[nodiscard]] std::vector<JsonPlace> list(const char* key) const {
    return has(key) ? at(key).elements() : std::vector<JsonPlace>{};
  }

  /// Converted as nlohmann-json does.
  template <class T>
  [[nodiscard]] T as(std::string_view expected) const {
    try {
      return value_.template get<T>();
    } catch (const typename Json::exception&) {
      fail(expected);
    }
  }
  /// The member `key` converted as nlohmann-json does; `otherwise` if it is not there.
  template <class T>
  [[nodiscard]] T as_or(const char* key, T otherwise, std::string_view expected) const {
    return has(key) ? at(key).template as<T>(expected) : std::move(otherwise);
  }
  /// One line without control characters.
  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) fail("a text");
    const auto text = value_.template get<std::string>();
    if (clean_line(text) != text) fail("a text in one line without control characters");
    return text;
  }
  [[nodiscard]] double number(double least, double most = 1e12) const {
    const double value = value_.is_number() ? value_.template get<double>() : std::nan("");
    if (!(value >= least && value <= most)) fail(fmt::format("a number {}..{}", least, most));
    return value;
  }
  /// At least 1.
  [[nodiscard]] std::int32_t count() const {
    if (!value_.is_number_integer()) fail("a count >= 1");
    const auto value = value_.template get<std::int64_t>();
    if (value < 1 || value > std::numeric_limits<std::int32_t>::max()) fail("a count >= 1");
    return static_cast<std::int32_t>(value);
  }
  [[nodiscard]] bool flag() const {
    if (!value_.is_boolean()) fail("true or false");
    return value_.template get<bool>();
  }

 private:
  JsonPlace(const Json& value, const std::string& file, std::string path, bool is_whole)
      : value_(value), path_(std::move(path)), file_(file), is_whole_(is_whole) {}

  const Json& value_;
  std::string path_;
  const std::string& file_;
  bool is_whole_;
};

}  // namespace replay
