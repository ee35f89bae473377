// Reads JSON of foreign origin within limits. nlohmann-json itself reads any depth, and then copies, compares and
// writes a value by recursion: a megabyte of brackets overflows the stack. All JSON of ours is read with these
// functions.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>

#include "scheduler/base/error.hpp"

namespace replay {

/// Depth of lists and objects in each other. What we write and the protocol of policies need six.
inline constexpr int kMostJsonLevels = 64;
/// Members of one object: an ordered_json looks through all of them for each new one.
inline constexpr int kMostJsonMembers = 10'000;
/// Of a file. The largest that we write, profiles and results of validate, have some 100 KB.
inline constexpr std::size_t kMostJsonBytes = std::size_t{16} << 20;

/// What is wrong with a text that is no JSON, or goes beyond a limit; does not name the file.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Counts levels and members while a text is parsed, and ends the parse at a limit, before a deep value is made, and at a
/// member that its object has already: readers differ in which of the two counts.
class JsonLimits {
 public:
  /// `level`: how many lists and objects are open; `key`: of a key event. Throws JsonError.
  void heed(int level, nlohmann::json::parse_event_t event, const std::string* key);

 private:
  std::array<std::unordered_set<std::string>, kMostJsonLevels + 1> members_;  // of the open object, by level
};

/// The parser's words without the name of its error: "line 1, column 2: syntax error ...".
[[nodiscard]] std::string json_problem(std::string_view what);

/// Throws JsonError.
template <class Json>
[[nodiscard]] Json parse_json(std::string_view text) {
  JsonLimits limits;
  const auto heed = [&limits](int level, nlohmann::json::parse_event_t event, const Json& parsed) {
    limits.heed(level, event, parsed.template get_ptr<const std::string*>());
    return true;
  };
  try {
    return Json::parse(text, heed);
  } catch (const typename Json::exception& error) {
    throw JsonError(json_problem(error.what()));
  }
}

/// The whole file. Throws InputError naming it: it cannot be read, is a directory, or larger than kMostJsonBytes.
[[nodiscard]] std::string read_json_text(const std::filesystem::path& file);

/// `expected` says what the file should hold, such as "a profile in JSON". Throws InputError naming the file.
template <class Json>
[[nodiscard]] Json read_json(const std::filesystem::path& file, std::string_view expected = "JSON") {
  const std::string text = read_json_text(file);
  try {
    return parse_json<Json>(text);
  } catch (const JsonError& error) {
    throw InputError(fmt::format("{}: expected {}: {}", file.string(), expected, error.what()));
  }
}

}  // namespace replay
