// A real run as a process of its own: this program again, with other words. It has to be one, because a real run forks its
// node agent before anything else, and because what a run leaves behind in a process must not reach the next one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace replay::cli {

/// How it ended.
struct ChildEnd {
  int status = 0;            ///< exit status, 128 + signal if it was killed
  bool interrupted = false;  ///< SIGINT or SIGTERM came for us meanwhile, and was handed on
  std::string last_words;    ///< the end of what it said on standard error
};

/// Runs this program with these words; standard output and error go to the files, which are replaced. SIGINT and SIGTERM
/// are handed on once each, and the child ends with us however we end. Throws InputError where no process can be made or
/// a file cannot be written. REQUIRES: called by one thread at a time.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& words, const std::filesystem::path& out,
                                 const std::filesystem::path& err);

}  // namespace replay::cli
