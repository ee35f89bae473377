// SHA-256 of files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace replay {

struct FileDigest {
  std::string sha256;  ///< what `sha256sum` prints
  std::uint64_t bytes = 0;
};
/// Reads the file once. Throws InputError when it cannot be read.
[[nodiscard]] FileDigest digest_of(const std::filesystem::path& file);

}  // namespace replay
