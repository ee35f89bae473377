// Whether a disk is full.
#pragma once

#include <filesystem>

namespace replay {

/// Whether a file of 64 KB cannot be written into this folder, as the disk or the user's share of it is full. Tries it, and leaves
/// nothing there. False: it can be, or the folder may not be written anyway.
[[nodiscard]] bool is_disk_full(const std::filesystem::path& folder);

}  // namespace replay
