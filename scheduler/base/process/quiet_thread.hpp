// Threads beside the main one: they take no signal, and are woken through an eventfd.
#pragma once

#include <signal.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/limit_of_processes.hpp"

namespace replay {

/// Non-blocking. Throws std::system_error.
[[nodiscard]] inline UniqueFd new_eventfd() {
  UniqueFd fd{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!fd.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

/// Blocks all signals of this thread while it exists.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// A thread that inherits a mask which blocks every signal: signals are for the thread that starts it. Throws
/// std::system_error.
template <class Thread = std::thread, class Work>
[[nodiscard]] Thread quiet_thread(Work work) {
  const AllSignalsBlocked blocked;
  try {
    return Thread{std::move(work)};
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(), std::string{"no thread can be made; "} + kLimitOfProcesses);
  }
}

}  // namespace replay
