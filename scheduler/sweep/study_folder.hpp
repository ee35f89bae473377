// The name of the study that a sweep's folder is of, DIR/study.txt: cells of two studies in one folder would do no harm, but their
// tables and pages replace each other.
#pragma once

#include <filesystem>
#include <string>

namespace replay::sweep {

/// A folder that is not there, or has no name, is that of any study. Throws UsageError: it is no folder, or has another study's name.
void expect_folder_of(const std::string& study, const std::filesystem::path& folder);

/// The same; leaves the name in the folder, which it makes, where none is. What cannot be written is left out: results that cannot be
/// written either are an error then.
void name_folder(const std::string& study, const std::filesystem::path& folder);

}  // namespace replay::sweep
