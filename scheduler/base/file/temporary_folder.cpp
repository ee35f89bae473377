#include "scheduler/base/file/temporary_folder.hpp"

#include <fmt/core.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/name_template.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay {
namespace fs = std::filesystem;

fs::path folder_for_temporary_files() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (!error) return folder;
  const char* const named = std::getenv("TMPDIR");
  throw InputError(fmt::format("TMPDIR: expected a folder, found '{}': {}: name one that is there, or unset TMPDIR",
                               clean_line(named != nullptr ? named : "", 200), error.message()));
}

TemporaryFolder::TemporaryFolder(std::string_view prefix, const fs::path& base) {
  std::string name =
      name_template(((base.empty() ? folder_for_temporary_files() : base) / fmt::format("{}-", prefix)).string());
  if (::mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot make a folder {}", name));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace replay
