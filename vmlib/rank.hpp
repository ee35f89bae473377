// The state and the decisions of this process's rank: what its slot says, when it is blocked, and when it gives its
// core away. preload.cpp only calls it from MPI's functions. It uses no MPI and no system call: System provides the
// clock and the yield, so that a test can provide its own.
//
// The rule: after N polls in a row that found nothing, while the rank waits and its core is shared, it gives the core
// away. Inside the wrappers the rank is known to wait. Outside of them only the polls tell: a program that polls
// MPI_Test counts as waiting after kPatience times as many, and a Fortran 2008 program, with blocking calls that bypass
// the wrappers, at once.
//
// How it gives the core away: by sched_yield, or by passing the core's token on and waiting for it, at most 1 ms, as
// the orders say. A thread of a program with MPI_THREAD_MULTIPLE may hold MPI's lock at that moment, so it only yields.
// A rank that has waited for long inside of one call, and got the core back at once each time, shares it with ranks
// that all wait: it naps. On emulated cores nothing computes for real, and a waiting rank always naps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "scheduler/protocol/wire.h"
#include "vmlib/burst.hpp"
#include "vmlib/core_token.hpp"
#include "vmlib/segment.hpp"

namespace replay::vm {

/// What one thread is doing. Every thread gives the core away; only the one that called MPI_Init reports.
struct Waiting {
  std::uint32_t depth = 0;           // wrappers on the stack; the outermost counts
  std::uint32_t idle_polls = 0;      // in a row
  bool reports = false;              // this thread writes the slot
  std::uint64_t blocked_since = 0;   // first idle poll of the blocking call it is in; 0: none yet
  std::uint64_t last_idle_poll = 0;  // Fortran 2008 only; 0: the last poll found something
  std::uint64_t cpu_read_at = 0;
  std::uint64_t idle_since = 0;  // start of the wait in vain; 0: the core has not been given away yet
  std::uint64_t back_at = 0;     // when the core came back last
};

template <class System>
class Rank {
 public:
  // ---- life ----

  /// Takes the slot, before MPI_Init is entered. No tokens: the rank only yields.
  void join(Waiting& thread, replay_vm_slot& slot, const replay_vm_hello& hello, const JobFacts& facts,
            CoreTokens tokens) {
    facts_ = facts;
    seat_.use(tokens, static_cast<std::uint32_t>(hello.pid));
    burst_.set_quantum(facts.quantum_ns);
    thread.reports = true;
    replay_vm_report& report = slot.report;
    store(report.mode, hello.mode);
    store(report.pid, hello.pid);
    store(report.world_rank, hello.world_rank);
    store(report.pid_start, hello.pid_start);
    slot_.store(&slot, std::memory_order_release);
    enter_state(REPLAY_VM_STARTING);
  }

  /// MPI_Init has succeeded.
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

  /// MPI_Finalize has succeeded: the last report of this rank.
  void ended() {
    if (!is_joined()) return;
    seat_.leave();
    store(report().cpu_ns, System::thread_cpu());
    enter_state(REPLAY_VM_FINALIZED);
    leave_slot();
  }

  /// Reports it in the slot; from then on vmlib behaves as if it were not loaded.
  void switch_off() {
    if (!is_joined()) return;
    seat_.leave();
    enter_state(REPLAY_VM_SWITCHED_OFF);
    leave_slot();
  }

  /// Reports nothing: for a forked child, which is no rank.
  void leave_slot() { slot_.store(nullptr, std::memory_order_release); }

  void set_mode(replay_vm_mode mode) {
    if (is_joined()) store(report().mode, static_cast<std::uint32_t>(mode));
  }

  /// Blocking calls of `use mpi_f08` do not come through the wrappers.
  void expect_fortran08() { fortran08_ = true; }
  [[nodiscard]] bool expects_fortran08() const { return fortran08_; }

  /// MPI_THREAD_MULTIPLE.
  void expect_threads() { has_threads_ = true; }

  [[nodiscard]] bool is_joined() const { return slot_.load(std::memory_order_relaxed) != nullptr; }

  // ---- emulated cores ----

  [[nodiscard]] bool is_emulated() const { return is_joined() && facts_.is_emulated; }
  [[nodiscard]] const JobFacts& facts() const { return facts_; }
  /// Most ranks of this job on one core. REQUIRES: is_joined().
  [[nodiscard]] std::uint32_t mpl() const { return std::clamp(load(slot()->orders.mpl), 1U, REPLAY_VM_MAX_RANKS); }

  /// How many times as long its work takes now. REQUIRES: is_joined().
  [[nodiscard]] double slowdown() const {
    return static_cast<double>(Burst<System>::slowdown_of(slot()->orders)) / REPLAY_VM_SLOWDOWN_OF_ONE;
  }

  /// Does `ns` of work on the emulated core. REQUIRES: is_emulated(), and this is the thread that joined.
  void burst(std::uint64_t ns) { burst_.work(ns, *slot(), seat_); }

  // ---- the fast path ----

  /// Around each blocking call; nested calls count once.
  void enter_call(Waiting& thread) {
    if (thread.depth++ != 0) return;
    thread.idle_polls = 0;
    thread.idle_since = 0;
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
      thread.idle_since = 0;
      thread.last_idle_poll = 0;
    } else if (is_joined()) {
      found_nothing(thread);
    }
  }

  static constexpr std::uint32_t kPatience = 10;
  static constexpr std::uint64_t kBackToBackNs = 20'000;
  static constexpr std::uint64_t kCpuReadEveryNs = 10'000'000;
  static constexpr std::uint64_t kLongestTokenWaitNs = 1'000'000;
  static constexpr std::uint64_t kYieldForNs = 20'000;
  static constexpr std::uint32_t kMostSleepsAhead = 63;
  static constexpr std::uint64_t kNapAfterNs = 500'000;  // of waiting in vain, on real cores
  static constexpr std::uint64_t kAtOnceNs = 25'000;     // a rank that only polls gives the core back that soon
  static constexpr std::uint64_t kBusyNs = 25'000;       // a longer gap between polls counts as work
  static constexpr std::uint64_t kShortestNapNs = 20'000;
  static constexpr std::uint64_t kLongestNapNs = 200'000;
  static constexpr std::uint64_t kWaitPerNap = 8;        // a nap lasts this part (1/8) of the wait so far
  static constexpr std::uint32_t kPollsBetweenNaps = 4;  // on emulated cores

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
      lose_patience(thread);
    }
  }

  [[nodiscard]] std::uint32_t patience(const Waiting& thread) const {
    return thread.depth != 0 || fortran08_ ? facts_.polls_before_yield : facts_.polls_before_yield * kPatience;
  }

  void lose_patience(Waiting& thread) {
    if (facts_.is_emulated) {
      nap(thread, wait_in_vain(thread, System::now()));
      thread.idle_polls = patience(thread) - std::min(patience(thread), kPollsBetweenNaps);
    } else if (!is_running() || is_shared()) {
      give_away(thread);
    } else if (thread.reports && seat_.is_seated()) {
      seat_.leave();  // this rank has been moved to a core of its own
    }
    if (thread.last_idle_poll != 0) {  // the time that others had the core counts as waiting
      const std::uint64_t now = System::now();
      add(report().blocked_ns, now - thread.last_idle_poll);
      thread.last_idle_poll = now;
    }
  }

  [[nodiscard]] bool is_shared() const { return load(slot()->orders.shared) == 1; }

  // ---- giving the core away ----

  /// Also called on an unshared core in MPI_Init and MPI_Finalize, where ranks spin for each other and lose nothing by
  /// it.
  void give_away(Waiting& thread) {
    const bool may_sleep = !has_threads_ && is_shared();
    const std::uint64_t before = System::now();
    const std::uint64_t waited = wait_in_vain(thread, before);
    if (thread.reports) add(report().handoffs, 1);
    if (may_sleep && thread.reports && load(slot()->orders.back_end) == REPLAY_VM_TOKEN) {
      pass_token_on();
    } else {
      System::yield();
    }
    thread.back_at = System::now();
    if (thread.back_at - before > kAtOnceNs * (mpl() + 1)) {
      thread.idle_since = thread.back_at;  // another process computes
    } else if (may_sleep && thread.depth != 0 && waited >= kNapAfterNs) {
      if (thread.reports) seat_.leave();  // so that no token goes to a sleeping rank
      nap(thread, waited);
    }
  }

  [[nodiscard]] std::uint64_t place() const { return __atomic_load_n(&slot()->orders.place, __ATOMIC_SEQ_CST); }

  /// Waits until the token has come round, at most 1 ms; then this rank goes on without it.
  void pass_token_on() {
    const std::uint64_t here = place();
    CoreToken<System>* token = seat_.at(here);
    if (token == nullptr) return System::yield();
    const bool another_has_it = token->hand_over();
    if (token->want()) {
      if (!another_has_it) System::yield();  // no rank wants the token, but one may compute without it
    } else if (place() != here) {
      seat_.leave();  // moved at this moment: the agent may have read the seats before we sat down
    } else {
      wait_for(*token);
    }
  }

  void wait_for(CoreToken<System>& token) {
    const std::uint64_t start = System::now();
    if (comes_soon(token, start)) return;
    const std::uint64_t waited = System::now() - start;
    if (waited < kLongestTokenWaitNs && token.wait(kLongestTokenWaitNs - waited)) return;
    token.overtake(kLongestTokenWaitNs);
  }

  /// Sleeping and waking costs a timer and two switches, more than a message between two ranks that only talk to each
  /// other. So it yields first, unless that has been in vain lately: then another rank computes on the core.
  bool comes_soon(const CoreToken<System>& token, std::uint64_t start) {
    if (sleeps_ahead_ > 0) {
      --sleeps_ahead_;
      return false;
    }
    do {
      System::yield();
      if (token.is_mine()) {
        in_vain_ = 0;
        return true;
      }
    } while (System::now() - start < kYieldForNs);
    in_vain_ = std::min(2 * in_vain_ + 1, kMostSleepsAhead);
    sleeps_ahead_ = in_vain_;
    return false;
  }

  void nap(Waiting& thread, std::uint64_t waited) {
    if (thread.reports) add(report().naps, 1);
    System::nap(std::clamp(waited / kWaitPerNap, kShortestNapNs, kLongestNapNs));
    thread.back_at = System::now();
  }

  /// How long the thread has been waiting with nothing to do. An MPI that moves data without UCX reports no events, but
  /// its polls then take longer; so does a program that computes between two polls.
  std::uint64_t wait_in_vain(Waiting& thread, std::uint64_t now) {
    const bool counts_gaps = !facts_.is_emulated || thread.depth == 0;  // emulated: polls wait for the few real cores
    if (thread.idle_since == 0 || (counts_gaps && now - thread.back_at > kBusyNs)) thread.idle_since = now;
    return now - thread.idle_since;
  }

  // ---- clocks ----

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

  /// Without a wrapper the end of a blocking call is unknown. Idle polls in close succession count as one call.
  void count_gap(Waiting& thread) {
    if (!is_running()) return;
    const std::uint64_t now = System::now();
    if (thread.last_idle_poll != 0 && now - thread.last_idle_poll < kBackToBackNs) {
      add(report().blocked_ns, now - thread.last_idle_poll);
    }
    thread.last_idle_poll = now;
    read_cpu(thread, now);
  }

  /// A system call, hence at most once per kCpuReadEveryNs.
  void read_cpu(Waiting& thread, std::uint64_t now) {
    if (now - thread.cpu_read_at < kCpuReadEveryNs) return;
    thread.cpu_read_at = now;
    store(report().cpu_ns, System::thread_cpu());
  }

  [[nodiscard]] bool is_running() const { return is_running_.load(std::memory_order_relaxed); }

  [[nodiscard]] replay_vm_slot* slot() const { return slot_.load(std::memory_order_relaxed); }
  [[nodiscard]] replay_vm_report& report() { return slot()->report; }

  void enter_state(replay_vm_state state) {
    __atomic_store_n(&report().state, static_cast<std::uint32_t>(state), __ATOMIC_RELEASE);
  }

  static std::uint32_t load(const std::uint32_t& field) { return __atomic_load_n(&field, __ATOMIC_RELAXED); }
  template <class Field>
  static void store(Field& field, Field value) {
    __atomic_store_n(&field, value, __ATOMIC_RELAXED);
  }
  /// One writer per field, so a load and a store will do.
  static void add(std::uint64_t& field, std::uint64_t by) { store(field, field + by); }

  std::atomic<replay_vm_slot*> slot_{nullptr};
  JobFacts facts_;
  CurrentToken<System> seat_;
  Burst<System> burst_;
  std::uint32_t in_vain_ = 0, sleeps_ahead_ = 0;  // of comes_soon(): how many sleeps a yield in vain leads to
  std::atomic<bool> is_running_{false};           // between MPI_Init and MPI_Finalize
  bool fortran08_ = false;
  bool has_threads_ = false;
};

}  // namespace replay::vm
