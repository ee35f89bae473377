#include "scheduler/base/file/temporary_folder.hpp"

#include <fmt/core.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/name_template.hpp"

namespace replay {
namespace fs = std::filesystem;

fs::path folder_for_temporary_files() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (!error) return folder;
  const char* const named = std::getenv("TMPDIR");
  throw InputError(fmt::format("TMPDIR: expected a folder for temporary files, found '{}': {}; make it, or unset TMPDIR",
                               named == nullptr ? "/tmp" : named, error.message()));
}

TemporaryFolder::TemporaryFolder(std::string_view prefix, const fs::path& base) {
  std::string name = name_template((base / fmt::format("{}-", prefix)).string());
  if (::mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot make a folder {}", name));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace replay
