#include "scheduler/base/file/paths.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/process/search_path.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kProxy = "replay-proxy";

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<boost::filesystem::path> folders_of(std::string_view path) {
  std::vector<boost::filesystem::path> folders;
  for (const std::string_view folder : split(path, ':'))
    folders.emplace_back(folder.empty() ? "." : std::string{folder});
  return folders;
}

InputError unreadable(const fs::path& folder, const std::error_code& error) {
  return InputError{fmt::format("{}: cannot be read: {}", folder.string(), error.message())};
}

}  // namespace

void expect_readable(const fs::path& folder) {
  std::error_code error;
  const bool is_there = fs::exists(folder / ".", error);
  if (!is_there && error) throw unreadable(folder, error);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  expect_readable(folder);
  std::error_code error;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  if (error) throw unreadable(folder, error);
  std::ranges::sort(entries);
  return entries;
}

std::optional<NoFolderToStartIn> why_cannot_start_in(const fs::path& folder) {
  if (folder.empty()) return std::nullopt;
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
    errno = ENOTDIR;
  else if (::access(folder.c_str(), X_OK) == 0)
    return std::nullopt;
  const int error = errno;
  return NoFolderToStartIn{fmt::format("cannot start in {}: {}", folder.string(), std::strerror(error)),
                           error == EACCES};
}

fs::path own_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

fs::path library_folder() { return own_program().parent_path().parent_path() / "lib" / "replay"; }

std::optional<fs::path> vm_library() {
  fs::path path = library_folder() / "libreplay-vm.so";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  return path;
}

std::optional<fs::path> replay_proxy() {
  fs::path path = library_folder() / kProxy;
  if (!is_program(path)) return std::nullopt;
  return path;
}

std::optional<fs::path> benchmark(std::string_view name) {
  if (name.empty() || name == kProxy || name.find('/') != std::string_view::npos) return std::nullopt;
  fs::path path = library_folder() / name;
  if (!is_program(path)) return std::nullopt;
  return path;
}

std::optional<fs::path> find_program(std::string_view name, std::string_view path) {
  if (name.find('/') != std::string_view::npos) return is_program(name) ? std::optional{fs::path{name}} : std::nullopt;
  const boost::filesystem::path found = boost::process::search_path(std::string{name}, folders_of(path));
  return found.empty() ? std::nullopt : std::optional{fs::path{found.native()}};
}

std::string program_folders() {
  if (const char* path = std::getenv("PATH")) return path;
  std::string standard(::confstr(_CS_PATH, nullptr, 0), '\0');
  ::confstr(_CS_PATH, standard.data(), standard.size());
  if (!standard.empty()) standard.pop_back();  // the terminating zero
  return standard;
}

std::optional<fs::path> find_program(std::string_view name) {
  const auto found = find_program(name, program_folders());
  return found ? std::optional{fs::absolute(*found)} : std::nullopt;
}

}  // namespace replay
