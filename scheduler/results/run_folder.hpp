// The folder of a run's results: made before the run, so that a run never ends with nowhere to write.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace replay::results {

/// Makes the folder that --out names, or runs/TIME-POLICY. It must not exist; with `force` an existing run (a folder that
/// has files of a run, or sub-folders that have, or nothing) is removed first. Throws InputError: exists, is something else,
/// cannot be made.
[[nodiscard]] std::filesystem::path make_run_folder(const std::string& out, const std::vector<std::string>& policies,
                                                    bool force);

/// Removes a run, or runs: a folder as make_run_folder() replaces it. Nothing that no run has written goes, and no link is
/// followed. Throws InputError that names what is in the way; then all of it is still there.
void remove_run(const std::filesystem::path& folder);

/// A name for a file system from a policy as written: "easy:pass=instant" stays readable, '/' and the like go, and of a long one
/// the beginning stays and a number that stands for all of it.
[[nodiscard]] std::string folder_name(std::string_view policy);

}  // namespace replay::results
