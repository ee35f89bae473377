// The files that a run depends on, known by their hashes: a repetition checks that they are the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace replay::results {

/// A file that the run depends on.
struct InputFile {
  std::string path;
  std::string sha256;  ///< what `sha256sum` prints
  std::uint64_t bytes = 0;
};
/// Reads the file as it is (compressed or not). Throws InputError.
[[nodiscard]] InputFile input_file(const std::filesystem::path& path);

/// Throws InputError if one cannot be read.
[[nodiscard]] bool same_bytes(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace replay::results
