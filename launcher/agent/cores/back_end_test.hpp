// A test whether sched_yield hands a core over on this kernel. On some it takes 2 us, on others it returns at once or
// costs the caller a slice, and it is slow when a foreign process computes on the core. So the agent measures it at its
// start.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

#include "launcher/os/pu_id.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {

struct HandoverTest {
  std::size_t handovers = 0;        ///< that happened within the limit
  std::chrono::nanoseconds median;  ///< of them; 0: none
  bool operator==(const HandoverTest&) const = default;
};

/// Two threads on core `pu` hand a word to each other until `limit`, each calling `give_away` until it is its turn.
/// They are joined when this returns. Nothing: they could not be put on that core.
[[nodiscard]] std::optional<HandoverTest> test_handover(PuId pu, std::chrono::milliseconds limit,
                                                        const std::function<void()>& give_away);

/// The token when a hand-over by sched_yield takes more than 50 us, or none was seen.
[[nodiscard]] replay_vm_back_end better_back_end(const std::optional<HandoverTest>& yielding);

/// The two together, with sched_yield on core `pu`: about 20 ms.
[[nodiscard]] replay_vm_back_end find_back_end(PuId pu);

}  // namespace replay::launcher
