#include "scheduler/results/input_file.hpp"

#include <utility>

#include "scheduler/base/file/sha256.hpp"

namespace replay::results {

InputFile input_file(const std::filesystem::path& path) {
  FileDigest digest = digest_of(path);
  return {path.string(), std::move(digest.sha256), digest.bytes};
}

}  // namespace replay::results
