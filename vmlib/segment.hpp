// The job's shared segment as a rank maps it: its slots, and what the header says of the job.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/protocol/wire.h"
#include "vmlib/mapped_file.hpp"
#include "vmlib/settings.hpp"

namespace replay::vm {

/// The header's figures, copied and checked.
struct JobFacts {
  std::uint32_t polls_before_yield = 1;  // from 1 to Segment::kMostPolls
  bool is_emulated = false;
  std::uint64_t quantum_ns = 0;  // emulated cores; at most Segment::kLongestQuantumNs
  std::uint64_t start_ns = 0;
  std::uint64_t end_cost_ns = 0;
};

class Segment {
 public:
  /// Nothing unless the descriptor is of a sealed file of our own user, of exactly the size its header claims, of this
  /// version, and the segment of the job with this `key`.
  [[nodiscard]] static std::optional<Segment> map(int descriptor, const Key& key);

  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] const JobFacts& facts() const { return facts_; }
  /// REQUIRES: slot < slots().
  [[nodiscard]] replay_vm_slot* slot(std::uint32_t slot) const {
    return replay_vm_slot_at(static_cast<replay_vm_segment*>(file_.start()), slot);
  }
  /// The mapping stays until the process ends.
  void keep() { file_.keep(); }

  static constexpr std::uint32_t kMostPolls = 1'000'000;
  static constexpr std::uint64_t kLongestQuantumNs = 1'000'000'000;

 private:
  Segment(MappedFile file, const replay_vm_segment& checked);

  MappedFile file_;
  std::uint32_t slots_;
  JobFacts facts_;
};

/// Size of a segment with so many slots.
constexpr std::uint32_t segment_bytes(std::uint32_t slots) {
  return static_cast<std::uint32_t>(sizeof(replay_vm_segment)) +
         slots * static_cast<std::uint32_t>(sizeof(replay_vm_slot));
}

}  // namespace replay::vm
