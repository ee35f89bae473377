#include "launcher/agent/cores/core_segment.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {
namespace {

constexpr int kMostPasses = 100;  // in case a rank hands the token back as fast as it is taken

// One total order for holder, wanter and turn: code that clears one and then reads another needs it.
std::uint32_t load(const std::uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }
bool change(std::uint32_t& word, std::uint32_t from, std::uint32_t to) {
  return __atomic_compare_exchange_n(&word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void wake_all(std::uint32_t& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);  // not private: between processes
}

bool grant(replay_vm_core& core, std::uint32_t from, std::uint32_t to) {
  if (load(core.holder) != from) return false;
  __atomic_store_n(&core.granted_ns, monotonic_ns(), __ATOMIC_RELAXED);
  if (!change(core.holder, from, to)) return false;
  __atomic_fetch_add(&core.handovers, 1, __ATOMIC_RELAXED);
  return true;
}

/// Hands the token from `from` (0: it is free) to the next rank after seat `begin`. False: no seat is taken, and the
/// token is still with `from`; `from` is then a rank that got up while it was given the token, if there was one.
bool pass_on(replay_vm_core& core, std::uint32_t begin, std::uint32_t& from) {
  for (std::uint32_t step = 1; step <= REPLAY_VM_SEATS; ++step) {
    replay_vm_seat& next = core.seats[(begin + step) % REPLAY_VM_SEATS];
    const std::uint32_t wanter = load(next.wanter);
    if (wanter == 0 || wanter == from) continue;
    if (!grant(core, from, wanter)) return true;  // another rank has taken it meanwhile
    __atomic_fetch_add(&next.turn, 1, __ATOMIC_SEQ_CST);
    wake_all(next.turn);
    if (load(next.wanter) == wanter) return true;
    from = wanter;
  }
  return false;
}

}  // namespace

CoreSegment::CoreSegment(std::uint32_t cores)
    : cores_(cores), file_("cores.segment", sizeof(replay_vm_cores) + cores * sizeof(replay_vm_core)) {
  INVARIANT(cores >= 1 && cores <= REPLAY_VM_MAX_CORES, "a core segment for {} cores", cores);
  mapped()->magic = REPLAY_VM_CORES_MAGIC;
  mapped()->version = REPLAY_VM_VERSION;
  mapped()->bytes = static_cast<std::uint32_t>(file_.bytes());
  mapped()->cores = cores;
}

pid_t CoreSegment::holder(std::uint32_t core) const { return static_cast<pid_t>(load(at(core).holder)); }

bool CoreSegment::is_here(std::uint32_t core, pid_t pid) const {
  const auto who = static_cast<std::uint32_t>(pid);
  return holder(core) == pid ||
         std::ranges::any_of(at(core).seats, [who](const replay_vm_seat& seat) { return load(seat.wanter) == who; });
}

/// Clears the seat first. A rank that saw it taken just before may still hand the token over, hence the loop.
bool CoreSegment::take_away(std::uint32_t core, pid_t pid) {
  const auto who = static_cast<std::uint32_t>(pid);
  replay_vm_core& place = at(core);
  bool has_taken = false;
  for (int pass = 0; pass < kMostPasses && is_here(core, pid); ++pass) {
    has_taken = true;
    std::uint32_t seat = 0;
    for (std::uint32_t number = 0; number < REPLAY_VM_SEATS; ++number)
      if (change(place.seats[number].wanter, who, 0)) seat = number;
    if (holder(core) != pid) continue;
    std::uint32_t from = who;
    if (pass_on(place, seat, from)) continue;
    std::uint32_t none = 0;
    if (change(place.holder, from, 0)) pass_on(place, seat, none);  // to a rank that sat down since the search
  }
  return has_taken;
}

void CoreSegment::take_away_everywhere(pid_t pid) {
  for (std::uint32_t core = 0; core < cores_; ++core) take_away(core, pid);
}

void CoreSegment::wake(std::uint32_t core, std::uint32_t seat) {
  if (seat < REPLAY_VM_SEATS) wake_all(at(core).seats[seat].turn);
}

}  // namespace replay::launcher
