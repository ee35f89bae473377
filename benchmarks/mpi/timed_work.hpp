// A fixed amount of computing and a fixed amount of waiting. Computing is counted in CPU time of the calling thread:
// half a core, a neighbour or a SIGSTOP makes it take longer, never makes it less. Waiting is counted in sleeps of a
// given length, never until an instant: whatever passed while the process was stopped is not progress.
#pragma once

#include <chrono>
#include <cstdint>

namespace replay::bench {

using Nanoseconds = std::chrono::nanoseconds;

/// CPU time that the calling thread has used so far.
Nanoseconds thread_cpu_time();

/// Computes for given amounts of CPU time. Time computed too much or too little is carried over to the next amount, so
/// the total is exact to a microsecond however small the amounts. One thread only.
class CpuWork {
 public:
  /// Calibrates the loop: uses a few milliseconds of CPU time.
  CpuWork();

  /// Computes until `amount` more has been done.
  void compute(Nanoseconds amount);

  /// Runs `useful`; the CPU time it takes counts as already computed.
  template <typename Function>
  void count(Function useful) {
    const Nanoseconds start = thread_cpu_time();
    useful();
    add(thread_cpu_time() - start);
  }

  Nanoseconds done() const { return done_; }

 private:
  void add(Nanoseconds used);
  void spin(Nanoseconds about);

  double rounds_per_ns_ = 0;
  Nanoseconds owed_{};  // negative: computed in advance
  Nanoseconds done_{};
  std::uint64_t state_ = 1;
};

/// Sleeps for given lengths. A sleep that ended late (timer, busy core) shortens the next one; what is carried over is
/// limited to the length of the sleep that was late, so that a long stop counts as one sleep at most.
class FixedSleep {
 public:
  void sleep(Nanoseconds length);

 private:
  Nanoseconds carried_{};
};

}  // namespace replay::bench
