// Threads beside the main one: they take no signal, and are woken through an eventfd.
#pragma once

#include <signal.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "scheduler/base/file/unique_fd.hpp"

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

/// A thread that inherits a mask which blocks every signal: signals are for the thread that starts it.
template <class Work>
[[nodiscard]] std::thread quiet_thread(Work work) {
  const AllSignalsBlocked blocked;
  return std::thread{std::move(work)};
}

}  // namespace replay
