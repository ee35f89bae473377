// Whether a folder can be read, and paths of programs: our own in the installed or built tree, others on PATH. Ours are found from the executable, so that
// the tree works in any place.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

/// Throws InputError, "FOLDER: cannot be read: Permission denied", if it is a folder whose files cannot be reached.
void expect_readable(const std::filesystem::path& folder);
/// The entries of a folder, sorted by name. Throws InputError as expect_readable() does, also for one that cannot be listed.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

struct NoFolderToStartIn {
  std::string why;         ///< "cannot start in FOLDER: No such file or directory"
  bool is_denied = false;  ///< to this user, by the modes of folders: waiting for it is in vain
};
/// Nothing if a program can be started there. Empty: here.
[[nodiscard]] std::optional<NoFolderToStartIn> why_cannot_start_in(const std::filesystem::path& folder);

/// The file of the program that runs; empty: not known.
[[nodiscard]] std::filesystem::path own_program();
/// The folder of benchmarks, replay-proxy and the vmlib shared object: PREFIX/lib/replay beside PREFIX/bin/replay.
[[nodiscard]] std::filesystem::path library_folder();
/// The vmlib shared object; nothing if it is not there.
[[nodiscard]] std::optional<std::filesystem::path> vm_library();
/// The program that mpiexec calls for each host of a job on several nodes; nothing if it is not there.
[[nodiscard]] std::optional<std::filesystem::path> replay_proxy();
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
