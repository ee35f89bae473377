// A test whether sched_yield hands a core over on this kernel. On some it takes 2 us, on others it returns at once or
// costs the caller a slice, and it is slow when a foreign process computes on the core. So the agent measures it at its
// start, and again before a job if it found yields slow; where others compute meanwhile is what BusyCores tells.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

#include "launcher/os/pu_id.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {

/// What hand-overs took, one after the other.
struct HandoverTest {
  std::size_t handovers = 0;
  std::chrono::nanoseconds sum{0};
  std::chrono::nanoseconds in_slow{0};  ///< part of the sum: in hand-overs of more than 50 us
  void add(std::chrono::nanoseconds delay);
  bool operator==(const HandoverTest&) const = default;
};

/// Two threads on core `pu` hand a word to each other until `limit`, each calling `give_away` until it is its turn.
/// The last hand-over counts with what it had taken by then. They are joined when this returns. Nothing: they could not
/// be put on that core. Throws std::system_error when a thread cannot be started.
[[nodiscard]] std::optional<HandoverTest> test_handover(PuId pu, std::chrono::milliseconds limit,
                                                        const std::function<void()>& give_away);

/// The token when slow hand-overs by sched_yield take more than a tenth of the time, or none was seen. The median tells
/// nothing: measured on Linux 6.18 (EEVDF, ticks of 4 ms) for 20 ms, beside a busy loop on the core it was 0.9 to 2.7 us
/// and without one, beside compilers, 0.7 to 1.0 us, while the slow ones took 0.90 to 1.00 of the time beside the loop, and on a
/// core that compilers used now and then 0 to 0.5. Ranks that need no token lose little by it: a message of 8 bytes
/// between two real-time ranks took 1.45 us by it and 1.30 us by sched_yield; beside a busy loop 23 and 332 us.
[[nodiscard]] replay_vm_back_end better_back_end(const std::optional<HandoverTest>& yielding);

/// The two together, with sched_yield on core `pu`: about 20 ms. Throws as test_handover() does.
[[nodiscard]] replay_vm_back_end find_back_end(PuId pu);

}  // namespace replay::launcher
