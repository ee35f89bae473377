// The kernel calls of vmlib while the program runs: clocks, the futex, sleep, and the CPU time of a process. Nothing
// here changes errno.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <optional>

namespace replay::vm {

class KeepErrno {
 public:
  KeepErrno() = default;
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_ = errno;
};

struct Linux {
  static std::uint64_t now() { return read(CLOCK_MONOTONIC).value_or(0); }
  static std::uint64_t thread_cpu() { return read(CLOCK_THREAD_CPUTIME_ID).value_or(0); }
  static void yield() { ::sched_yield(); }

  /// May return early.
  static void nap(std::uint64_t ns) {
    const timespec length = to_timespec(ns);
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
  }
  /// Does not return early.
  static void sleep_until(std::uint64_t ns) {
    const timespec end = to_timespec(ns);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
    }
  }

  /// Sleeps while `word` is `seen`, at most so long; may return early. Between processes, hence not private.
  static void wait_on(std::uint32_t& word, std::uint32_t seen, std::uint64_t limit_ns) {
    const KeepErrno keep_errno;
    const timespec limit = to_timespec(limit_ns);
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
  }
  static void wake(std::uint32_t& word) {
    const KeepErrno keep_errno;
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

  /// CPU time of all threads of a process. Nothing: there is none of that number.
  static std::optional<std::uint64_t> process_cpu(std::uint32_t pid) {
    const KeepErrno keep_errno;
    clockid_t clock = 0;
    if (pid == 0 || pid > INT_MAX || ::clock_getcpuclockid(static_cast<pid_t>(pid), &clock) != 0) return std::nullopt;
    return read(clock);
  }

 private:
  static timespec to_timespec(std::uint64_t ns) {
    return {.tv_sec = static_cast<time_t>(ns / 1'000'000'000), .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  }
  static std::optional<std::uint64_t> read(clockid_t clock) {
    timespec now{};
    if (::clock_gettime(clock, &now) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  }
};

}  // namespace replay::vm
