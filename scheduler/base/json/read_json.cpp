#include "scheduler/base/json/read_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "scheduler/base/text/clean_text.hpp"

namespace replay {

void JsonLimits::heed(int level, nlohmann::json::parse_event_t event, const std::string* key) {
  using Event = nlohmann::json::parse_event_t;
  const bool opens = event == Event::object_start || event == Event::array_start;
  if (opens && level >= kMostJsonLevels)
    throw JsonError(fmt::format("expected at most {} lists and objects in each other, found more", kMostJsonLevels));
  const auto at = static_cast<std::size_t>(level);
  if (event == Event::object_start) members_[at + 1].clear();
  if (event != Event::key) return;
  constexpr std::size_t kMostNamed = 200;
  if (!members_[at].insert(*key).second)
    throw JsonError(
        fmt::format("expected each member of an object once, found '{}' twice", clean_line(*key, kMostNamed)));
  if (members_[at].size() > kMostJsonMembers)
    throw JsonError(fmt::format("expected at most {} members of an object, found more", kMostJsonMembers));
}

std::string json_problem(std::string_view what) {
  if (what.starts_with("[json.exception.")) what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
  constexpr std::string_view kParseError = "parse error at ";
  if (what.starts_with(kParseError)) what.remove_prefix(kParseError.size());
  return std::string{what};
}

std::string read_json_text(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw InputError(fmt::format("{}: expected a file, found a directory", file.string()));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text(kMostJsonBytes + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.eof() && !in) throw InputError(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostJsonBytes)
    throw InputError(fmt::format("{}: expected at most {} bytes of JSON, found more", file.string(), kMostJsonBytes));
  return text;
}

}  // namespace replay
