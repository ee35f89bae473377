// A fixed amount of computing and a fixed amount of waiting. Computing is counted in CPU time of the calling thread, or,
// on an emulated core, in time that the core was this rank's: half a core, a neighbour or a SIGSTOP makes it take longer,
// never makes it less. Waiting is counted in sleeps of a given length, never until an instant: whatever passed while the
// process was stopped is not progress.
#pragma once

#include <chrono>
#include <cstdint>

namespace replay::bench {

using Nanoseconds = std::chrono::nanoseconds;

/// CPU time that the calling thread has used so far.
Nanoseconds thread_cpu_time();

/// Computes given amounts. What was too much or too little is carried over to the next amount, so the total is exact to a
/// microsecond however small the amounts. One thread only.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

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
  /// Computes about `owed`, which is above 0; returns what it really was.
  virtual Nanoseconds work_off(Nanoseconds owed) = 0;
  void add(Nanoseconds used);

  Nanoseconds owed_{};  // negative: computed in advance
  Nanoseconds done_{};
};

/// Real arithmetic, in CPU time.
class CpuWork final : public Work {
 public:
  /// Calibrates the loop: uses a few milliseconds of CPU time.
  CpuWork();

 private:
  Nanoseconds work_off(Nanoseconds owed) override;

  double rounds_per_ns_ = 0;
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
