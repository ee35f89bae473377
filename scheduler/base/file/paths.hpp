// Paths of the program's own files in the installed or built tree. All are found from the executable, so that the tree
// works in any place.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace replay {

/// The folder of benchmarks and of the vmlib shared object: PREFIX/lib/replay beside PREFIX/bin/replay.
[[nodiscard]] std::filesystem::path library_folder();
/// The vmlib shared object; nothing if it is not there.
[[nodiscard]] std::optional<std::filesystem::path> vm_library();
/// A benchmark of ours by name (a bare file name); nothing if there is none.
[[nodiscard]] std::optional<std::filesystem::path> benchmark(std::string_view name);
/// A program as a shell finds it: by path, or on PATH. Nothing if it is not there or cannot be executed.
[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name);

}  // namespace replay
