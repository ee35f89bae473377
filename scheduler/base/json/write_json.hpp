// JSON as text and in files: indented by two blanks, with a line end at the end.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace replay {

/// As a file has it, and commands with --json print it. Replaces bytes that are not UTF-8; control characters are escaped.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

/// The file gets its name when it is complete. Throws InputError naming the file if
/// it cannot be written.
void write_json(const std::filesystem::path& file, const nlohmann::ordered_json& json);

}  // namespace replay
