#include "scheduler/base/json/write_json.hpp"

#include <nlohmann/json.hpp>

#include "scheduler/base/file/byte_sink.hpp"

namespace replay {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

void write_json(const std::filesystem::path& file, const nlohmann::ordered_json& json) {
  const auto sink = open_sink(file.string());
  sink->write(json_text(json));
  sink->close();
}

}  // namespace replay
