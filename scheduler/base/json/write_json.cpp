#include "scheduler/base/json/write_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/base/file/byte_sink.hpp"

namespace replay {

std::string json_text(const nlohmann::ordered_json& json) {
  std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  // dump() leaves U+0080 to U+009f as they are, on which terminals act: U+009b begins an escape sequence.
  for (std::size_t at = text.find('\xc2'); at != std::string::npos; at = text.find('\xc2', at + 1))
    if (const auto code = static_cast<unsigned char>(text[at + 1]); code < 0xa0)
      text.replace(at, 2, fmt::format("\\u{:04x}", code));
  return text;
}

void write_json(const std::filesystem::path& file, const nlohmann::ordered_json& json) {
  const auto sink = open_sink(file.string());
  sink->write(json_text(json));
  sink->close();
}

}  // namespace replay
