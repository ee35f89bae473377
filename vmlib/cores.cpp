#include "vmlib/cores.hpp"

#include <sys/types.h>

#include <utility>

namespace replay::vm {
namespace {

bool is_plausible(const replay_vm_cores& header, off_t file_size) {
  return header.magic == REPLAY_VM_CORES_MAGIC && header.version == REPLAY_VM_VERSION && header.cores >= 1 &&
         header.cores <= REPLAY_VM_MAX_CORES && header.bytes == core_segment_bytes(header.cores) &&
         off_t{header.bytes} == file_size;
}

}  // namespace

std::optional<Cores> Cores::map(int descriptor) {
  replay_vm_cores header{};
  auto file = MappedFile::map(descriptor, header, [&](off_t size) { return is_plausible(header, size); });
  if (!file) return std::nullopt;
  return Cores{std::move(*file), header.cores};
}

Cores::Cores(MappedFile file, std::uint32_t count) : file_(std::move(file)), count_(count) {}

}  // namespace replay::vm
