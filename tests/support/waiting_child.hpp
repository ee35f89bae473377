// A child process that only waits.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scheduler/base/process/send_signal.hpp"

namespace replay::test {

/// Waits to be killed, by the destructor at the latest.
class WaitingChild {
 public:
  WaitingChild() : pid_(::fork()) {
    if (pid_ == 0)
      while (true) ::pause();
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  ~WaitingChild() {
    send_signal(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace replay::test
