// A fake kernel for vmlib's unit tests, controlled by the test: time advances only when the code under test sleeps,
// waits or yields (by `away_ns`), or when the test advances it. `meanwhile` runs during each sleep and futex wait, as
// other processes would. Call reset() before each test.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace replay::vm::test {

struct FakeSystem {
  static inline std::uint64_t time = 0, cpu = 0, away_ns = 0, oversleep_ns = 0;
  static inline int yields = 0, clock_reads = 0, cpu_reads = 0;
  static inline std::vector<std::uint64_t> naps, waits;            // their lengths
  static inline std::vector<const std::uint32_t*> woken;           // the futexes, in order
  static inline std::map<std::uint32_t, std::uint64_t> processes;  // the CPU time of each existing process
  static inline std::function<void()> meanwhile, between_yields;   // during a sleep or wait; during a yield
  static inline std::function<void()> at_clock;                    // before it is read

  static void reset() {
    time = 1000;
    cpu = away_ns = oversleep_ns = 0;
    yields = clock_reads = cpu_reads = 0;
    naps.clear();
    waits.clear();
    woken.clear();
    processes.clear();
    meanwhile = between_yields = at_clock = nullptr;
  }

  static std::uint64_t now() {
    ++clock_reads;
    if (at_clock) at_clock();
    return time;
  }
  static std::uint64_t thread_cpu() { return ++cpu_reads, cpu; }
  static void yield() {
    ++yields;
    time += away_ns;
    if (between_yields) between_yields();
  }
  static void nap(std::uint64_t ns) {
    naps.push_back(ns);
    time += ns;
  }
  static void sleep_until(std::uint64_t ns) {
    if (meanwhile) meanwhile();
    if (ns > time) time = ns;
    time += oversleep_ns;
  }
  static void wait_on(std::uint32_t& word, std::uint32_t seen, std::uint64_t limit_ns) {
    waits.push_back(limit_ns);
    if (meanwhile) meanwhile();
    if (word == seen) time += limit_ns;  // the word is unchanged: the time limit passes
  }
  static void wake(std::uint32_t& word) { woken.push_back(&word); }
  static std::optional<std::uint64_t> process_cpu(std::uint32_t pid) {
    const auto found = processes.find(pid);
    return found != processes.end() ? std::optional{found->second} : std::nullopt;
  }
};

}  // namespace replay::vm::test
