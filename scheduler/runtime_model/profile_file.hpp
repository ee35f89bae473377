// Reads and writes the profile's file: JSON, versioned (docs/formats/profile.md). A file of another version or kind, or
// with an impossible figure, is refused with the place in it and what was expected there.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "scheduler/runtime_model/profile.hpp"

namespace replay {

inline constexpr int kProfileVersion = 1;

/// Throws InputError "file: place: expected ..., found ...".
[[nodiscard]] Profile read_profile(const std::string& path);
/// `name`: the file's name in messages.
[[nodiscard]] Profile profile_of(const nlohmann::json& json, const std::string& name);

[[nodiscard]] nlohmann::json to_json(const Profile& profile);
/// Replaces the file when the new one is complete. Throws InputError when it cannot be written.
void write_profile(const Profile& profile, const std::string& path);

}  // namespace replay
