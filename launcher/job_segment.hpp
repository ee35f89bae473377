// The shared segment of one job, from the agent's side (scheduler/protocol/wire.h): the agent creates it, writes the
// orders, reads the reports, and removes it. The ranks can write anything they like into it, so what is read is a copy
// that the caller judges.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {

using JobKey = std::array<std::uint8_t, REPLAY_VM_KEY_BYTES>;

/// From the kernel's generator. Throws std::system_error.
[[nodiscard]] JobKey new_key();
/// 32 hex digits.
[[nodiscard]] std::string to_hex(const JobKey& key);

class JobSegment {
 public:
  /// Creates the file, which must not exist yet. REQUIRES: 1 <= ranks <= REPLAY_VM_MAX_RANKS. Throws std::system_error.
  JobSegment(std::filesystem::path path, const JobKey& key, std::uint32_t ranks);
  ~JobSegment();
  JobSegment(const JobSegment&) = delete;
  JobSegment& operator=(const JobSegment&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void order_core(std::uint32_t slot, int pu);
  /// Whether the rank's core is shared, so that it has to give it away while it waits.
  void order_shared(std::uint32_t slot, bool is_shared);
  [[nodiscard]] replay_vm_state state(std::uint32_t slot) const;
  [[nodiscard]] replay_vm_mode mode(std::uint32_t slot) const;

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
  [[nodiscard]] replay_vm_slot* at(std::uint32_t slot) const { return replay_vm_slot_at(mapped_, slot); }

  std::filesystem::path path_;
  std::uint32_t ranks_;
  std::size_t bytes_;
  replay_vm_segment* mapped_;
};

}  // namespace replay::launcher
