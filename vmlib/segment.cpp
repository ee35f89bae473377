#include "vmlib/segment.hpp"

#include <sys/types.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace replay::vm {
namespace {

constexpr std::uint32_t kShortestQuantumUs = 100;

bool is_plausible(const replay_vm_segment& header, off_t file_size, const Key& key) {
  return header.magic == REPLAY_VM_MAGIC && header.version == REPLAY_VM_VERSION && header.slots >= 1 &&
         header.slots <= REPLAY_VM_MAX_RANKS && header.bytes == segment_bytes(header.slots) &&
         off_t{header.bytes} == file_size && header.polls_before_yield >= 1 && header.emulated <= 1 &&
         (header.emulated == 0 || header.quantum_us >= kShortestQuantumUs) &&
         std::memcmp(header.key, key.data(), key.size()) == 0;
}

}  // namespace

std::optional<Segment> Segment::map(int descriptor, const Key& key) {
  replay_vm_segment header{};
  auto file = MappedFile::map(descriptor, header, [&](off_t size) { return is_plausible(header, size, key); });
  if (!file) return std::nullopt;
  return Segment{std::move(*file), header};
}

Segment::Segment(MappedFile file, const replay_vm_segment& checked)
    : file_(std::move(file)),
      slots_(checked.slots),
      facts_{.polls_before_yield = std::min(checked.polls_before_yield, kMostPolls),
             .is_emulated = checked.emulated == 1,
             .quantum_ns = std::min(std::uint64_t{checked.quantum_us} * 1000, kLongestQuantumNs),
             .start_ns = checked.start_ns,
             .end_cost_ns = checked.end_cost_ns} {}

}  // namespace replay::vm
