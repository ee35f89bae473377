// A check whether a file can be preloaded as vmlib. ld.so reports a library that it ignores only as a line in the job's
// stderr, and a vmlib of another version stays passive; so the launcher reads the file before it relies on it.
#pragma once

#include <filesystem>
#include <string>

namespace replay::launcher {

/// Empty: it is a shared library of this machine, and a vmlib that speaks our version of the wire. Else what is wrong
/// with it, for the user. Reads the whole file.
[[nodiscard]] std::string why_no_vmlib_at(const std::filesystem::path& file);

}  // namespace replay::launcher
