// A burst of computing on an emulated core: the rank sleeps while it holds the core's token, in slices of at most a
// quantum. Work counts from the instant at which the token was granted to the instant at which the sleeper woke, so the
// core is always at work: a hand-over costs no emulated time. A slice that ended late has done part of the next one's
// work already, which is that much shorter, so that a rank that is often late gets no more of the core than others.
// That credit is at most one quantum, and a slice earns none if the token was taken away meanwhile: being stopped is
// not progress. The orders may say that work takes longer, beside the jobs on the rank's node; then a slice is a quantum of
// work all the same, and takes that much longer.
#pragma once

#include <algorithm>
#include <cstdint>

#include "scheduler/protocol/wire.h"
#include "vmlib/core_token.hpp"

namespace replay::vm {

template <class System>
class Burst {
 public:
  void set_quantum(std::uint64_t quantum_ns) { quantum_ns_ = quantum_ns; }

  /// Returns when `ns` of work are done, on whatever core the orders say at the time. The token is not kept.
  void work(std::uint64_t ns, replay_vm_slot& slot, CurrentToken<System>& seat) {
    slice_start_ = System::now();
    for (std::uint64_t left = ns; left > 0;) left -= slice(left, slot, seat);
    seat.leave();
  }

  static constexpr std::uint64_t kLookAroundNs = 1'000'000;  // how often a waiting rank checks whether it was moved
  static constexpr std::uint64_t kStaleNs = 100'000'000;
  static constexpr std::uint64_t kStaleQuanta = 10;

  /// How many times as long work takes, in millionths.
  static std::uint64_t slowdown_of(const replay_vm_orders& orders) {
    const std::uint32_t slowdown = __atomic_load_n(&orders.slowdown, __ATOMIC_RELAXED);
    return slowdown == 0 ? REPLAY_VM_SLOWDOWN_OF_ONE
                         : std::clamp(slowdown, REPLAY_VM_LEAST_SLOWDOWN, REPLAY_VM_MOST_SLOWDOWN);
  }

 private:
  /// Works for one slice; returns the work done.
  std::uint64_t slice(std::uint64_t left, replay_vm_slot& slot, CurrentToken<System>& seat) {
    CoreToken<System>* token = acquire(slot.orders, seat);
    // A quantum of work is never cut, however long it takes: phases computes that much at a time (phases_plan.hpp).
    const std::uint64_t work = std::min(left, quantum_ns_);
    const std::uint64_t takes = work * slowdown_of(slot.orders) / REPLAY_VM_SLOWDOWN_OF_ONE;
    const std::uint64_t done_before = std::min(takes, credit_ns_);
    const std::uint64_t end = slice_start_ + takes - done_before;
    System::sleep_until(end);
    slice_start_ = std::max(end, System::now());
    const bool was_ours = token == nullptr || token->is_mine();
    credit_ns_ = std::min(credit_ns_ - done_before + (was_ours ? slice_start_ - end : 0), quantum_ns_);
    add(slot.report.burst_ns, work);
    if (token != nullptr && token->is_wanted() && token->hand_over()) add(slot.report.handoffs, 1);
    return work;
  }

  /// The token of the core where the rank is now. nullptr: the rank has no seat, so it works as if it were alone.
  CoreToken<System>* acquire(const replay_vm_orders& orders, CurrentToken<System>& seat) {
    for (;;) {
      const std::uint64_t place = load(orders.place);
      CoreToken<System>* token = seat.at(place);
      if (token == nullptr || token->is_mine()) return token;  // still held from the slice before
      if (!comes_by(*token, orders, place)) continue;
      slice_start_ = token->granted_ns();
      return token;
    }
  }

  /// False: the rank has been moved.
  bool comes_by(CoreToken<System>& token, const replay_vm_orders& orders, std::uint64_t place) {
    for (bool is_here = token.want(); !is_here;) {
      if (load(orders.place) != place) return false;
      is_here = token.wait(kLookAroundNs) || token.overtake(std::max(kStaleNs, kStaleQuanta * quantum_ns_));
    }
    return true;
  }

  static std::uint64_t load(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }
  /// One writer per field, so a load and a store will do.
  static void add(std::uint64_t& field, std::uint64_t by) { __atomic_store_n(&field, field + by, __ATOMIC_RELAXED); }

  std::uint64_t quantum_ns_ = 10'000'000;
  std::uint64_t slice_start_ = 0;
  std::uint64_t credit_ns_ = 0;
};

}  // namespace replay::vm
