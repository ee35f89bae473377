// A program that is asked in lines and answers in lines: its standard input and output are pipes, what it writes to
// stderr is kept for error messages. The destructor ends it and all that it has started, in any process group or
// session.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::plugin {

/// No answer came: says why, and the last lines of the program's stderr.
class ChildFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ChildProcess {
 public:
  /// Starts the program; words[0] without '/' is searched on the PATH. Throws ChildFault.
  explicit ChildProcess(const std::vector<std::string>& words);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Closes its input, gives it a second to exit if it has answered so far, and kills what is left: its process group,
  /// its descendants, and processes with its mark in the environment. A process that has neither the mark nor its
  /// parent any more is ended with the last ChildProcess of this process, because until then it may belong to another
  /// one.
  ~ChildProcess();

  /// Sends `line` and returns the next line of the program, both without line end. Throws ChildFault: none within
  /// `limit`, it has ended, it has closed its output, its line is longer than 16 MiB, it has written something
  /// before it was asked.
  std::string ask(std::string_view line, std::chrono::milliseconds limit);
  /// The last lines that it wrote to stderr, behind a line that says so; empty if there are none. Reads what there is.
  [[nodiscard]] std::string last_words();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  using Clock = std::chrono::steady_clock;

  void expect_silence();
  void wait_for_something(Clock::time_point deadline);
  void write_some();
  void read_output();
  void read_errors();
  std::optional<std::string> take_line();
  [[nodiscard]] bool has_ended_within(std::chrono::milliseconds limit) const;
  [[noreturn]] void fail(const std::string& why);
  [[nodiscard]] std::string manner_of_leaving();
  void end_what_hides() const;

  std::string mark_;  // "NAME=value" in the environment of the program and of what it starts
  pid_t pid_ = -1;
  UniqueFd handle_;  // a pidfd: readable once the program has ended
  UniqueFd input_;   // its stdin
  UniqueFd output_;  // its stdout; not open: it has closed it
  UniqueFd errors_;  // its stderr
  std::string unsent_;
  std::string received_;
  std::size_t searched_ = 0;  // of received_, for a line end
  std::string error_text_;    // the end of what it wrote to stderr
  bool failed_ = false;
};

}  // namespace replay::plugin
