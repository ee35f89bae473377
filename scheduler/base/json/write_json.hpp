// Writes JSON files: indented by two blanks, with a line end at the end.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace replay {

/// Replaces bytes that are not UTF-8. The file gets its name when it is complete. Throws InputError naming the file if
/// it cannot be written.
void write_json(const std::filesystem::path& file, const nlohmann::ordered_json& json);

}  // namespace replay
