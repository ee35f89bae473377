// The node's core segment as a rank maps it: a token for each core. All jobs of the node can write into it, so no index
// and no pid that is read from it is trusted.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/protocol/wire.h"
#include "vmlib/mapped_file.hpp"

namespace replay::vm {

/// Where the tokens are. Not owned.
struct CoreTokens {
  replay_vm_core* first = nullptr;
  std::uint32_t count = 0;

  /// nullptr: there is no such core.
  [[nodiscard]] replay_vm_core* find(std::uint32_t core) const { return core < count ? first + core : nullptr; }
};

class Cores {
 public:
  /// Nothing unless the descriptor is of a sealed file of our own user, of exactly the size its header claims, of this
  /// version.
  [[nodiscard]] static std::optional<Cores> map(int descriptor);

  [[nodiscard]] CoreTokens tokens() const {
    return {replay_vm_core_at(static_cast<replay_vm_cores*>(file_.start()), 0), count_};
  }
  /// The mapping stays until the process ends.
  void keep() { file_.keep(); }

 private:
  Cores(MappedFile file, std::uint32_t count);

  MappedFile file_;
  std::uint32_t count_;
};

/// Size of a core segment with so many cores.
constexpr std::uint32_t core_segment_bytes(std::uint32_t cores) {
  return static_cast<std::uint32_t>(sizeof(replay_vm_cores)) +
         cores * static_cast<std::uint32_t>(sizeof(replay_vm_core));
}

}  // namespace replay::vm
