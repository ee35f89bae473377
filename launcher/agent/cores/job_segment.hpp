// The shared segment of one job, from the agent's side (scheduler/protocol/wire.h): the agent creates it, writes the
// orders, and reads the reports. The ranks can write anything into it, so reads return copies that the caller checks.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "launcher/os/mapped_file.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {

using JobKey = std::array<std::uint8_t, REPLAY_VM_KEY_BYTES>;

/// From the kernel's generator. Throws std::system_error.
[[nodiscard]] JobKey new_key();
/// 32 hex digits.
[[nodiscard]] std::string to_hex(const JobKey& key);

/// What all ranks of a job are told when it starts.
struct JobFacts {
  std::uint64_t start_ns = 0;     ///< CLOCK_MONOTONIC: the job was given its cores
  std::uint64_t end_cost_ns = 0;  ///< emulated: what ending it is expected to cost
  bool is_emulated = false;
  std::uint32_t quantum_us = 0;  ///< emulated: longest hold of a token that another rank waits for
};

class JobSegment {
 public:
  /// REQUIRES: 1 <= ranks <= REPLAY_VM_MAX_RANKS. Throws std::system_error.
  JobSegment(const std::string& name, const JobKey& key, std::uint32_t ranks, const JobFacts& facts);

  /// For the ranks: sealed, owned by this object.
  [[nodiscard]] int descriptor() const { return file_.descriptor(); }
  /// `place` as replay_vm_place() makes it.
  void order_place(std::uint32_t slot, std::uint64_t place);
  /// Whether the rank's core is shared, so that it has to give it away while it waits, and how.
  void order_sharing(std::uint32_t slot, bool is_shared, replay_vm_back_end back_end);
  /// Most ranks of this job on one core.
  void order_mpl(std::uint32_t mpl);
  /// Emulated cores: how many times as long the job's work takes, 0.01 to 100.
  void order_slowdown(double slowdown);
  [[nodiscard]] replay_vm_state state(std::uint32_t slot) const;
  [[nodiscard]] replay_vm_mode mode(std::uint32_t slot) const;

  /// What shows whether a rank waits for messages: it does while the same call polls in vain.
  struct Waiting {
    std::uint64_t since = 0;  ///< the blocking call it is in; 0: in none, or not between MPI_Init and MPI_Finalize
    std::uint64_t polls = 0;  ///< in vain
  };
  [[nodiscard]] Waiting waiting(std::uint32_t slot) const;

  /// Times in ns of CLOCK_MONOTONIC.
  struct Times {
    std::uint64_t init = 0;      ///< 0: still in MPI_Init
    std::uint64_t finalize = 0;  ///< 0: not in MPI_Finalize yet, or a vmlib that does not say
    std::uint64_t blocked = 0;   ///< in blocking calls until `now`
  };
  [[nodiscard]] Times times(std::uint32_t slot, std::uint64_t now) const;
  /// What the rank in `slot`, process `pid`, has counted so far.
  [[nodiscard]] protocol::RankStatistics statistics(std::uint32_t slot, pid_t pid, std::uint64_t now) const;

 private:
  [[nodiscard]] replay_vm_segment* mapped() const { return static_cast<replay_vm_segment*>(file_.start()); }
  [[nodiscard]] replay_vm_slot* at(std::uint32_t slot) const { return replay_vm_slot_at(mapped(), slot); }

  std::uint32_t ranks_;
  MappedFile file_;
};

}  // namespace replay::launcher
