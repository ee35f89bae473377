#include "scheduler/sweep/study_folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNameFile = "study.txt";

}  // namespace

void expect_folder_of(const std::string& study, const fs::path& folder) {
  std::error_code error;
  const fs::file_status found = fs::status(folder, error);
  if (error == std::errc::not_a_directory || (fs::exists(found) && !fs::is_directory(found)))
    throw UsageError(
        fmt::format("-o: expected a folder, found the file {}", (error ? folder.parent_path() : folder).string()));
  std::ifstream in{folder / kNameFile};
  std::string name;
  if (!std::getline(in, name) || name == study) return;
  throw UsageError(
      fmt::format("-o: expected a folder of the study '{}', found that of '{}', {}: take another one; if only the name "
                  "of the study "
                  "has changed, write the new one into {}",
                  study, clean_line(name), folder.string(), (folder / kNameFile).string()));
}

void name_folder(const std::string& study, const fs::path& folder) {
  expect_folder_of(study, folder);
  const fs::path file = folder / kNameFile;
  if (fs::exists(file)) return;
  try {
    fs::create_directories(folder);
    write_whole_file(file, study + '\n');
  } catch (const std::exception&) {
    return;
  }
  expect_folder_of(study, folder);  // another study may have begun at the same time
}

}  // namespace replay::sweep
