// SHA-256 of files and texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace replay {

struct FileDigest {
  std::string sha256;  ///< what `sha256sum` prints
  std::uint64_t bytes = 0;
};
/// Reads the file once. Throws InputError when it cannot be read.
[[nodiscard]] FileDigest digest_of(const std::filesystem::path& file);
/// The first 64 bits of a text's SHA-256: the first 16 digits of what `sha256sum` prints.
[[nodiscard]] std::uint64_t sha256_start(std::string_view text);

}  // namespace replay
