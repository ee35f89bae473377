// The rank that vmlib lives in: what its slot says, when it is blocked, and when it gives its core away. This is the
// whole decision; preload.cpp only calls it from MPI's functions. It knows no MPI and no system call: System brings the
// clock and the yield, so that a test can bring its own.
//
// The rule: a poll that found nothing, N times in a row, while the rank waits and its core is shared, gives the core
// away. "While the rank waits" is known inside the wrappers. Outside of them only the polls speak: a program that
// polls MPI_Test is believed after kPatience times as many, and a Fortran 2008 program, whose blocking calls pass by
// the wrappers, at once.
#pragma once

#include <atomic>
#include <cstdint>

#include "scheduler/protocol/wire.h"

namespace replay::vm {

/// What one thread is doing. Every thread gives the core away; only the one that called MPI_Init reports.
struct Waiting {
  std::uint32_t depth = 0;           // wrappers on the stack; the outermost counts
  std::uint32_t idle_polls = 0;      // in a row
  bool reports = false;              // this thread writes the slot
  std::uint64_t blocked_since = 0;   // first idle poll of the blocking call it is in; 0: none yet
  std::uint64_t last_idle_poll = 0;  // Fortran 2008 only; 0: the last poll found something
  std::uint64_t cpu_read_at = 0;
};

template <class System>
class Rank {
 public:
  // ---- life ----

  /// Takes the slot, before MPI_Init is entered. `polls_before_yield` >= 1.
  void join(Waiting& thread, replay_vm_slot& slot, const replay_vm_hello& hello, std::uint32_t polls_before_yield) {
    polls_before_yield_ = polls_before_yield;
    thread.reports = true;
    replay_vm_report& report = slot.report;
    store(report.mode, hello.mode);
    store(report.pid, hello.pid);
    store(report.world_rank, hello.world_rank);
    store(report.pid_start, hello.pid_start);
    slot_.store(&slot, std::memory_order_release);
    enter_state(REPLAY_VM_STARTING);
  }

  /// MPI_Init has returned well.
  void started(Waiting& thread) {
    if (!is_joined()) return;
    store(report().init_ns, System::now());
    thread.idle_polls = 0;
    is_running_.store(true, std::memory_order_relaxed);
    enter_state(REPLAY_VM_RUNNING);
  }

  /// MPI_Finalize is entered. Nothing after this counts as blocked or useful.
  void ending() {
    if (!is_joined()) return;
    is_running_.store(false, std::memory_order_relaxed);
    store(report().finalize_ns, System::now());
    enter_state(REPLAY_VM_FINALIZING);
  }

  /// MPI_Finalize has returned well: the last word of this rank.
  void ended() {
    if (!is_joined()) return;
    store(report().cpu_ns, System::thread_cpu());
    enter_state(REPLAY_VM_FINALIZED);
    leave_slot();
  }

  /// Says so in the slot, then behaves as if it were not there.
  void switch_off() {
    if (!is_joined()) return;
    enter_state(REPLAY_VM_SWITCHED_OFF);
    leave_slot();
  }

  /// Without a word: in a forked child, which is no rank.
  void leave_slot() { slot_.store(nullptr, std::memory_order_release); }

  void set_mode(replay_vm_mode mode) {
    if (is_joined()) store(report().mode, static_cast<std::uint32_t>(mode));
  }

  /// Blocking calls of `use mpi_f08` do not come through the wrappers.
  void expect_fortran08() { fortran08_ = true; }

  [[nodiscard]] bool is_joined() const { return slot_.load(std::memory_order_relaxed) != nullptr; }

  // ---- the fast path ----

  /// Around each blocking call; nested calls count once.
  void enter_call(Waiting& thread) {
    if (thread.depth++ == 0) thread.idle_polls = 0;
  }

  void leave_call(Waiting& thread) {
    if (--thread.depth != 0 || !thread.reports || !is_joined()) return;
    if (is_running()) add(report().calls, 1);
    if (thread.blocked_since != 0) stop_clock(thread);
  }

  /// After each poll of MPI's progress engine.
  void polled(Waiting& thread, unsigned events) {
    if (events != 0) {
      thread.idle_polls = 0;
      thread.last_idle_poll = 0;
    } else if (is_joined()) {
      found_nothing(thread);
    }
  }

  static constexpr std::uint32_t kPatience = 10;
  static constexpr std::uint64_t kBackToBackNs = 20'000;
  static constexpr std::uint64_t kCpuReadEveryNs = 10'000'000;

 private:
  void found_nothing(Waiting& thread) {
    if (thread.reports) {
      add(report().polls, 1);
      if (thread.depth != 0) {
        if (thread.blocked_since == 0 && is_running()) start_clock(thread);
      } else if (fortran08_) {
        count_gap(thread);
      }
    }
    if (++thread.idle_polls >= patience(thread)) {
      thread.idle_polls = 0;
      if (may_give_away()) give_away(thread);
    }
  }

  [[nodiscard]] std::uint32_t patience(const Waiting& thread) const {
    return thread.depth != 0 || fortran08_ ? polls_before_yield_ : polls_before_yield_ * kPatience;
  }

  /// MPI_Init and MPI_Finalize spin for each other too, and there is nothing to lose there.
  [[nodiscard]] bool may_give_away() const {
    return !is_running() ||
           __atomic_load_n(&slot_.load(std::memory_order_relaxed)->orders.shared, __ATOMIC_RELAXED) == 1;
  }

  void give_away(Waiting& thread) {
    if (thread.reports) add(report().handoffs, 1);
    System::yield();
    if (thread.last_idle_poll != 0) {  // however long the others had the core, it was time spent waiting
      const std::uint64_t now = System::now();
      add(report().blocked_ns, now - thread.last_idle_poll);
      thread.last_idle_poll = now;
    }
  }

  // The clock starts at the first poll that found nothing, so that a call that completes at once pays for no clock.
  void start_clock(Waiting& thread) {
    thread.blocked_since = System::now();
    store(report().blocked_since, thread.blocked_since);
  }

  void stop_clock(Waiting& thread) {
    const std::uint64_t now = System::now();
    add(report().blocked_ns, now - thread.blocked_since);
    store(report().blocked_since, std::uint64_t{0});
    thread.blocked_since = 0;
    read_cpu(thread, now);
  }

  /// Without a wrapper nobody says where a blocking call ends. Idle polls that follow each other at once are one.
  void count_gap(Waiting& thread) {
    if (!is_running()) return;
    const std::uint64_t now = System::now();
    if (thread.last_idle_poll != 0 && now - thread.last_idle_poll < kBackToBackNs) {
      add(report().blocked_ns, now - thread.last_idle_poll);
    }
    thread.last_idle_poll = now;
    read_cpu(thread, now);
  }

  /// A system call, hence not at every opportunity.
  void read_cpu(Waiting& thread, std::uint64_t now) {
    if (now - thread.cpu_read_at < kCpuReadEveryNs) return;
    thread.cpu_read_at = now;
    store(report().cpu_ns, System::thread_cpu());
  }

  [[nodiscard]] bool is_running() const { return is_running_.load(std::memory_order_relaxed); }

  [[nodiscard]] replay_vm_report& report() { return slot_.load(std::memory_order_relaxed)->report; }

  void enter_state(replay_vm_state state) {
    __atomic_store_n(&report().state, static_cast<std::uint32_t>(state), __ATOMIC_RELEASE);
  }

  template <class Field>
  static void store(Field& field, Field value) {
    __atomic_store_n(&field, value, __ATOMIC_RELAXED);
  }
  /// One writer per field, so a load and a store will do.
  static void add(std::uint64_t& field, std::uint64_t by) { store(field, field + by); }

  std::atomic<replay_vm_slot*> slot_{nullptr};
  std::uint32_t polls_before_yield_ = 1;
  std::atomic<bool> is_running_{false};  // between MPI_Init and MPI_Finalize
  bool fortran08_ = false;
};

}  // namespace replay::vm
