// The node's core segment, from the agent's side (scheduler/protocol/wire.h): a token for each core, and the seats at
// which ranks wait for it. The ranks hand tokens to each other; the agent creates it and takes a token from a rank that
// cannot hand it on: a rank that died, was stopped, or has been moved elsewhere.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "launcher/os/mapped_file.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {

class CoreSegment {
 public:
  /// REQUIRES: 1 <= cores <= REPLAY_VM_MAX_CORES. Throws std::system_error.
  explicit CoreSegment(std::uint32_t cores);

  /// For the ranks: sealed, owned by this object.
  [[nodiscard]] int descriptor() const { return file_.descriptor(); }
  [[nodiscard]] std::uint32_t cores() const { return cores_; }

  /// 0: the token is free.
  [[nodiscard]] pid_t holder(std::uint32_t core) const;
  /// Whether it has the core's token or a seat from which it wants it.
  [[nodiscard]] bool is_here(std::uint32_t core, pid_t pid) const;
  /// Takes the token and the seat of `pid`. The token goes to the next rank that wants it, or becomes free; no rank
  /// hands it to `pid` until `pid` sits down again. False: there was nothing to take. REQUIRES: pid > 0.
  bool take_away(std::uint32_t core, pid_t pid);
  /// The same on every core. O(cores).
  void take_away_everywhere(pid_t pid);
  /// Wakes the rank that waits at the seat, so that it reads its place again.
  void wake(std::uint32_t core, std::uint32_t seat);

 private:
  [[nodiscard]] replay_vm_cores* mapped() const { return static_cast<replay_vm_cores*>(file_.start()); }
  [[nodiscard]] replay_vm_core& at(std::uint32_t core) const { return *replay_vm_core_at(mapped(), core); }

  std::uint32_t cores_;
  MappedFile file_;
};

}  // namespace replay::launcher
