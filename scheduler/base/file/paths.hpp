// Paths of programs: our own in the installed or built tree, others on PATH. Ours are found from the executable, so that
// the tree works in any place.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace replay {

/// The folder of benchmarks and of the vmlib shared object: PREFIX/lib/replay beside PREFIX/bin/replay.
[[nodiscard]] std::filesystem::path library_folder();
/// The vmlib shared object; nothing if it is not there.
[[nodiscard]] std::optional<std::filesystem::path> vm_library();
/// A benchmark of ours by name (a bare file name); nothing if there is none.
[[nodiscard]] std::optional<std::filesystem::path> benchmark(std::string_view name);
/// A program as execvp() finds it: by its path if `name` has a slash, else in one of the folders of `path`, which colons
/// part; an empty one is the current folder. Nothing if it is no regular file, or cannot be executed.
[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name, std::string_view path);
/// The folders in which programs are searched by name: PATH; the system's standard folders where it is not set, as
/// execvp() does.
[[nodiscard]] std::string program_folders();
/// The same in program_folders(), as an absolute path.
[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name);

}  // namespace replay
