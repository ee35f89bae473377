#include "scheduler/results/input_file.hpp"

#include <utility>

#include "scheduler/base/file/sha256.hpp"

namespace replay::results {

InputFile input_file(const std::filesystem::path& path) {
  FileDigest digest = digest_of(path);
  return {path.string(), std::move(digest.sha256), digest.bytes};
}

bool same_bytes(const std::filesystem::path& a, const std::filesystem::path& b) {
  return std::filesystem::file_size(a) == std::filesystem::file_size(b) && input_file(a).sha256 == input_file(b).sha256;
}

}  // namespace replay::results
