#include "scheduler/base/file/paths.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace replay {
namespace fs = std::filesystem;
namespace {

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

fs::path library_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path() / "lib" / "replay";
}

std::optional<fs::path> vm_library() {
  fs::path path = library_folder() / "libreplay-vm.so";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  return path;
}

std::optional<fs::path> benchmark(std::string_view name) {
  if (name.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
  fs::path path = library_folder() / name;
  if (!is_program(path)) return std::nullopt;
  return path;
}

std::optional<fs::path> find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos) {
    fs::path path{name};
    if (!is_program(path)) return std::nullopt;
    return fs::absolute(path);
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t cut = rest.find(':');
    const fs::path candidate = fs::path{rest.substr(0, cut)} / name;
    if (is_program(candidate)) return fs::absolute(candidate);
    if (cut == std::string_view::npos) break;
    rest.remove_prefix(cut + 1);
  }
  return std::nullopt;
}

}  // namespace replay
