// A core's token as one rank sees it. The ranks of one core pass it on in the order of their seats, from the holder to
// the next rank that is seated, so that a rank that wants it again at once cannot win each time. No lock: the holder's
// pid changes by compare-and-swap only, and a rank that has freed the token checks the seats once more, so that a rank
// that sat down at that moment is not missed. Words written by other ranks are not trusted: a rank that keeps the token
// too long is overtaken, and loses its seat if it is no process or does not run (docs/adr/0007-tokens-for-cores.md).
//
// System provides the clock, the futex, and the CPU time of a process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "scheduler/protocol/wire.h"
#include "vmlib/cores.hpp"

namespace replay::vm {

template <class System>
class CoreToken {
 public:
  /// REQUIRES: seat < REPLAY_VM_SEATS, and `me` is this process.
  CoreToken(replay_vm_core& core, std::uint32_t seat, std::uint32_t me) : core_(&core), seat_(seat), me_(me) {}

  [[nodiscard]] bool is_mine() const { return load(core_->holder) == me_; }

  /// Whether another rank sits at this core.
  [[nodiscard]] bool is_wanted() const {
    return std::any_of(core_->seats, core_->seats + REPLAY_VM_SEATS, [this](const replay_vm_seat& seat) {
      const std::uint32_t wanter = load(seat.wanter);
      return wanter != 0 && wanter != me_;
    });
  }

  /// Sits down. True: the token is here already, or was free.
  bool want() {
    wanted_since_ = System::now();
    return sit();
  }

  /// After want(): sleeps until the token comes, at most so long; may return early without it. True: it is here.
  bool wait(std::uint64_t limit_ns) {
    // is_mine() comes after the bit is set: a rank that hands over changes the holder first, then reads the bit.
    const std::uint32_t turn = __atomic_fetch_or(&seat().turn, kSomebodySleeps, __ATOMIC_SEQ_CST) | kSomebodySleeps;
    if (!is_mine()) System::wait_on(seat().turn, turn, limit_ns);
    __atomic_fetch_and(&seat().turn, ~kSomebodySleeps, __ATOMIC_SEQ_CST);
    return is_mine();
  }

  /// After want(): takes the token if it is free, or if one rank has had it for `stale_ns` while we wanted it.
  bool overtake(std::uint64_t stale_ns) {
    if (sit()) return true;
    const std::uint32_t holder = load(core_->holder);
    const std::uint64_t granted = __atomic_load_n(&core_->granted_ns, __ATOMIC_RELAXED);
    const std::uint64_t now = System::now();
    const std::uint64_t since = granted > now ? wanted_since_ : std::max(granted, wanted_since_);
    if (now - since < stale_ns) return false;
    unseat_if_idle(holder);
    return take_from(holder);
  }

  /// The instant at which the token became ours; as others can write the word, never before we wanted it.
  [[nodiscard]] std::uint64_t granted_ns() const {
    const std::uint64_t granted = __atomic_load_n(&core_->granted_ns, __ATOMIC_RELAXED);
    return std::clamp(granted, wanted_since_, std::max(wanted_since_, System::now()));
  }

  /// Passes the token on to the next seat, or makes it free; nothing if it is not ours. True: another rank got it.
  bool hand_over() {
    if (!is_mine()) return false;
    std::uint32_t from = me_;
    for (int round = 0; round < kMostRounds; ++round) {
      switch (pass_on(from)) {
        case Passed::kToAnother: return true;
        case Passed::kNotOurs: return from != me_;  // another rank was faster, or we had been overtaken
        case Passed::kNobodyThere: break;
      }
      if (from != 0 && !change(core_->holder, from, 0)) return false;
      from = 0;
      if (!is_wanted()) return false;
    }
    return false;
  }

  /// Gets up, and leaves the token behind.
  void leave() {
    change(seat().wanter, me_, 0);
    hand_over();
  }

 private:
  enum class Passed : std::uint8_t { kToAnother, kNobodyThere, kNotOurs };

  /// Called again after each wait: a rank that overtook us, or the agent that stopped us, may have cleared our seat.
  bool sit() {
    if (load(seat().wanter) != me_) store(seat().wanter, me_);
    return is_mine() || take_from(0);
  }

  /// `from`: us, or 0 when we have freed the token. It becomes a rank that got up at that moment: such a rank may not
  /// know that it has got the token, so the token is passed on from there.
  Passed pass_on(std::uint32_t& from) {
    for (std::uint32_t step = 1; step < REPLAY_VM_SEATS; ++step) {
      replay_vm_seat& next = core_->seats[(seat_ + step) % REPLAY_VM_SEATS];
      const std::uint32_t wanter = load(next.wanter);
      if (wanter == 0) continue;
      if (!grant(from, wanter)) return Passed::kNotOurs;
      if ((__atomic_fetch_add(&next.turn, kNextTurn, __ATOMIC_SEQ_CST) & kSomebodySleeps) != 0) System::wake(next.turn);
      if (load(next.wanter) == wanter) return Passed::kToAnother;
      from = wanter;
    }
    return Passed::kNobodyThere;
  }

  bool take_from(std::uint32_t holder) { return grant(holder, me_); }

  /// Writes the instant first: the new holder reads it as soon as it finds itself the holder.
  bool grant(std::uint32_t from, std::uint32_t to) {
    if (load(core_->holder) != from) return false;
    __atomic_store_n(&core_->granted_ns, System::now(), __ATOMIC_RELAXED);
    if (!change(core_->holder, from, to)) return false;
    __atomic_fetch_add(&core_->handovers, 1, __ATOMIC_RELAXED);
    return true;
  }

  /// A rank that computes keeps its seat: it gets the token back in its turn. One that is gone, or has not run at all
  /// since it was overtaken before (stopped, or asleep outside of MPI), loses it until it sits down again.
  void unseat_if_idle(std::uint32_t holder) {
    const std::optional<std::uint64_t> cpu = System::process_cpu(holder);
    if (!cpu || (suspect_ == holder && *cpu == suspect_cpu_)) {
      for (replay_vm_seat& seat : core_->seats) change(seat.wanter, holder, 0);
    }
    suspect_ = holder;
    suspect_cpu_ = cpu.value_or(0);
  }

  [[nodiscard]] replay_vm_seat& seat() const { return core_->seats[seat_]; }

  // One total order for holder, wanter and turn: code that clears one and then reads another needs it.
  static std::uint32_t load(const std::uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }
  static void store(std::uint32_t& word, std::uint32_t value) { __atomic_store_n(&word, value, __ATOMIC_SEQ_CST); }
  static bool change(std::uint32_t& word, std::uint32_t from, std::uint32_t to) {
    return __atomic_compare_exchange_n(&word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }

  static constexpr std::uint32_t kSomebodySleeps = 1;
  static constexpr std::uint32_t kNextTurn = 2;
  static constexpr int kMostRounds = 100;  // in case another process corrupts the words

  replay_vm_core* core_;
  std::uint32_t seat_;
  std::uint32_t me_;
  std::uint64_t wanted_since_ = 0;
  std::uint32_t suspect_ = 0;  // the rank that we overtook last
  std::uint64_t suspect_cpu_ = 0;
};

/// The token of the rank's core, which changes when the agent moves the rank.
template <class System>
class CurrentToken {
 public:
  void use(CoreTokens tokens, std::uint32_t me) {
    tokens_ = tokens;
    me_ = me;
  }

  /// The token at `place`, as the orders say now; gets up from any other. nullptr: there is none, or no seat.
  CoreToken<System>* at(std::uint64_t place) {
    if (place != place_) {
      leave();
      replay_vm_core* core = tokens_.find(replay_vm_core_of(place));
      if (core == nullptr || replay_vm_seat_of(place) >= REPLAY_VM_SEATS) return nullptr;
      token_.emplace(*core, replay_vm_seat_of(place), me_);
      place_ = place;
    }
    return token_ ? &*token_ : nullptr;
  }

  [[nodiscard]] bool is_seated() const { return token_.has_value(); }

  void leave() {
    if (!token_) return;
    token_->leave();
    token_.reset();
    place_ = kNowhere;
  }

 private:
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  CoreTokens tokens_;
  std::uint32_t me_ = 0;
  std::uint64_t place_ = kNowhere;
  std::optional<CoreToken<System>> token_;
};

}  // namespace replay::vm
