// Runs shell commands as a user types them, and reads text files.
#pragma once

#include <filesystem>
#include <string>

namespace replay::test {

struct ShellResult {
  int status = -1;  ///< exit status; 128 + signal if it was killed
  std::string out;
  std::string err;
};

/// Runs `command` with /bin/sh in `folder` (the current one if empty), without standard input.
[[nodiscard]] ShellResult shell(const std::string& command, const std::filesystem::path& folder = {});

/// The text of a file; empty if it is not there.
[[nodiscard]] std::string text_of(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace replay::test
