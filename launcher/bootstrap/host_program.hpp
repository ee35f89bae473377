// A program that is started for one host, such as `ssh HOST COMMAND...`: a child in a session of its own, with default
// signals, whose standard input stays open until close_input(). What it writes is read in an event loop: lines of standard
// output are given to the owner, of standard error the end is kept.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/orphans.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

class HostProgram {
 public:
  struct Callbacks {
    std::function<void(std::string_view line)> on_line;  ///< without its end; of a long one the beginning
    std::function<void()> on_end;                        ///< it has ended, and what it wrote has been read
  };

  /// Starts words[0], searched on the PATH, and writes `input` (at most 4096 bytes) to it. A program that cannot be
  /// executed says so on its standard error and ends with 127. It gets SIGTERM when the calling thread ends, unless it
  /// `outlives_us`. It has `held`, unless that is negative, as descriptor kHeld. Throws std::system_error.
  HostProgram(event_base* loop, std::vector<std::string> words, std::string_view input, bool outlives_us,
              Callbacks callbacks, int held = -1);
  static constexpr int kHeld = 3;
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;
  /// Kills what is left of its process group, and reaps it.
  ~HostProgram();

  void close_input() { input_.reset(); }
  /// It goes on without this, which does not end it any more.
  void leave() { is_left_ = true; }
  /// To it and its process group.
  void send(int signal) const;
  [[nodiscard]] bool has_ended() const { return process_->is_gone(); }

  /// The last line that it wrote to standard error, clean; empty: none. Any thread.
  [[nodiscard]] std::string last_words() const;
  /// "exit status 1", "signal 9 (Killed)". REQUIRES: has_ended().
  [[nodiscard]] std::string manner_of_end() const;

 private:
  void read_output();
  void read_errors();
  void on_exit();

  Callbacks callbacks_;
  bool is_left_ = false;
  pid_t pid_ = -1;
  std::optional<Process> process_;
  std::optional<OwnSessionChild> known_;
  UniqueFd input_, output_, errors_;
  std::string line_;  // of the output, not ended
  mutable std::mutex mutex_;
  std::string error_text_;  // under mutex_; the end of what it wrote
  std::optional<LoopEvent> output_event_, errors_event_, exit_event_;
};

}  // namespace replay::launcher
