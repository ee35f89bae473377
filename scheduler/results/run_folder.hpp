// The folder of a run's results: made before the run, so that a run never ends with nowhere to write.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace replay::results {

/// Makes the folder that --out names, or runs/TIME-POLICY. It must not exist; with `force` an existing run (a folder that
/// has files of a run, or sub-folders that have, or nothing; and their page) is removed first. Throws InputError: exists, is
/// something else, cannot be made.
[[nodiscard]] std::filesystem::path make_run_folder(const std::string& out, const std::vector<std::string>& policies,
                                                    bool force);

/// Removes the folder of a run, or of runs, as make_run_folder() does. Removes no file that no run writes, and follows
/// no link. Throws InputError that names such a file, before anything is removed.
void remove_run(const std::filesystem::path& folder);

/// The folder name of a policy as written: "easy:pass=instant" stays readable, '/' and the like are replaced; a long
/// name is cut and gets a hash of the whole name.
[[nodiscard]] std::string folder_name(std::string_view policy);

}  // namespace replay::results
