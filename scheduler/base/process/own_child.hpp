// Runs this program again, with other arguments, in a child process: a real run forks its node agent before anything
// else, and the state that a run leaves in a process must not reach the next run.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace replay {

/// How it ended.
struct ChildEnd {
  int status = 0;            ///< exit status, 128 + signal if it was killed
  bool interrupted = false;  ///< this process got a stop signal before that, and passed it on
};

/// Working folder and output descriptors of the child.
struct ChildPlace {
  std::filesystem::path folder{};  ///< empty: ours
  int out = STDOUT_FILENO;         ///< open descriptors
  int err = STDERR_FILENO;
};

/// Runs this program with these arguments and waits for its end. Passes stop signals (stop_signals.hpp) on to it,
/// also those that were counted before. The child gets SIGTERM when this process ends in any way. Its standard input is
/// empty. Throws InputError if no process can be made. REQUIRES: called by one thread at a time.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& words, const ChildPlace& place);

/// The same with standard output and error in these files, which are replaced. Throws InputError where one cannot be
/// written.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& words, const std::filesystem::path& out,
                                 const std::filesystem::path& err);

}  // namespace replay
