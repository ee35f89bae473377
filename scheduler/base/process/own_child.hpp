// This program again, with other words, as a process of its own: a real run forks its node agent before anything else, and
// what a run leaves behind in a process must not reach the next one.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace replay {

/// How it ended.
struct ChildEnd {
  int status = 0;            ///< exit status, 128 + signal if it was killed
  bool interrupted = false;  ///< a stop signal came for us until then, and was handed on
};

/// Where it runs, and where what it says goes.
struct ChildPlace {
  std::filesystem::path folder{};  ///< empty: ours
  int out = STDOUT_FILENO;         ///< open descriptors
  int err = STDERR_FILENO;
};

/// Runs this program with these words, and waits for its end. Stop signals (model/stop_signals.hpp) are heeded and handed on,
/// also those that were counted before, and the child ends with us however we end. Its standard input is empty. Throws InputError where no process
/// can be made. REQUIRES: called by one thread at a time.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& words, const ChildPlace& place);

/// The same with standard output and error in these files, which are replaced. Throws InputError where one cannot be
/// written.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& words, const std::filesystem::path& out,
                                 const std::filesystem::path& err);

}  // namespace replay
