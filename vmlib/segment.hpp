// The job's shared segment as a rank maps it. The file is believed only after every claim in it has been checked
// against what the kernel says (owner, type, size); the header's figures are copied once, so that nobody can change
// them after the check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "scheduler/protocol/wire.h"
#include "vmlib/settings.hpp"

namespace replay::vm {

class Segment {
 public:
  /// Opens and maps the segment at `path`. Nothing unless it is a regular file of our own user, of exactly the size
  /// its header claims, of this version, and the segment of the job with this `key`.
  [[nodiscard]] static std::optional<Segment> open(const char* path, const Key& key);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) = delete;
  ~Segment();

  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  /// From 1 to kMostPolls.
  [[nodiscard]] std::uint32_t polls_before_yield() const { return polls_before_yield_; }
  /// REQUIRES: slot < slots().
  [[nodiscard]] replay_vm_slot* slot(std::uint32_t slot) const { return replay_vm_slot_at(mapped_, slot); }
  /// The mapping stays until the process ends.
  void keep() { mapped_ = nullptr; }

  static constexpr std::uint32_t kMostPolls = 1'000'000;

 private:
  Segment(replay_vm_segment* mapped, const replay_vm_segment& checked);

  replay_vm_segment* mapped_;
  std::size_t bytes_;
  std::uint32_t slots_;
  std::uint32_t polls_before_yield_;
};

/// Size of a segment with so many slots.
constexpr std::uint32_t segment_bytes(std::uint32_t slots) {
  return static_cast<std::uint32_t>(sizeof(replay_vm_segment)) +
         slots * static_cast<std::uint32_t>(sizeof(replay_vm_slot));
}

}  // namespace replay::vm
