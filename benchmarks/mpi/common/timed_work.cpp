// The loop computes in slices of at most 0.2 ms between two readings of the thread's CPU clock, a system call of some
// 0.2 us; the last slice is cut to what is still owed, so it ends within about a microsecond of the amount.
#include "benchmarks/mpi/common/timed_work.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace replay::bench {
namespace {

constexpr Nanoseconds kSlice{200'000};

Nanoseconds read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::chrono::seconds{now.tv_sec} + Nanoseconds{now.tv_nsec};
}

/// Rounds of a dependent chain of multiplications: no memory, nothing to vectorise, the same speed all along.
std::uint64_t chain(std::uint64_t x, std::uint64_t rounds) {
  for (std::uint64_t i = 0; i < rounds; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
  return x;
}

}  // namespace

Nanoseconds thread_cpu_time() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

void Work::compute(Nanoseconds amount) {
  owed_ += amount;
  while (owed_.count() > 0) add(work_off(owed_));
}

void Work::add(Nanoseconds used) {
  owed_ -= used;
  done_ += used;
}

CpuWork::CpuWork() {
  for (std::uint64_t rounds = 1000;; rounds *= 2) {
    const Nanoseconds start = thread_cpu_time();
    state_ = chain(state_, rounds);
    const Nanoseconds used = thread_cpu_time() - start;
    if (used < 10 * kSlice) continue;
    rounds_per_ns_ = static_cast<double>(rounds) / static_cast<double>(used.count());
    return;
  }
}

Nanoseconds CpuWork::work_off(Nanoseconds owed) {
  const double about = static_cast<double>(std::min(owed, kSlice).count());
  const Nanoseconds start = thread_cpu_time();
  state_ = chain(state_, static_cast<std::uint64_t>(about * rounds_per_ns_));
  asm volatile("" : : "r"(state_));  // the result counts as used, so the loop stays
  return thread_cpu_time() - start;
}

void FixedSleep::sleep(Nanoseconds length) {
  const Nanoseconds asked = length - carried_;
  if (asked.count() <= 0) {
    carried_ -= length;
    return;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(asked);
  timespec left{seconds.count(), (asked - seconds).count()};
  const Nanoseconds start = read_clock(CLOCK_MONOTONIC);
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
  carried_ = std::clamp(read_clock(CLOCK_MONOTONIC) - start - asked, Nanoseconds{}, length);
}

}  // namespace replay::bench
